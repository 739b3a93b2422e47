//! Hashes of payloads.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use sqs_client::wire::checksum::{Md5Hex, md5_of_body};

/// The metadata of an object that holds the SHA-256 of its payload, 64 lower-case hex digits.
pub(crate) const SHA256_METADATA: &str = "sha256";

/// Hashing more than so many bytes takes so long that it does not belong on a thread that serves other tasks.
const SHORT: usize = 1 << 20;

/// The hashes of a payload.
pub(crate) struct Digests {
    /// 64 lower-case hex digits.
    pub(crate) sha256: String,
    pub(crate) md5: Md5Hex,
}

impl Digests {
    /// Of a text, whose bytes these are.
    pub(crate) async fn of(text: &Bytes) -> Self {
        if text.len() <= SHORT {
            return Self::at_once(text);
        }
        let bytes = text.clone();
        let elsewhere = tokio::task::spawn_blocking(move || Self::at_once(&bytes)).await;
        // It cannot panic, and it is not aborted unless the runtime ends; then nobody waits for this.
        elsewhere.unwrap_or_else(|_| Self::at_once(text))
    }

    fn at_once(text: &[u8]) -> Self {
        Self { sha256: sha256(text), md5: md5_of_body(std::str::from_utf8(text).unwrap_or_default()) }
    }
}

/// The MD5 of a text, and the text again.
pub(crate) async fn md5_of(text: String) -> (String, Md5Hex) {
    if text.len() <= SHORT {
        let md5 = md5_of_body(&text);
        return (text, md5);
    }
    let text = Arc::new(text);
    let shared = Arc::clone(&text);
    let elsewhere = tokio::task::spawn_blocking(move || md5_of_body(&shared)).await;
    // As above; the task has let go of the text, so that it is not copied.
    let md5 = elsewhere.unwrap_or_else(|_| md5_of_body(&text));
    (Arc::unwrap_or_clone(text), md5)
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A hash as 64 lower-case hex digits.
pub(crate) fn hex(hash: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in hash {
        // Writing into a text cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_texts_are_hashed_as_short_ones_are() {
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
        assert_eq!(text.as_ptr(), at, "not copied");
    }
}
