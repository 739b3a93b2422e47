//! A payload as a whole in memory.

use std::collections::TryReserveError;

use super::{PayloadError, PayloadErrorKind};

/// Bytes that are gathered, `length` in all. There is never room for more.
#[derive(Debug)]
pub(super) struct Whole {
    bytes: Vec<u8>,
    length: usize,
}

impl Whole {
    /// With room for the first `sure` bytes, whose number nobody alone has made up.
    pub(super) fn new(length: u64, sure: u64) -> Result<Self, PayloadError> {
        let [length, sure] = [length, sure.min(length)].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let mut whole = Self { bytes: Vec::new(), length };
        whole.reserve(sure)?;
        Ok(whole)
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<(), PayloadError> {
        let needed = self.bytes.len().saturating_add(piece.len());
        if needed > self.bytes.capacity() {
            // Doubled, so that what has come is seldom copied.
            self.reserve(needed.max(self.bytes.capacity().saturating_mul(2).min(self.length)))?;
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Makes room for so many bytes in all.
    fn reserve(&mut self, bytes: usize) -> Result<(), PayloadError> {
        let more = bytes.saturating_sub(self.bytes.len());
        self.bytes.try_reserve_exact(more).map_err(|error| no_memory(self.length, error))
    }
}

fn no_memory(length: usize, error: TryReserveError) -> PayloadError {
    let says = format!("there is no memory for the {length} bytes of the payload");
    PayloadError::caused_by(PayloadErrorKind::TooLarge, says, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sure_gets_exactly_its_room() {
        for (length, sure, room) in [(10_000, 10_000, 10_000), (10_000, 1, 1), (1, 10_000, 1), (0, 0, 0)] {
            assert_eq!(Whole::new(length, sure).unwrap().bytes.capacity(), room);
        }
    }

    #[test]
    fn room_grows_with_what_comes_and_never_beyond_the_length() {
        let mut whole = Whole::new(1_000_000, 4).unwrap();
        for count in 1..=1_000 {
            whole.push(&[7; 1_000]).unwrap();
            assert!(whole.bytes.capacity() <= (count * 2_000).min(1_000_000));
        }
        assert_eq!(whole.into_bytes(), vec![7; 1_000_000]);
    }

    #[test]
    fn more_than_there_is_memory_for_is_an_error() {
        let error = Whole::new(u64::MAX, u64::MAX).unwrap_err();
        assert_eq!(error.kind(), PayloadErrorKind::TooLarge);
        assert!(error.to_string().contains("no memory for the"), "{error}");
    }
}
