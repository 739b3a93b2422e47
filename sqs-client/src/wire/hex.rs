//! Hashes as lower-case hex digits.

use sha2::{Digest as _, Sha256};

/// Writes two hex digits per byte.
pub(crate) fn encode(bytes: &[u8], digits: &mut [u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
}

/// The value of a lower-case hex digit.
pub(crate) fn value(digit: u8) -> u8 {
    if digit < b'a' { digit - b'0' } else { digit - b'a' + 10 }
}

/// SHA-256 as hex digits, without a heap allocation.
pub(crate) struct Sha256Hex([u8; 64]);

impl Sha256Hex {
    /// Hashes `bytes`.
    pub(crate) fn of(bytes: impl AsRef<[u8]>) -> Self {
        let mut digits = [0; 64];
        encode(&Sha256::digest(bytes), &mut digits);
        Self(digits)
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Display for Sha256Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
