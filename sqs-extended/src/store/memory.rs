//! A store in memory, for tests.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use parking_lot::Mutex;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::store::{ByteStream, Object, PayloadStore, StoreFuture, Upload, UploadBody};

/// Bytes per piece of a body.
const CHUNK: usize = 64 << 10;

/// A store in memory, for tests: it shows its objects and fails on demand. Clones share the objects.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_extended::{ErrorKind, ExtendedClient, MemoryStore, StoreCall, StoreFault};
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("q").send().await?.queue_url.unwrap();
///
/// let store = MemoryStore::new("payloads");
/// let client = ExtendedClient::new(server.client(), store.clone());
///
/// store.fail_next(StoreCall::Put, StoreFault::Fail(ErrorKind::Unavailable));
/// let send = || client.send_message().queue_url(&url).message_body("x".repeat(300_000)).send();
/// assert!(send().await.is_err());
/// assert!(send().await.is_ok());
/// assert_eq!(store.objects().len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    bucket: Arc<str>,
    shared: Arc<Shared>,
}

struct Shared {
    /// Locked for a few instructions; never held across an await.
    objects: Mutex<Objects>,
    /// Locked like `objects`.
    faults: Mutex<Faults>,
}

impl MemoryStore {
    /// An empty store whose own bucket has this name. All other buckets exist too, and are empty.
    pub fn new(bucket: impl Into<Arc<str>>) -> Self {
        let shared = Shared { objects: Mutex::default(), faults: Mutex::default() };
        Self { bucket: bucket.into(), shared: Arc::new(shared) }
    }

    /// A handle of the same store with another own bucket.
    pub fn with_bucket(&self, bucket: impl Into<Arc<str>>) -> Self {
        Self { bucket: bucket.into(), shared: Arc::clone(&self.shared) }
    }

    /// Counts a call and returns its fault.
    fn next_fault(&self, call: StoreCall, at: &Pointer) -> Option<StoreFault> {
        self.shared.objects.lock().count(call);
        let next = self.shared.faults.lock().next(call);
        next.unwrap_or_else(|condition| condition?(call, at))
    }

    /// Executes a call with its fault.
    async fn apply<T>(
        &self,
        call: StoreCall,
        at: &Pointer,
        fault: Option<StoreFault>,
        act: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match fault {
            Some(StoreFault::Fail(kind)) => Err(StoreFault::error(kind, call, at)),
            Some(StoreFault::Hang) => std::future::pending().await,
            Some(StoreFault::LoseResponse) => {
                act.await?;
                Err(StoreFault::error(ErrorKind::Unavailable, call, at).outcome_unknown())
            }
            Some(StoreFault::Truncate(_) | StoreFault::Interrupt(_)) | None => act.await,
        }
    }
}

impl PayloadStore for MemoryStore {
    fn bucket(&self) -> &str {
        &self.bucket
    }

    fn put<'a>(&'a self, at: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let fault = self.next_fault(StoreCall::Put, at);
            let put = async {
                let Upload { body, length, content_type } = upload;
                let bytes = collect(body, length).await?;
                self.shared.objects.lock().put(at, bytes, content_type);
                Ok(())
            };
            self.apply(StoreCall::Put, at, fault, put).await
        })
    }

    fn get<'a>(
        &'a self,
        at: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(async move {
            let fault = self.next_fault(StoreCall::Get, at);
            let get = async { self.shared.objects.lock().get(at, range, tag) };
            let (stored, bytes) = self.apply(StoreCall::Get, at, fault.clone(), get).await?;
            let mut object = Object::new(stored.length(), pieces(&bytes, fault.as_ref()));
            object.tag = Some(stored.tag);
            Ok(object)
        })
    }

    fn delete<'a>(&'a self, at: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let fault = self.next_fault(StoreCall::Delete, at);
            let delete = async {
                self.shared.objects.lock().remove(at);
                Ok(())
            };
            self.apply(StoreCall::Delete, at, fault, delete).await
        })
    }
}

async fn collect(body: UploadBody, length: Option<u64>) -> Result<Bytes, Error> {
    let bytes = match body {
        UploadBody::Bytes(bytes) => bytes,
        UploadBody::Stream(stream) => stream
            .try_fold(BytesMut::new(), async |mut all, chunk| {
                all.extend_from_slice(&chunk);
                Ok(all)
            })
            .await?
            .freeze(),
    };
    let came = bytes.len() as u64;
    match length {
        Some(length) if length != came => {
            let text = format!("the body has {came} bytes; {length} were expected");
            Err(Error::new(ErrorKind::Source, text))
        }
        _ => Ok(bytes),
    }
}

/// The bytes in pieces, until the fault.
fn pieces(bytes: &Bytes, fault: Option<&StoreFault>) -> ByteStream {
    let (come, error) = match fault {
        Some(StoreFault::Truncate(come)) => (*come, None),
        Some(StoreFault::Interrupt(come)) => {
            (*come, Some(Error::new(ErrorKind::Unavailable, "injected interruption")))
        }
        _ => (bytes.len(), None),
    };
    let bytes = bytes.slice(..come.min(bytes.len()));
    let starts = (0..bytes.len()).step_by(CHUNK);
    let pieces: Vec<_> =
        starts.map(|start| bytes.slice(start..bytes.len().min(start.saturating_add(CHUNK)))).collect();
    stream::iter(pieces.into_iter().map(Ok).chain(error.map(Err))).boxed()
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("bucket", &self.bucket)
            .field("objects", &self.objects().len())
            .finish_non_exhaustive()
    }
}

/// A call of a store.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StoreCall {
    /// Writing an object.
    Put,
    /// Reading an object.
    Get,
    /// Deleting an object.
    Delete,
}

/// A fault of a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreFault {
    /// The call is not executed and fails.
    Fail(ErrorKind),
    /// The call is executed and fails: its outcome is unknown.
    LoseResponse,
    /// The body of a read ends after this number of bytes. Other calls succeed.
    Truncate(usize),
    /// The body of a read fails after this number of bytes. Other calls succeed.
    Interrupt(usize),
    /// The call is not executed and never ends.
    Hang,
}

impl StoreFault {
    /// The error of a call that is not executed.
    pub(crate) fn error(kind: ErrorKind, call: StoreCall, at: &Pointer) -> Error {
        Error::new(kind, format!("{call:?} {at}: injected failure ({})", kind.as_str()))
    }
}

type Condition = Arc<dyn Fn(StoreCall, &Pointer) -> Option<StoreFault> + Send + Sync>;

/// The injected faults.
#[derive(Default)]
pub(crate) struct Faults {
    /// For the next calls, in order. `None`: the call succeeds.
    queued: HashMap<StoreCall, VecDeque<Option<StoreFault>>>,
    condition: Option<Condition>,
}

impl Faults {
    pub(crate) fn queue(&mut self, call: StoreCall, fault: Option<StoreFault>) {
        self.queued.entry(call).or_default().push_back(fault);
    }

    pub(crate) fn set_condition(&mut self, condition: Option<Condition>) {
        self.condition = condition;
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The fault of the next call: a queued one, else the decision of the condition. Returns the condition instead of
    /// calling it, because the caller must first release the lock.
    pub(crate) fn next(&mut self, call: StoreCall) -> Result<Option<StoreFault>, Option<Condition>> {
        match self.queued.get_mut(&call).and_then(VecDeque::pop_front) {
            Some(fault) => Ok(fault),
            None => Err(self.condition.clone()),
        }
    }
}

/// The number of calls of a store so far, including failed ones.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct StoreCalls {
    /// Writes.
    pub puts: u64,
    /// Reads.
    pub gets: u64,
    /// Deletes.
    pub deletes: u64,
}

impl StoreCalls {
    /// The number of all calls.
    pub fn total(&self) -> u64 {
        self.puts + self.gets + self.deletes
    }
}

/// Inspection.
impl MemoryStore {
    /// All objects, by bucket and key.
    pub fn objects(&self) -> Vec<Pointer> {
        self.shared.objects.lock().all().collect()
    }

    /// The bytes of an object.
    pub fn bytes(&self, at: &Pointer) -> Option<Bytes> {
        self.shared.objects.lock().find(at).map(|stored| stored.bytes.clone())
    }

    /// The media type of an object, if it has one.
    pub fn content_type(&self, at: &Pointer) -> Option<String> {
        self.shared.objects.lock().find(at)?.content_type.clone()
    }

    /// The number of calls so far.
    pub fn calls(&self) -> StoreCalls {
        self.shared.objects.lock().calls
    }
}

/// Control.
impl MemoryStore {
    /// Writes an object without the client, as another program might.
    pub fn overwrite(&self, at: &Pointer, bytes: impl Into<Bytes>) {
        self.shared.objects.lock().put(at, bytes.into(), None);
    }

    /// Removes an object without the client, as another program might.
    pub fn remove(&self, at: &Pointer) {
        self.shared.objects.lock().remove(at);
    }

    /// Injects a fault into the next call of this kind. Further faults affect the calls after it.
    pub fn fail_next(&self, call: StoreCall, fault: StoreFault) {
        self.shared.faults.lock().queue(call, Some(fault));
    }

    /// Lets the next call of this kind succeed, for a success between two injected faults.
    pub fn pass_next(&self, call: StoreCall) {
        self.shared.faults.lock().queue(call, None);
    }

    /// Sets a function that returns the fault of each call that has no queued fault. A later call replaces it.
    pub fn fail_when(
        &self,
        condition: impl Fn(StoreCall, &Pointer) -> Option<StoreFault> + Send + Sync + 'static,
    ) {
        self.shared.faults.lock().set_condition(Some(Arc::new(condition)));
    }

    /// Removes all injected faults.
    pub fn heal(&self) {
        self.shared.faults.lock().clear();
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) bytes: Bytes,
    pub(crate) tag: String,
    pub(crate) content_type: Option<String>,
}

impl Stored {
    pub(crate) fn length(&self) -> u64 {
        self.bytes.len() as u64
    }
}

#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// By bucket and key.
    by_place: BTreeMap<(String, String), Stored>,
    pub(crate) calls: StoreCalls,
    versions: u64,
}

fn place(at: &Pointer) -> (String, String) {
    (at.bucket().to_owned(), at.key().to_owned())
}

impl Objects {
    pub(crate) fn count(&mut self, call: StoreCall) {
        let calls = &mut self.calls;
        let count = match call {
            StoreCall::Put => &mut calls.puts,
            StoreCall::Get => &mut calls.gets,
            StoreCall::Delete => &mut calls.deletes,
        };
        *count += 1;
    }

    /// Writes an object, as a new version if it exists.
    pub(crate) fn put(&mut self, at: &Pointer, bytes: Bytes, content_type: Option<String>) {
        self.versions += 1;
        let tag = format!("\"{}\"", self.versions);
        self.by_place.insert(place(at), Stored { bytes, tag, content_type });
    }

    /// An object, and its bytes or a range of them.
    pub(crate) fn get(
        &self,
        at: &Pointer,
        range: Option<Range<u64>>,
        tag: Option<&str>,
    ) -> Result<(Stored, Bytes), Error> {
        let error = |kind, text: &str| Error::new(kind, format!("{at}: {text}"));
        let stored = self.find(at).ok_or_else(|| error(ErrorKind::NotFound, "the object does not exist"))?;
        if tag.is_some_and(|tag| tag != stored.tag) {
            return Err(error(ErrorKind::Damaged, "the object has another version"));
        }
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(stored.bytes.len());
        let range = range.unwrap_or(0..stored.length());
        if range.start > stored.length() {
            return Err(error(ErrorKind::Rejected, "the range begins after the end of the object"));
        }
        Ok((stored.clone(), stored.bytes.slice(place(range.start)..place(range.end))))
    }

    pub(crate) fn remove(&mut self, at: &Pointer) -> Option<Stored> {
        self.by_place.remove(&place(at))
    }

    pub(crate) fn find(&self, at: &Pointer) -> Option<&Stored> {
        self.by_place.get(&place(at))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Pointer> {
        self.by_place.keys().map(|(bucket, key)| Pointer::new(bucket, key))
    }
}
