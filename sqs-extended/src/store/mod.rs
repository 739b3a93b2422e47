//! The interface to stores of payloads, and the stores.

pub(crate) mod memory;
pub(crate) mod multipart;
#[cfg(feature = "object_store")]
pub(crate) mod object_store;
#[cfg(feature = "s3")]
pub(crate) mod s3;

use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::task::TaskTracker;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::settings::DEFAULT_STORE_TIMEOUT;

/// The bytes of an object in pieces. The stream ends after an error.
pub type ByteStream = BoxStream<'static, Result<Bytes, Error>>;

/// The result of a call of a store.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// Stores payloads as objects in buckets.
///
/// `S3Store` is for Amazon S3 and compatible services, `ObjectStoreAdapter` for the stores of the crate `object_store`,
/// [`MemoryStore`](crate::store::memory::MemoryStore) for tests. An `Arc` of a store is a store, also `Arc<dyn PayloadStore>`. Calls
/// must retry transient failures themselves, because their callers do not.
///
/// **The keys of `get` and `delete` come from received messages, so senders choose them.** A store that maps keys to paths must refuse
/// those that leave its folder.
pub trait PayloadStore: Send + Sync + 'static {
    /// The bucket of new payloads.
    fn bucket(&self) -> &str;

    /// Writes an object. Each upload has a new key, so an object that is there already comes from an earlier attempt of the
    /// same upload: overwrite it.
    ///
    /// # Errors
    /// The error of the body, and those of the store. After an error there is no object, unless
    /// [`Error::is_outcome_unknown`].
    ///
    /// # Cancel safety
    /// If the future is dropped, there is no object, unless the last request was in flight. Uploaded parts are removed in the
    /// background.
    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()>;

    /// Opens an object for reading, or a range of its bytes. The range is not empty and begins inside the object, but
    /// may end behind it. With a tag, only that version of the object is read.
    ///
    /// # Errors
    /// [`NotFound`](crate::error::ErrorKind::NotFound) only if the bucket certainly has no such object, because the message of
    /// a missing object may be deleted. [`Damaged`](crate::error::ErrorKind::Damaged) if the object has another version.
    /// [`Forbidden`](crate::error::ErrorKind::Forbidden), and other errors of the store. The body can fail later.
    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object>;

    /// Deletes an object. Succeeds if there is none.
    ///
    /// # Errors
    /// The store failed or rejected the call.
    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()>;

    /// How many bytes of a streamed upload the store may hold before it takes the next piece: 40 MiB by default, five parts of 8 MiB.
    /// An upload may go without progress for one
    /// [`store_timeout`](crate::settings::ExtendedClientBuilder::store_timeout) for each 8 MiB of them.
    fn held_bytes(&self) -> u64 {
        HELD
    }
}

impl<T: PayloadStore + ?Sized> PayloadStore for std::sync::Arc<T> {
    fn bucket(&self) -> &str {
        (**self).bucket()
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        (**self).put(at, upload)
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        (**self).get(at, range, tag)
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        (**self).delete(at)
    }

    fn held_bytes(&self) -> u64 {
        (**self).held_bytes()
    }
}

/// The body of a new object.
pub enum UploadBody {
    /// The complete body.
    Bytes(Bytes),
    /// Pieces of any length.
    Stream(ByteStream),
}

/// A new object.
#[non_exhaustive]
pub struct Upload {
    /// The body.
    pub body: UploadBody,
    /// The length in bytes, if it is known.
    pub length: Option<u64>,
    /// The media type, such as `text/plain; charset=utf-8`.
    pub content_type: Option<String>,
    pub(crate) background: Background,
}

/// What the calls of an upload need after the upload was dropped.
#[derive(Clone, Debug)]
pub(crate) struct Background {
    /// The tasks that [`finish_cleanup`](crate::client::ExtendedClient::finish_cleanup) awaits.
    pub(crate) tasks: TaskTracker,
    /// The time limit of a call.
    pub(crate) timeout: Duration,
}

impl Background {
    fn new(timeout: Duration) -> Self {
        let tasks = TaskTracker::new();
        // `wait` returns only for a closed tracker, which still accepts tasks.
        tasks.close();
        Self { tasks, timeout }
    }
}

impl Upload {
    /// An upload of this body.
    pub fn new(body: UploadBody) -> Self {
        let length = match &body {
            UploadBody::Bytes(bytes) => u64::try_from(bytes.len()).ok(),
            UploadBody::Stream(_) => None,
        };
        Self { body, length, content_type: None, background: Background::new(DEFAULT_STORE_TIMEOUT) }
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload").field("length", &self.length).finish_non_exhaustive()
    }
}

/// An object that is opened for reading.
#[non_exhaustive]
pub struct Object {
    /// The length of the whole object in bytes.
    pub length: u64,
    /// Identifies this version of the object, if the store can (`ETag` in S3).
    pub tag: Option<String>,
    /// The bytes of the requested range. The stream may end early without an error, so count the bytes.
    pub body: ByteStream,
}

impl Object {
    /// An object of this length.
    pub fn new(length: u64, body: ByteStream) -> Self {
        Self { length, tag: None, body }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("length", &self.length).field("tag", &self.tag).finish_non_exhaustive()
    }
}

/// The error of a write that the store may have executed.
#[cfg(any(feature = "s3", feature = "object_store"))]
fn maybe_written(error: Error) -> Error {
    let text = format!("{error}; the store may have written it");
    Error::new(ErrorKind::Unavailable, text).caused_by(error).outcome_unknown()
}

/// A store whose calls have a timeout. A timeout is a retryable error.
#[derive(Clone)]
pub(crate) struct Bounded {
    inner: Arc<dyn PayloadStore>,
    background: Background,
}

impl Bounded {
    pub(crate) fn new(inner: Arc<dyn PayloadStore>, timeout: Duration) -> Self {
        Self { inner, background: Background::new(timeout) }
    }

    /// The tasks of dropped uploads and of the cleanup.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.background.tasks
    }

    pub(crate) fn inner(&self) -> &Arc<dyn PayloadStore> {
        &self.inner
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.background.timeout
    }

    pub(crate) fn bucket(&self) -> &str {
        self.inner.bucket()
    }

    pub(crate) async fn put(&self, at: &Pointer, mut upload: Upload) -> Result<(), Error> {
        let (pace, body) = Pace::of(self.timeout(), self.inner.held_bytes(), upload.body);
        upload.body = body;
        upload.background = self.background.clone();
        tokio::select! {
            biased;
            result = self.inner.put(at, upload) => result,
            waited = pace.lost() => {
                Err(late(&format!("writing {at}"), "the store made no progress", waited).outcome_unknown())
            }
        }
    }

    /// Opens an object. The timeout also applies to each piece of its body, but not to the time that the reader takes.
    pub(crate) async fn get(
        &self,
        at: &Pointer,
        range: Option<Range<u64>>,
        tag: Option<&str>,
    ) -> Result<Object, Error> {
        let what = || format!("reading {at}");
        let mut object = self.within(what, self.inner.get(at, range, tag)).await?;
        object.body = flowing(object.body, what(), self.timeout());
        Ok(object)
    }

    pub(crate) async fn delete(&self, at: &Pointer) -> Result<(), Error> {
        self.within(|| format!("deleting {at}"), self.inner.delete(at)).await
    }

    async fn within<T>(
        &self,
        what: impl FnOnce() -> String,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        within(self.timeout(), what, call).await
    }
}

async fn within<T>(
    limit: Duration,
    what: impl FnOnce() -> String,
    call: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    timeout(limit, call).await.unwrap_or_else(|_| Err(late(&what(), "the store did not respond", limit)))
}

fn flowing(body: ByteStream, what: String, patience: Duration) -> ByteStream {
    stream::unfold(Some((body, what)), move |state| async move {
        let (mut body, what) = state?;
        match timeout(patience, body.next()).await {
            Ok(piece) => Some((piece?, Some((body, what)))),
            Err(_) => Some((Err(late(&what, "no bytes arrived", patience)), None)),
        }
    })
    .boxed()
}

fn late(what: &str, why: &str, waited: Duration) -> Error {
    let text = format!("{what}: {why} within {waited:?} (see store_timeout)");
    Error::new(ErrorKind::Unavailable, text)
}

impl fmt::Debug for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").field("bucket", &self.bucket()).finish_non_exhaustive()
    }
}

/// Bytes that a store holds by default: five parts.
const HELD: u64 = 5 * PART;

/// Bytes for which a store gets one timeout.
const PART: u64 = 8 << 20;

/// The time limit of a store that has to write this many bytes: one timeout for each 8 MiB.
fn patience(timeout: Duration, bytes: u64) -> Duration {
    let parts = u32::try_from(bytes.div_ceil(PART)).unwrap_or(u32::MAX);
    timeout.saturating_mul(parts.max(1))
}

/// The time limit of an upload: the store must take the next piece, or finish, before it.
#[derive(Debug)]
pub(crate) struct Pace {
    timeout: Duration,
    /// See [`PayloadStore::held_bytes`].
    held: u64,
    /// `None` while the store waits for the source. Locked for a few instructions.
    until: Mutex<Option<Until>>,
}

#[derive(Clone, Copy, Debug)]
struct Until {
    at: Instant,
    /// The whole time limit.
    patience: Duration,
}

impl Pace {
    /// Starts the time limit. The returned body restarts it with each piece.
    pub(crate) fn of(timeout: Duration, held: u64, body: UploadBody) -> (Arc<Self>, UploadBody) {
        let (length, held) = match &body {
            // The store holds no more than it got.
            UploadBody::Bytes(bytes) => (bytes.len(), 0),
            UploadBody::Stream(_) => (0, held),
        };
        let pace = Arc::new(Self { timeout, held, until: Mutex::new(None) });
        pace.gave(length);
        let body = match body {
            UploadBody::Stream(body) => UploadBody::Stream(Paced { body, pace: Arc::clone(&pace) }.boxed()),
            whole @ UploadBody::Bytes(_) => whole,
        };
        (pace, body)
    }

    /// Resolves when the time limit is exceeded, with its duration.
    async fn lost(&self) -> Duration {
        loop {
            let until = *self.until.lock();
            match until {
                Some(until) if until.at <= Instant::now() => return until.patience,
                Some(until) => sleep_until(until.at).await,
                // The next time limit is at least that long.
                None => sleep(self.timeout).await,
            }
        }
    }

    fn waits(&self) {
        *self.until.lock() = None;
    }

    fn gave(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        // The pieces before it may be in the store still.
        let patience = patience(self.timeout, bytes.max(self.held));
        // Without a limit if the clock cannot represent it.
        *self.until.lock() = Instant::now().checked_add(patience).map(|at| Until { at, patience });
    }
}

struct Paced {
    body: ByteStream,
    pace: Arc<Pace>,
}

impl Stream for Paced {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = self.body.poll_next_unpin(context);
        match &piece {
            Poll::Pending => self.pace.waits(),
            Poll::Ready(Some(Ok(piece))) => self.pace.gave(piece.len()),
            Poll::Ready(_) => self.pace.gave(0),
        }
        piece
    }
}

/// If the store drops the source, the time limit is that of a last piece.
impl Drop for Paced {
    fn drop(&mut self) {
        self.pace.gave(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_has_one_timeout_for_each_8_mib() {
        let minute = Duration::from_secs(60);
        for (bytes, minutes) in [(0, 1), (1, 1), (40 << 20, 5), ((40 << 20) + 1, 6), (256 << 20, 32)] {
            assert_eq!(patience(minute, bytes), minute * minutes, "{bytes}");
        }
        assert_eq!(patience(Duration::MAX, u64::MAX), Duration::MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn time_limit_of_an_upload_grows_with_what_the_store_holds() {
        let minute = Duration::from_secs(60);
        for (held, minutes) in [(1, 1), (40 << 20, 5), (320 << 20, 40)] {
            let piece = stream::iter([Ok(Bytes::from_static(b"x"))]).chain(stream::pending()).boxed();
            let (pace, body) = Pace::of(minute, held, UploadBody::Stream(piece));
            let UploadBody::Stream(mut body) = body else { panic!("it was a stream") };
            body.next().await.unwrap().unwrap();
            assert_eq!(pace.lost().await, minute * minutes, "{held}");
        }
        for (length, minutes) in [(1, 1), (80 << 20, 10)] {
            let (pace, _body) = Pace::of(minute, 320 << 20, UploadBody::Bytes(vec![0; length].into()));
            assert_eq!(pace.lost().await, minute * minutes, "{length} in memory");
        }
    }
}
