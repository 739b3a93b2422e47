//! Cuts a body into parts of equal length.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};

use crate::error::{Error, ErrorKind};
use crate::store::{ByteStream, UploadBody};

/// A part of an object, as a list of pieces. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pieces: Arc<[Bytes]>,
    length: usize,
}

impl Part {
    pub(crate) fn new(pieces: Vec<Bytes>) -> Self {
        Self { length: pieces.iter().map(Bytes::len).sum(), pieces: pieces.into() }
    }

    pub(crate) fn pieces(&self) -> &Arc<[Bytes]> {
        &self.pieces
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

/// Shorter pieces are joined, because each piece has a cost of its own.
const SHORT: usize = 16 << 10;

/// The length of joined pieces.
const JOINED: usize = 256 << 10;

/// Buffers pieces until they fill a part. Holds at most one part after [`full`](Self::full) has returned `None`.
#[derive(Debug)]
pub(crate) struct PartBuffer {
    size: usize,
    pieces: VecDeque<Bytes>,
    short: BytesMut,
    length: usize,
}

impl PartBuffer {
    pub(crate) fn new(size: usize) -> Self {
        Self { size: size.max(1), pieces: VecDeque::new(), short: BytesMut::new(), length: 0 }
    }

    /// Adds a piece of any length.
    pub(crate) fn push(&mut self, piece: Bytes) {
        self.length += piece.len();
        if piece.len() < SHORT {
            self.join(&piece);
        } else {
            self.end_short();
            self.pieces.push_back(piece);
        }
    }

    /// The next full part, if more bytes follow it.
    pub(crate) fn full(&mut self) -> Option<Part> {
        (self.length > self.size).then(|| self.take(self.size))
    }

    /// The rest at the end: at most one part; `None` if it is empty.
    pub(crate) fn rest(&mut self) -> Option<Part> {
        (self.length > 0).then(|| self.take(self.size))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    #[cfg(test)]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    fn join(&mut self, piece: &Bytes) {
        if self.short.len() + piece.len() > JOINED {
            self.end_short();
        }
        if self.short.capacity() == 0 {
            self.short.reserve(JOINED.min(self.size));
        }
        self.short.extend_from_slice(piece);
    }

    fn end_short(&mut self) {
        if !self.short.is_empty() {
            self.pieces.push_back(std::mem::take(&mut self.short).freeze());
        }
    }

    fn take(&mut self, size: usize) -> Part {
        self.end_short();
        let mut pieces = Vec::with_capacity(self.pieces.len());
        let mut length = 0;
        while let Some(mut piece) = self.pieces.pop_front() {
            if length + piece.len() > size {
                let head = piece.split_to(size - length);
                self.pieces.push_front(piece);
                length = size;
                pieces.extend((!head.is_empty()).then_some(head));
                break;
            }
            length += piece.len();
            pieces.push(piece);
        }
        self.length -= length;
        Part::new(pieces)
    }
}

/// The maximum number of parts of an object.
pub(crate) const MAX_PARTS: u32 = 10_000;

/// Reads a body in parts.
pub(crate) struct Source {
    body: Option<ByteStream>,
    part_buffer: PartBuffer,
    taken: u64,
    length: Option<u64>,
}

impl Source {
    /// A body of known length has larger parts than `part_size` if it needs more than 10,000 of them.
    pub(crate) fn new(body: UploadBody, length: Option<u64>, part_size: usize) -> Self {
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
    pub(crate) async fn part(&mut self) -> Result<Option<Part>, Error> {
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
    pub(crate) fn is_done(&self) -> bool {
        self.body.is_none() && self.part_buffer.is_empty()
    }

    /// The bytes that were read so far.
    #[cfg(feature = "s3")]
    pub(crate) fn taken(&self) -> u64 {
        self.taken
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
mod part_buffer_tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(part: &Part) -> Vec<u8> {
        part.pieces().concat()
    }

    #[test]
    fn full_part_is_returned_only_if_more_bytes_follow() {
        let mut part_buffer = PartBuffer::new(4);
        part_buffer.push(Bytes::from_static(b"abcd"));
        assert!(part_buffer.full().is_none());
        part_buffer.push(Bytes::from_static(b"e"));
        assert_eq!(bytes(&part_buffer.full().unwrap()), b"abcd");
        assert_eq!(bytes(&part_buffer.rest().unwrap()), b"e");
        assert!(part_buffer.rest().is_none());
    }

    #[test]
    fn long_pieces_are_not_copied() {
        let piece = Bytes::from(vec![7; SHORT]);
        let mut part_buffer = PartBuffer::new(1 << 20);
        part_buffer.push(piece.clone());
        assert_eq!(part_buffer.rest().unwrap().pieces()[0].as_ptr(), piece.as_ptr());
    }

    #[test]
    fn short_pieces_are_joined() {
        let mut part_buffer = PartBuffer::new(1 << 20);
        for _ in 0..1 << 20 {
            part_buffer.push(Bytes::from_static(b"x"));
        }
        assert_eq!(part_buffer.rest().unwrap().pieces().len(), (1 << 20) / JOINED);
    }

    proptest! {
        #[test]
        fn parts_hold_all_bytes_in_order_and_only_the_last_may_be_short(
            lengths in prop::collection::vec(prop_oneof![0_usize..40, 16_000_usize..40_000], 0..12),
            size in prop_oneof![1_000_usize..2_000, 10_000_usize..70_000],
        ) {
            let mut part_buffer = PartBuffer::new(size);
            let mut expected = Vec::new();
            let mut parts = Vec::new();
            for (fill, length) in (1_u8..).zip(lengths) {
                expected.extend(vec![fill; length]);
                part_buffer.push(Bytes::from(vec![fill; length]));
                parts.extend(std::iter::from_fn(|| part_buffer.full()));
            }
            let last = part_buffer.rest();
            prop_assert!(part_buffer.rest().is_none());
            prop_assert!(parts.iter().all(|part| part.length() == size));
            prop_assert!(last.as_ref().is_none_or(|part| part.length() <= size && part.length() > 0));
            parts.extend(last);
            prop_assert!(parts.iter().all(|part| bytes(part).len() == part.length()));
            prop_assert_eq!(parts.iter().flat_map(bytes).collect::<Vec<_>>(), expected);
        }
    }
}

#[cfg(test)]
mod source_tests {
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
