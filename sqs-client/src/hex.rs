//! Lower-case hex digits of hashes.

/// Writes two digits for each byte.
pub(crate) fn encode(bytes: &[u8], digits: &mut [u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
}

/// The digits of a SHA-256.
pub(crate) fn of_sha256(hash: &[u8]) -> String {
    let mut digits = vec![0; 64];
    encode(hash, &mut digits);
    String::from_utf8(digits).unwrap_or_default()
}
