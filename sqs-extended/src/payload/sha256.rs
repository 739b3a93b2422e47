//! Hashes of whole payloads.

use std::fmt::Write as _;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::{PayloadError, PayloadErrorKind};

/// The metadata of an object that holds the SHA-256 of its payload, 64 lower-case hex digits.
pub(super) const METADATA: &str = "sha256";

/// Other tasks have their turn after so many bytes.
const STEP: usize = 256 << 10;

pub(super) fn hex(hash: Sha256) -> String {
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing into a text cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

pub(super) async fn of(bytes: &Bytes) -> String {
    let mut hash = Sha256::new();
    for step in bytes.chunks(STEP) {
        hash.update(step);
        tokio::task::yield_now().await;
    }
    hex(hash)
}

pub(super) fn compare(is: &str, expected: &str) -> Result<(), PayloadError> {
    if is.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let says = format!("the payload has the SHA-256 {is}, and its metadata says {expected}");
    Err(PayloadError::new(PayloadErrorKind::Damaged, says))
}
