//! What is sent.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use tokio::io::AsyncRead;
use tokio_util::io::ReaderStream;

use super::checks::{Checks, Listener, Progress, checked};
use super::encoding::Encoding;
use super::utf8::Utf8;
use super::{DEFAULT_MAX_LENGTH, PayloadError, PayloadErrorKind, Pieces, file, sha256};
use crate::pointer::Pointer;
use crate::store::{PayloadStore, StoreError, Upload, UploadBody};

/// How much is read at once from a reader.
const READ: usize = 256 << 10;
const TEXT: &str = "text/plain; charset=utf-8";
const BINARY: &str = "application/octet-stream";
/// How much of a body that is in memory passes between two calls of a progress listener.
const STEP: usize = 1 << 20;

/// What is to be sent: bytes, a file, a reader or a stream. It is read when it is sent, and never held in memory as a
/// whole.
///
/// It has to be UTF-8, as the bodies of messages are, unless it is said to be [`binary`](Self::binary): the libraries for
/// other languages read it as text.
pub struct Payload {
    content: Content,
    length: Option<u64>,
    is_binary: bool,
    limit: u64,
    encoding: Encoding,
    listener: Option<Listener>,
}

enum Content {
    Bytes(Bytes),
    Path(PathBuf),
    Pieces(Pieces),
}

impl Payload {
    /// Bytes in memory.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let length = u64::try_from(bytes.len()).ok();
        Self { length, ..Self::new(Content::Bytes(bytes)) }
    }

    /// A file, which is opened when the payload is sent.
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        Self::new(Content::Path(path.into()))
    }

    /// All that a reader gives.
    pub fn from_reader(reader: impl AsyncRead + Send + 'static) -> Self {
        Self::from_stream(ReaderStream::with_capacity(reader, READ))
    }

    /// All pieces of a stream.
    pub fn from_stream<S, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let failed = |error: E| {
            PayloadError::caused_by(PayloadErrorKind::Source, "the payload could not be read", error)
        };
        Self::new(Content::Pieces(stream.map_err(failed).boxed()))
    }

    fn new(content: Content) -> Self {
        let (encoding, limit) = (Encoding::Plain, DEFAULT_MAX_LENGTH);
        Self { content, length: None, is_binary: false, limit, encoding, listener: None }
    }

    /// How many bytes a reader or a stream will give: progress has a total then, and anything else is an error.
    pub fn length(mut self, bytes: u64) -> Self {
        self.length = Some(bytes);
        self
    }

    /// It may be other than UTF-8. Who receives it has to expect that, too.
    pub fn binary(mut self) -> Self {
        self.is_binary = true;
        self
    }

    /// The most bytes that are sent, 2,147,483,647 by default, which is what the libraries for other languages can hold.
    pub fn max_length(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Compresses it on its way. Only this crate reads it then: the libraries for other languages take what is compressed
    /// for the payload.
    #[cfg(any(feature = "gzip", feature = "zstd"))]
    pub fn compression(mut self, compression: super::Compression) -> Self {
        self.encoding = compression.into();
        self
    }

    /// Is told of every piece that is read.
    pub fn progress(mut self, listener: impl FnMut(Progress) + Send + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Writes it into a store as an object that does not exist yet, and says how many bytes it has, before compression.
    ///
    /// # Errors
    /// [`PayloadErrorKind::Source`] when it cannot be read, [`TooLarge`](PayloadErrorKind::TooLarge),
    /// [`NotText`](PayloadErrorKind::NotText), [`Damaged`](PayloadErrorKind::Damaged) when it is of another length than it
    /// was said to be, [`Store`](PayloadErrorKind::Store) when the store fails. No object is there then, unless
    /// [`StoreError::is_outcome_unknown`](crate::StoreError::is_outcome_unknown).
    ///
    /// # Cancel safety
    /// Dropped before its end, it leaves no object; see [`PayloadStore::put`].
    pub async fn put<S: PayloadStore>(self, store: &S, at: &Pointer) -> Result<u64, PayloadError> {
        let (upload, taken) = self.open().await?;
        store.put(at, upload).await?;
        Ok(taken.load(Ordering::Relaxed))
    }

    /// What a store takes, and a count of what has passed.
    async fn open(self) -> Result<(Upload, Arc<AtomicU64>), PayloadError> {
        let Self { content, length, is_binary, limit, encoding, listener } = self;
        let mut metadata = HashMap::new();
        let mut whole = None;
        let (found, pieces) = match content {
            Content::Path(path) => file::read(path).await?,
            Content::Pieces(pieces) => (None, pieces),
            Content::Bytes(bytes) => {
                metadata.insert(sha256::METADATA.to_owned(), sha256::of(&bytes).await);
                let pieces = in_steps(bytes.clone());
                whole = Some(bytes).filter(|_| encoding.is_plain() && listener.is_none());
                (None, pieces)
            }
        };
        let length = length.or(found);
        let utf8 = (!is_binary).then(Utf8::default);
        let mut checks = Checks::new(length, limit, utf8, listener);
        checks.begin()?;
        let taken = Arc::new(AtomicU64::new(0));
        let body = if let Some(bytes) = whole {
            checks.take(&bytes)?;
            checks.end()?;
            taken.store(checks.taken(), Ordering::Relaxed);
            UploadBody::Bytes(bytes)
        } else {
            let count = Arc::clone(&taken);
            let pieces = checked(pieces, checks, move |taken| count.store(taken, Ordering::Relaxed));
            UploadBody::Stream(encoding.encode(pieces).map_err(StoreError::from).boxed())
        };
        let mut upload = Upload::new(body);
        upload.length = length.filter(|_| encoding.is_plain());
        upload.content_type = Some(if is_binary { BINARY } else { TEXT }.to_owned());
        upload.content_encoding = encoding.name().map(str::to_owned);
        upload.metadata = metadata;
        Ok((upload, taken))
    }
}

fn in_steps(bytes: Bytes) -> Pieces {
    let steps = stream::unfold(bytes, |mut bytes| async move {
        let step = bytes.split_to(bytes.len().min(STEP));
        (!step.is_empty()).then_some((Ok(step), bytes))
    });
    steps.boxed()
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self::from_bytes(text)
    }
}

impl From<&'static str> for Payload {
    fn from(text: &'static str) -> Self {
        Self::from_bytes(text)
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self::from_bytes(bytes)
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from_bytes(bytes)
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload")
            .field("length", &self.length)
            .field("is_binary", &self.is_binary)
            .field("encoding", &self.encoding)
            .finish_non_exhaustive()
    }
}
