//! A received payload as a stream.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use tokio::io::AsyncBufRead;
use tokio_util::io::StreamReader;

use super::{Pieces, checks, file};
use crate::error::{Error, ErrorKind};

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
    pub(super) fn new(length: u64, pieces: Pieces) -> Self {
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
    /// [`ErrorKind::TooLarge`] if the payload exceeds `limit` bytes or memory is short; nothing is read then. Otherwise
    /// the error of the stream.
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
            Error::new(ErrorKind::TooLarge, format!("no memory for the {length} bytes of the payload"))
                .caused_by(error)
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
