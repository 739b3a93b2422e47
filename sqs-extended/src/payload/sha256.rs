//! Hashes of whole payloads.

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::{PayloadError, PayloadErrorKind};
pub(super) use crate::digest::{SHA256_METADATA as METADATA, hex};

/// Other tasks have their turn after so many bytes.
const STEP: usize = 256 << 10;

pub(super) async fn of(bytes: &Bytes) -> String {
    let mut hash = Sha256::new();
    for step in bytes.chunks(STEP) {
        hash.update(step);
        tokio::task::yield_now().await;
    }
    hex(&hash.finalize())
}

pub(super) fn compare(is: &str, expected: &str) -> Result<(), PayloadError> {
    if is.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let says = format!("the payload has the SHA-256 {is}, and its metadata says {expected}");
    Err(PayloadError::new(PayloadErrorKind::Damaged, says))
}
