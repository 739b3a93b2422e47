//! A part of an object.

use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

/// Other tasks have their turn after so many bytes.
const STEP: usize = 256 << 10;

/// A part of an object, as the pieces that came. Clones share them.
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

    /// Its SHA-256. Other tasks have their turn between steps.
    pub(in crate::store) async fn sha256(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for piece in self.pieces.iter() {
            for bytes in piece.chunks(STEP) {
                hash.update(bytes);
                tokio::task::yield_now().await;
            }
        }
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn hash_covers_all_pieces() {
        let part = Part::new(vec![Bytes::from(vec![1; STEP + 1]), Bytes::from_static(b"x")]);
        assert_eq!(part.length(), STEP + 2);
        assert_eq!(part.sha256().await, <[u8; 32]>::from(Sha256::digest(part.pieces().concat())));
    }
}
