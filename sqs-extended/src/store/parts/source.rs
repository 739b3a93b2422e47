//! The parts of a body.

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;

use super::part::Part;
use super::part_buffer::PartBuffer;
use crate::error::{Error, ErrorKind};
use crate::store::{ByteStream, UploadBody};

/// The maximum number of parts of an object.
pub(in crate::store) const MAX_PARTS: u32 = 10_000;

/// Reads a body in parts.
pub(in crate::store) struct Source {
    body: Option<ByteStream>,
    part_buffer: PartBuffer,
    taken: u64,
    length: Option<u64>,
}

impl Source {
    /// A body of known length has larger parts than `part_size` if it needs more than 10,000 of them.
    pub(in crate::store) fn new(body: UploadBody, length: Option<u64>, part_size: usize) -> Self {
        let body = match body {
            UploadBody::Bytes(bytes) => whole(bytes),
            UploadBody::Stream(body) => body,
        };
        let least = length.map_or(0, |length| length.div_ceil(u64::from(MAX_PARTS)));
        let size = usize::try_from(least).unwrap_or(usize::MAX).max(part_size);
        Self { body: Some(body), part_buffer: PartBuffer::new(size), taken: 0, length }
    }

    /// The next part, full except the last one. `None` at the end, also after errors.
    ///
    /// # Cancel safety
    /// No bytes are lost if the future is dropped.
    pub(in crate::store) async fn part(&mut self) -> Result<Option<Part>, Error> {
        loop {
            if let Some(part) = self.part_buffer.full() {
                return Ok(Some(part));
            }
            let Some(body) = &mut self.body else { return Ok(self.part_buffer.rest()) };
            match body.next().await {
                Some(Ok(piece)) => self.take(piece)?,
                Some(Err(error)) => return Err(error),
                None => self.end()?,
            }
        }
    }

    /// Whether all parts were returned.
    pub(in crate::store) fn is_done(&self) -> bool {
        self.body.is_none() && self.part_buffer.is_empty()
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        self.taken += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        match self.length {
            Some(length) if self.taken > length => Err(wrong_length(length, "is longer")),
            _ => {
                self.part_buffer.push(piece);
                Ok(())
            }
        }
    }

    fn end(&mut self) -> Result<(), Error> {
        self.body = None;
        match self.length {
            Some(length) if self.taken < length => {
                Err(wrong_length(length, &format!("ends after {}", self.taken)))
            }
            _ => Ok(()),
        }
    }
}

fn whole(bytes: Bytes) -> ByteStream {
    stream::iter([Ok(bytes)]).boxed()
}

fn wrong_length(length: u64, what: &str) -> Error {
    Error::new(ErrorKind::Source, format!("the body should have {length} bytes, but {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(pieces: &'static [&'static [u8]], length: Option<u64>) -> Source {
        let body = stream::iter(pieces.iter().map(|piece| Ok(Bytes::from_static(piece)))).boxed();
        Source::new(UploadBody::Stream(body), length, 4)
    }

    #[tokio::test]
    async fn source_is_done_after_a_body_of_one_part() {
        let mut source = source(&[b"ab", b"cd"], None);
        assert_eq!(source.part().await.unwrap().unwrap().length(), 4);
        assert!(source.is_done());
    }

    #[tokio::test]
    async fn source_is_not_done_if_one_byte_is_left() {
        let mut source = source(&[b"abcde"], None);
        assert_eq!(source.part().await.unwrap().unwrap().length(), 4);
        assert!(!source.is_done());
        assert_eq!(source.part().await.unwrap().unwrap().length(), 1);
        assert!(source.part().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn body_of_another_length_than_declared_is_an_error() {
        for (length, says) in [(2, "is longer"), (4, "ends after 3")] {
            let error = source(&[b"abc"], Some(length)).part().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Source);
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[tokio::test]
    async fn parts_grow_so_that_at_most_10_000_are_needed() {
        let mut source = source(&[b"abcdefghijk"], Some(11));
        assert_eq!(source.part().await.unwrap().unwrap().length(), 4);
        let length = u64::from(MAX_PARTS) * 5;
        assert_eq!(Source::new(UploadBody::Bytes(Bytes::new()), Some(length), 4).part_buffer.size(), 5);
    }
}
