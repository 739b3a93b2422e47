//! A payload that arrives.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use tokio::io::AsyncBufRead;
use tokio_util::io::StreamReader;

use super::whole::Whole;
use super::{PayloadError, PayloadErrorKind, Pieces, checks, file};

/// A payload as it arrives, piece by piece. What breaks off is begun again where it broke off, of the same version of the
/// object.
///
/// **It is right only when it has ended without an error**: length, hash and the last character are known at the end. After
/// an error nothing comes.
///
/// # Cancel safety
/// `next` loses nothing.
pub struct Body {
    pieces: Pieces,
    length: u64,
    /// So many bytes of it are not the word of the message alone.
    pub(super) sure: u64,
}

impl Body {
    pub(super) fn new(length: u64, sure: u64, pieces: Pieces) -> Self {
        Self { pieces, length, sure }
    }

    /// What came with its message.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self::new(length, length, stream::iter([Ok(bytes)]).boxed())
    }

    /// How many bytes it has, after decompression.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// All of it in memory, at most `limit` bytes.
    ///
    /// # Errors
    /// [`PayloadErrorKind::TooLarge`] before the first byte or when there is no memory, and what the stream says.
    ///
    /// # Cancel safety
    /// What was read is lost.
    pub async fn collect(self, limit: usize) -> Result<Bytes, PayloadError> {
        self.gather(limit).await.map(Bytes::from)
    }

    /// All of it in memory as a text, at most `limit` bytes.
    ///
    /// # Errors
    /// As of [`collect`](Self::collect), and [`PayloadErrorKind::NotText`].
    ///
    /// # Cancel safety
    /// What was read is lost.
    pub async fn text(self, limit: usize) -> Result<String, PayloadError> {
        let not_text = |at| checks::not_text(u64::try_from(at).unwrap_or(u64::MAX));
        let bytes = self.gather(limit).await?;
        String::from_utf8(bytes).map_err(|error| not_text(error.utf8_error().valid_up_to()))
    }

    async fn gather(mut self, limit: usize) -> Result<Vec<u8>, PayloadError> {
        let (length, limit) = (self.length, u64::try_from(limit).unwrap_or(u64::MAX));
        if length > limit {
            let says = format!("the payload has {length} bytes, and at most {limit} are to be collected");
            return Err(PayloadError::new(PayloadErrorKind::TooLarge, says));
        }
        let mut whole = Whole::new(length, self.sure)?;
        while let Some(piece) = self.pieces.try_next().await? {
            whole.push(&piece)?;
        }
        Ok(whole.into_bytes())
    }

    /// Writes it into a file, and says how many bytes that are. The file gets its name, in place of one that is there, only
    /// when it is whole, right and on the disk; before, it lies beside it as `NAME.<id>.partial`.
    ///
    /// # Errors
    /// [`PayloadErrorKind::File`] when the file cannot be written, and what the stream says. Nothing is left then.
    ///
    /// # Cancel safety
    /// Dropped before its end, it leaves nothing, unless the file is about to get its name.
    pub async fn write_to_path(self, path: impl AsRef<Path>) -> Result<u64, PayloadError> {
        file::write(path.as_ref(), self.pieces).await
    }

    /// As a reader. Its errors hold a [`PayloadError`].
    pub fn into_reader(self) -> impl AsyncBufRead + Send + Unpin + 'static {
        StreamReader::new(self.pieces.map_err(PayloadError::into_io))
    }
}

impl Stream for Body {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.pieces.poll_next_unpin(context)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("length", &self.length).finish_non_exhaustive()
    }
}
