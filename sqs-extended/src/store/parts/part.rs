//! A part of an object.

use std::sync::Arc;

use bytes::Bytes;

/// A part of an object, as a list of pieces. Clones share them.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct Part {
    pieces: Arc<[Bytes]>,
    length: usize,
}

impl Part {
    pub(in crate::store) fn new(pieces: Vec<Bytes>) -> Self {
        Self { length: pieces.iter().map(Bytes::len).sum(), pieces: pieces.into() }
    }

    pub(in crate::store) fn pieces(&self) -> &Arc<[Bytes]> {
        &self.pieces
    }

    pub(in crate::store) fn length(&self) -> usize {
        self.length
    }
}
