//! A payload to send.

use std::error::Error as StdError;
use std::fmt;
use std::path::PathBuf;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncRead;
use tokio::sync::oneshot;
use tokio_util::io::ReaderStream;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::{MAX_PAYLOAD_BYTES, Pointer};
use crate::payload::checks::{Checks, Hash, Progress, ProgressListener, checked};
use crate::payload::{Pieces, file};
use crate::store::{Bounded, Upload, UploadBody};

/// Bytes to read from a reader at a time.
const READ: usize = 256 << 10;

/// A payload to send: bytes, a file, a reader or a stream. It is read while it is sent; files, readers and streams are
/// never in memory as a whole.
///
/// It must be UTF-8, like the body of a message, unless it is [`binary`](Self::binary): the libraries for other languages read it as
/// text.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// # let client = sqs_extended::ExtendedClient::new(server.client(), sqs_extended::MemoryStore::new("payloads"));
/// use sqs_extended::Payload;
///
/// let video: &[u8] = &[0xca, 0xfe]; // or a socket, a pipe, any `AsyncRead`
/// let payload = Payload::from_reader(video).length(2).binary();
/// let sent = client.send_stream(&url, payload).send().await?;
/// assert_eq!(sent.length, 2);
/// # Ok(())
/// # }
/// ```
pub struct Payload {
    content: Content,
    pub(crate) length: Option<u64>,
    pub(crate) is_binary: bool,
    is_hashed: bool,
    pub(crate) limit: u64,
    pub(crate) listener: Option<ProgressListener>,
}

pub(crate) enum Content {
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

    /// The content of a file. The file is opened when the payload is sent.
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        Self::new(Content::Path(path.into()))
    }

    /// All bytes of a reader.
    pub fn from_reader(reader: impl AsyncRead + Send + 'static) -> Self {
        Self::from_stream(ReaderStream::with_capacity(reader, READ))
    }

    /// All pieces of a stream.
    pub fn from_stream<S, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let failed = |error: E| {
            let error = error.into();
            Error::new(ErrorKind::Source, format!("reading the payload failed: {error}")).caused_by(error)
        };
        Self::new(Content::Pieces(stream.map_err(failed).boxed()))
    }

    fn new(content: Content) -> Self {
        let limit = MAX_PAYLOAD_BYTES;
        Self { content, length: None, is_binary: false, is_hashed: true, limit, listener: None }
    }

    /// Sets the length of a reader or a stream in bytes, so that progress has a total. If the actual length differs,
    /// the send fails.
    pub fn length(mut self, bytes: u64) -> Self {
        self.length = Some(bytes);
        self
    }

    /// Allows bytes that are not UTF-8. The receiver must allow them, too.
    pub fn binary(mut self) -> Self {
        self.is_binary = true;
        self
    }

    /// Sets the largest length in bytes: 2,147,483,647 by default, the most that the libraries for other languages can hold.
    pub fn max_length(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Sends a stream without the SHA-256 of its content, to save CPU. The receiver then verifies its length, and the store the
    /// checksum of each request.
    pub fn without_hash(mut self) -> Self {
        self.is_hashed = false;
        self
    }

    /// Sets a function that is called for each piece that is read.
    pub fn progress(mut self, listener: impl FnMut(Progress) + Send + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Writes the payload to a new object.
    ///
    /// # Errors
    /// [`ErrorKind::Source`], [`TooLarge`](ErrorKind::TooLarge), [`NotText`](ErrorKind::NotText), and those of the store. After an
    /// error there is no object, unless [`Error::is_outcome_unknown`].
    pub(crate) async fn put(self, store: &Bounded, at: &Pointer) -> Result<Uploaded, Error> {
        let (upload, ended) = self.open().await?;
        store.put(at, upload).await?;
        ended.await.map_err(|_| {
            let text = format!("writing {at}: the store did not read the payload to its end");
            Error::new(ErrorKind::Rejected, text).outcome_unknown()
        })
    }

    /// The upload, and a receiver for its length and hash. They are sent when the whole payload was read.
    async fn open(self) -> Result<(Upload, oneshot::Receiver<Uploaded>), Error> {
        let Self { content, length, is_binary, is_hashed, limit, listener } = self;
        let has_listener = listener.is_some();
        let (found, whole, pieces) = match content {
            Content::Path(path) => {
                let (length, pieces) = file::read(path).await?;
                (length, None, pieces)
            }
            Content::Pieces(pieces) => (None, None, pieces),
            Content::Bytes(bytes) => (None, Some(bytes.clone()), in_steps(bytes)),
        };
        let length = length.or(found);
        let mut checks = Checks::new(length, limit, is_binary);
        (checks.listener, checks.wrong_length) = (listener, ErrorKind::Source);
        if is_hashed {
            checks.hash = Hash::Computed(Sha256::new());
        }
        checks.begin()?;
        let (told, ended) = oneshot::channel();
        let tell = |length, sha256| {
            // An error means that the upload was dropped.
            let _ = told.send(Uploaded { length, sha256 });
        };
        let mut pieces = checked(pieces, checks, tell);
        let body = match whole.filter(|_| !has_listener) {
            Some(bytes) => {
                while pieces.try_next().await?.is_some() {
                    // Hashing a step takes about a millisecond: other tasks run in between.
                    tokio::task::yield_now().await;
                }
                UploadBody::Bytes(bytes)
            }
            None => UploadBody::Stream(pieces),
        };
        let mut upload = Upload::new(body);
        upload.length = length;
        upload.content_type = Some(if is_binary { BINARY } else { TEXT }.to_owned());
        Ok((upload, ended))
    }
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
            .finish_non_exhaustive()
    }
}

/// The media type of texts.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

const BINARY: &str = "application/octet-stream";

/// Bytes of a body in memory between two calls of a progress callback.
const STEP: usize = 1 << 20;

/// The result of an upload.
#[derive(Debug)]
pub(crate) struct Uploaded {
    pub(crate) length: u64,
    /// In hex.
    pub(crate) sha256: Option<String>,
}

fn in_steps(bytes: Bytes) -> Pieces {
    let steps = stream::unfold(bytes, |mut bytes| async move {
        let step = bytes.split_to(bytes.len().min(STEP));
        (!step.is_empty()).then_some((Ok(step), bytes))
    });
    steps.boxed()
}
