//! A payload that is received.

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
/// `next` loses nothing.
pub struct Body {
    pieces: Pieces,
    length: u64,
}

impl Body {
    /// The length is that of the object, too.
    pub(super) fn new(length: u64, pieces: Pieces) -> Self {
        Self { pieces, length }
    }

    /// A payload in its message.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self::new(length, stream::iter([Ok(bytes)]).boxed())
    }

    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads all of it into memory, at most `limit` bytes.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] before the first byte if it is longer or memory is short, and those of the stream.
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

    /// Reads all of it into memory as text, at most `limit` bytes.
    ///
    /// # Errors
    /// Those of [`collect`](Self::collect), and [`ErrorKind::NotText`].
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

    /// Writes it to a file, and returns its length. The file gets its name, and replaces an existing one, when it is complete,
    /// verified and synced to disk. Until then it is beside it as `NAME.<id>.partial`, with at most 200 bytes of the name.
    ///
    /// # Errors
    /// [`ErrorKind::File`], and those of the stream. The partial file is removed.
    ///
    /// # Cancel safety
    /// If the future is dropped, the partial file is removed.
    pub async fn write_to_path(self, path: impl AsRef<Path>) -> Result<u64, Error> {
        file::write(path.as_ref(), self.pieces).await
    }

    /// A reader. Its errors contain an [`Error`].
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
