//! Cuts pieces into parts. Pure.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::part::Part;

/// Shorter pieces are joined, because each piece has a cost of its own.
const SHORT: usize = 16 << 10;
/// The length of joined pieces.
const JOINED: usize = 256 << 10;

/// Buffers pieces until they fill a part. Holds at most one part after [`full`](Self::full) has returned `None`.
#[derive(Debug)]
pub(in crate::store) struct PartBuffer {
    size: usize,
    pieces: VecDeque<Bytes>,
    short: BytesMut,
    length: usize,
}

impl PartBuffer {
    pub(in crate::store) fn new(size: usize) -> Self {
        Self { size: size.max(1), pieces: VecDeque::new(), short: BytesMut::new(), length: 0 }
    }

    /// Adds a piece of any length.
    pub(in crate::store) fn push(&mut self, piece: Bytes) {
        self.length += piece.len();
        if piece.len() < SHORT {
            self.join(&piece);
        } else {
            self.end_short();
            self.pieces.push_back(piece);
        }
    }

    /// The next full part, if more bytes follow it.
    pub(in crate::store) fn full(&mut self) -> Option<Part> {
        (self.length > self.size).then(|| self.take(self.size))
    }

    /// The rest at the end: at most one part; `None` if it is empty.
    pub(in crate::store) fn rest(&mut self) -> Option<Part> {
        (self.length > 0).then(|| self.take(self.size))
    }

    pub(in crate::store) fn is_empty(&self) -> bool {
        self.length == 0
    }

    #[cfg(test)]
    pub(in crate::store) fn size(&self) -> usize {
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

#[cfg(test)]
mod tests {
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
