//! Hashes of payloads.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use sqs_client::wire::checksum::{Md5Hex, md5_of_body};

/// Hashing longer texts would block a thread of the runtime.
const SHORT: usize = 1 << 20;

/// The hashes of a payload.
pub(crate) struct Digests {
    /// In hex.
    pub(crate) sha256: String,
    pub(crate) md5: Md5Hex,
}

impl Digests {
    /// Hashes a text.
    pub(crate) async fn of(text: &Bytes) -> Self {
        if text.len() <= SHORT {
            return Self::at_once(text);
        }
        let bytes = text.clone();
        let elsewhere = tokio::task::spawn_blocking(move || Self::at_once(&bytes)).await;
        // The task fails only if the runtime ends.
        elsewhere.unwrap_or_else(|_| Self::at_once(text))
    }

    fn at_once(text: &[u8]) -> Self {
        let sha256 = hex(&Sha256::digest(text));
        Self { sha256, md5: md5_of_body(std::str::from_utf8(text).unwrap_or_default()) }
    }
}

/// The MD5 of a text, and the text.
pub(crate) async fn md5_of(text: String) -> (String, Md5Hex) {
    if text.len() <= SHORT {
        let md5 = md5_of_body(&text);
        return (text, md5);
    }
    let text = Arc::new(text);
    let shared = Arc::clone(&text);
    let elsewhere = tokio::task::spawn_blocking(move || md5_of_body(&shared)).await;
    let md5 = elsewhere.unwrap_or_else(|_| md5_of_body(&text));
    // The task has dropped its reference, so this does not copy.
    (Arc::unwrap_or_clone(text), md5)
}

/// A hash as 64 lower-case hex digits.
pub(crate) fn hex(hash: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in hash {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_texts_are_hashed_like_short_ones_and_are_not_copied() {
        let short = Digests::of(&Bytes::from_static(b"abc")).await;
        assert_eq!(short.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(short.md5.as_str(), "900150983cd24fb0d6963f7d28e17f72");
        let long = Bytes::from(vec![b'a'; SHORT + 1]);
        let (sums, expected) = (Digests::of(&long).await, Digests::at_once(&long));
        assert_eq!((&sums.sha256, &sums.md5), (&expected.sha256, &expected.md5));
        let text = String::from_utf8(long.to_vec()).unwrap();
        let at = text.as_ptr();
        let (text, md5) = md5_of(text).await;
        assert_eq!((text.as_bytes(), md5), (&*long, expected.md5));
        assert_eq!(text.as_ptr(), at);
    }
}
