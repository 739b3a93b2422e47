//! A received payload as a stream.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncBufRead;
use tokio_util::io::StreamReader;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::{MAX_PAYLOAD_BYTES, Pointer};
use crate::payload::checks::{Checks, Hash, ProgressListener, checked};
use crate::payload::ranges::Plan;
use crate::payload::{Pieces, checks, file, ranges};
use crate::store::Bounded;

/// A payload as a stream of pieces. If the connection breaks, reading resumes in the same version of the object.
///
/// **The payload is verified only when the stream ends without an error**: length, hash and the last character are checked at
/// the end. Nothing follows an error.
///
/// # Cancel safety
/// If the future of `next` is dropped, no piece is lost.
pub struct Body {
    pieces: Pieces,
    length: u64,
}

impl Body {
    /// `length` is also the length of the object.
    pub(crate) fn new(length: u64, pieces: Pieces) -> Self {
        Self { pieces, length }
    }

    /// A payload that is the body of its message.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self::new(length, stream::iter([Ok(bytes)]).boxed())
    }

    /// The length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads the whole payload into memory.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the payload exceeds `limit` bytes, [`ErrorKind::Unavailable`] if memory is short; nothing is read
    /// then. Otherwise the error of the stream.
    ///
    /// # Cancel safety
    /// If the future is dropped, the bytes that were read are lost.
    pub async fn collect(mut self, limit: usize) -> Result<Bytes, Error> {
        let mut bytes = self.room(limit)?;
        while let Some(piece) = self.pieces.try_next().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes.into())
    }

    /// Reads the whole payload into memory as text.
    ///
    /// # Errors
    /// The same as [`collect`](Self::collect), and [`ErrorKind::NotText`].
    ///
    /// # Cancel safety
    /// If the future is dropped, the bytes that were read are lost.
    pub async fn text(self, limit: usize) -> Result<String, Error> {
        let not_text = |at| checks::not_text(u64::try_from(at).unwrap_or(u64::MAX));
        // The bytes have no other owner, so this does not copy.
        let bytes = Vec::from(self.collect(limit).await?);
        String::from_utf8(bytes).map_err(|error| not_text(error.utf8_error().valid_up_to()))
    }

    fn room(&self, limit: usize) -> Result<Vec<u8>, Error> {
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        if length > limit {
            let text = format!("the payload has {length} bytes; at most {limit} are allowed");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|error| {
            // Other payloads may free memory.
            let text = format!("no memory for the {length} bytes of the payload");
            Error::new(ErrorKind::Unavailable, text).caused_by(error)
        })?;
        Ok(bytes)
    }

    /// Writes the payload to a file, and returns its length in bytes. It first writes `NAME.<id>.partial` in the same
    /// directory, with at most 200 bytes of the name. When that file is complete, verified and synced to disk, it gets
    /// its final name and replaces an existing file.
    ///
    /// # Errors
    /// [`ErrorKind::File`], or the error of the stream. The partial file is removed.
    ///
    /// # Cancel safety
    /// If the future is dropped, the partial file is removed.
    pub async fn write_to_path(self, path: impl AsRef<Path>) -> Result<u64, Error> {
        file::write(path.as_ref(), self.pieces).await
    }

    /// Converts into a reader. Its `io::Error`s contain an [`Error`].
    pub fn into_reader(self) -> impl AsyncBufRead + Send + Unpin + 'static {
        StreamReader::new(self.pieces.map_err(Error::into_io))
    }
}

impl Stream for Body {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.pieces.poll_next_unpin(context)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("length", &self.length).finish_non_exhaustive()
    }
}

/// How a payload is read.
pub(crate) struct Options {
    pub(crate) is_binary: bool,
    pub(crate) limit: u64,
    pub(crate) plan: Plan,
    pub(crate) listener: Option<ProgressListener>,
}

impl Default for Options {
    fn default() -> Self {
        Self { is_binary: false, limit: MAX_PAYLOAD_BYTES, plan: Plan::default(), listener: None }
    }
}

/// A payload in a store.
pub(crate) struct Download {
    pub(crate) store: Bounded,
    pub(crate) at: Pointer,
    /// The length according to the message.
    pub(crate) length: u64,
    /// The hash according to the message, in hex.
    pub(crate) sha256: Option<String>,
}

impl Download {
    /// Opens the object.
    ///
    /// # Errors
    /// Those of the store; [`ErrorKind::TooLarge`] without a request; [`ErrorKind::Damaged`] if the object has a
    /// different length.
    pub(crate) async fn open(self, options: Options) -> Result<Body, Error> {
        let Self { store, at, length, sha256 } = self;
        let mut checks = Checks::new(Some(length), options.limit, options.is_binary);
        checks.listener = options.listener;
        checks.begin()?;
        let object = ranges::open(&store, &at, length == 0, options.plan).await?;
        if object.length != length {
            let text = format!("{at} has {} bytes; its message says {length}", object.length);
            return Err(Error::new(ErrorKind::Damaged, text));
        }
        if let Some(expected) = sha256 {
            checks.hash = Hash::Verified(Sha256::new(), expected);
        }
        let pieces = ranges::pieces(store, at, object, options.plan);
        Ok(Body::new(length, checked(pieces, checks, |_, _| {})))
    }
}
