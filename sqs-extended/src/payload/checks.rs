//! Checks a payload while it is sent or received.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use sha2::{Digest as _, Sha256};
use sqs_client::wire::checksum::{Md5Hex, md5_of_body};

use crate::error::{Error, ErrorKind};
use crate::payload::Pieces;

/// The progress of a payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes so far: read from the source while sending, returned while receiving.
    pub bytes: u64,
    /// The length of the payload, if it is known.
    pub total: Option<u64>,
}

/// A progress callback.
pub(crate) type ProgressListener = Box<dyn FnMut(Progress) + Send>;

/// What to do with the hash of a payload.
pub(crate) enum Hash {
    Skipped,
    /// Compute it, to send it to the receiver.
    Computed(Sha256),
    /// Compare it with this one, in hex.
    Verified(Sha256, String),
}

impl Hash {
    fn update(&mut self, piece: &[u8]) {
        if let Self::Computed(hash) | Self::Verified(hash, _) = self {
            hash.update(piece);
        }
    }
}

/// Counts bytes and checks pieces.
pub(crate) struct Checks {
    pub(crate) length: Option<u64>,
    /// The kind of the error for a wrong length.
    pub(crate) wrong_length: ErrorKind,
    pub(crate) limit: u64,
    utf8: Option<Utf8>,
    pub(crate) hash: Hash,
    pub(crate) listener: Option<ProgressListener>,
    taken: u64,
}

impl Checks {
    pub(crate) fn new(length: Option<u64>, limit: u64, is_binary: bool) -> Self {
        let utf8 = (!is_binary).then(Utf8::default);
        let wrong_length = ErrorKind::Damaged;
        Self { length, wrong_length, limit, utf8, hash: Hash::Skipped, listener: None, taken: 0 }
    }

    /// The check before the first piece.
    pub(crate) fn begin(&self) -> Result<(), Error> {
        if let Some(length) = self.length.filter(|length| *length > self.limit) {
            let text = format!("the payload has {length} bytes; at most {} are allowed", self.limit);
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        Ok(())
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.taken += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        if let Some(length) = self.length.filter(|length| self.taken > *length) {
            let text = format!("the payload has more than the expected {length} bytes");
            return Err(Error::new(self.wrong_length, text));
        }
        if self.taken > self.limit {
            let text = format!("the payload has more than the allowed {} bytes", self.limit);
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        if let Some(utf8) = &mut self.utf8 {
            utf8.push(piece).map_err(not_text)?;
        }
        self.hash.update(piece);
        if let Some(listener) = &mut self.listener {
            listener(Progress { bytes: self.taken, total: self.length });
        }
        Ok(())
    }

    /// The checks after the last piece. Returns the hash in hex, if it was computed for the receiver.
    fn end(&mut self) -> Result<Option<String>, Error> {
        if let Some(length) = self.length.filter(|length| self.taken < *length) {
            let text = format!("the payload ends after {} of {length} bytes", self.taken);
            return Err(Error::new(self.wrong_length, text));
        }
        if let Some(utf8) = &self.utf8 {
            utf8.end().map_err(not_text)?;
        }
        match std::mem::replace(&mut self.hash, Hash::Skipped) {
            Hash::Skipped => Ok(None),
            Hash::Computed(hash) => Ok(Some(hex(&hash.finalize()))),
            Hash::Verified(hash, expected) => {
                let is = hex(&hash.finalize());
                if is.eq_ignore_ascii_case(&expected) {
                    return Ok(None);
                }
                let text = format!("the SHA-256 of the payload is {is}; expected is {expected}");
                Err(Error::new(ErrorKind::Damaged, text))
            }
        }
    }
}

pub(crate) fn not_text(at: u64) -> Error {
    let text = format!("the payload is not UTF-8 at byte {at}; binary() allows other bytes");
    Error::new(ErrorKind::NotText, text)
}

/// Returns the same pieces, checked. The stream ends after an error. `ended` is called after the last piece, with the
/// length and the hash.
pub(crate) fn checked(
    pieces: Pieces,
    checks: Checks,
    ended: impl FnOnce(u64, Option<String>) + Send + 'static,
) -> Pieces {
    stream::unfold(Some((pieces, checks, ended)), |state| async {
        let (mut pieces, mut checks, ended) = state?;
        let result: Result<Bytes, Error> = match pieces.next().await {
            Some(Ok(piece)) => checks.take(&piece).map(|()| piece),
            Some(Err(error)) => Err(error),
            None => match checks.end() {
                Ok(hash) => {
                    ended(checks.taken, hash);
                    return None;
                }
                Err(error) => Err(error),
            },
        };
        let next = result.is_ok().then_some((pieces, checks, ended));
        Some((result, next))
    })
    .boxed()
}

/// Checks pieces in order. A character may span two pieces.
#[derive(Debug, Default)]
pub(crate) struct Utf8 {
    /// The start of an incomplete character.
    cut: Vec<u8>,
    /// The offset of `cut`, or of the next piece.
    at: u64,
}

impl Utf8 {
    /// Takes the next piece. The error is the offset of the first byte that is not UTF-8.
    fn push(&mut self, mut piece: &[u8]) -> Result<(), u64> {
        while !self.cut.is_empty() {
            let Some((byte, rest)) = piece.split_first() else { return Ok(()) };
            self.cut.push(*byte);
            piece = rest;
            match std::str::from_utf8(&self.cut) {
                Ok(_) => {
                    self.at += length(&self.cut);
                    self.cut.clear();
                }
                Err(error) if error.error_len().is_some() => return Err(self.at),
                Err(_) => {}
            }
        }
        let Err(error) = std::str::from_utf8(piece) else {
            self.at += length(piece);
            return Ok(());
        };
        let (valid, rest) = piece.split_at_checked(error.valid_up_to()).unwrap_or((piece, &[]));
        self.at += length(valid);
        if error.error_len().is_some() {
            return Err(self.at);
        }
        self.cut.extend_from_slice(rest);
        Ok(())
    }

    /// The check after the last piece: the last character must be complete.
    fn end(&self) -> Result<(), u64> {
        if self.cut.is_empty() { Ok(()) } else { Err(self.at) }
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Hashing longer texts would block a thread of the runtime.
const HASHED_AT_ONCE: usize = 1 << 20;

/// The hashes of a payload.
pub(crate) struct Digests {
    /// In hex.
    pub(crate) sha256: String,
    pub(crate) md5: Md5Hex,
}

impl Digests {
    /// Hashes a text.
    pub(crate) async fn of(text: &Bytes) -> Self {
        if text.len() <= HASHED_AT_ONCE {
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
    if text.len() <= HASHED_AT_ONCE {
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
fn hex(hash: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in hash {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod utf8_tests {
    use proptest::prelude::*;

    use super::*;

    fn in_pieces(bytes: &[u8], cuts: &[usize]) -> Result<(), u64> {
        let mut utf8 = Utf8::default();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        for pair in cuts.windows(2) {
            utf8.push(&bytes[pair[0]..pair[1]])?;
        }
        utf8.end()
    }

    #[test]
    fn error_offset_is_the_start_of_the_character() {
        for (bytes, at) in [
            (&b"ab\xff"[..], 2),
            (b"\xc3\xa4\xc3", 2),
            (b"a\xf0\x9f\x98", 1),
            (b"\xf0\x9f\x98x", 0),
            (b"\xed\xa0\x80", 0),
        ] {
            for cut in 0..=bytes.len() {
                assert_eq!(in_pieces(bytes, &[cut]), Err(at), "{bytes:?} cut at {cut}");
            }
            assert_eq!(in_pieces(bytes, &(0..bytes.len()).collect::<Vec<_>>()), Err(at), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn valid_text_is_valid_wherever_it_is_cut(
            text in "\\PC{0,40}",
            cuts in prop::collection::vec(0_usize..200, 0..20),
        ) {
            prop_assert_eq!(in_pieces(text.as_bytes(), &cuts), Ok(()));
        }

        #[test]
        fn pieces_have_the_same_result_as_the_whole(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xc3), Just(0x9f), Just(0xf0)], 0..40),
            cuts in prop::collection::vec(0_usize..200, 0..20),
        ) {
            let whole = std::str::from_utf8(&bytes).map(drop).map_err(|error| error.valid_up_to() as u64);
            prop_assert_eq!(in_pieces(&bytes, &cuts), whole);
        }
    }
}

#[cfg(test)]
mod digest_tests {
    use super::*;

    #[tokio::test]
    async fn long_texts_are_hashed_like_short_ones_and_are_not_copied() {
        let short = Digests::of(&Bytes::from_static(b"abc")).await;
        assert_eq!(short.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(short.md5.as_str(), "900150983cd24fb0d6963f7d28e17f72");
        let long = Bytes::from(vec![b'a'; HASHED_AT_ONCE + 1]);
        let (sums, expected) = (Digests::of(&long).await, Digests::at_once(&long));
        assert_eq!((&sums.sha256, &sums.md5), (&expected.sha256, &expected.md5));
        let text = String::from_utf8(long.to_vec()).unwrap();
        let at = text.as_ptr();
        let (text, md5) = md5_of(text).await;
        assert_eq!((text.as_bytes(), md5), (&*long, expected.md5));
        assert_eq!(text.as_ptr(), at);
    }
}
