//! Checks a payload while it is sent or received.

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use sha2::{Digest as _, Sha256};

use super::Pieces;
use super::utf8::Utf8;
use crate::digest::hex;
use crate::error::{Error, ErrorKind};

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
pub(crate) type Listener = Box<dyn FnMut(Progress) + Send>;

/// What to do with the hash of a payload.
pub(super) enum Hash {
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
pub(super) struct Checks {
    pub(super) length: Option<u64>,
    /// The kind of the error for a wrong length.
    pub(super) wrong_length: ErrorKind,
    pub(super) limit: u64,
    pub(super) utf8: Option<Utf8>,
    pub(super) hash: Hash,
    pub(super) listener: Option<Listener>,
    pub(super) taken: u64,
}

impl Checks {
    pub(super) fn new(length: Option<u64>, limit: u64, is_binary: bool) -> Self {
        let utf8 = (!is_binary).then(Utf8::default);
        let wrong_length = ErrorKind::Damaged;
        Self { length, wrong_length, limit, utf8, hash: Hash::Skipped, listener: None, taken: 0 }
    }

    /// The check before the first piece.
    pub(super) fn begin(&self) -> Result<(), Error> {
        if let Some(length) = self.length.filter(|length| *length > self.limit) {
            let text = format!("the payload has {length} bytes; at most {} are allowed", self.limit);
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        Ok(())
    }

    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), Error> {
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
    pub(super) fn end(&mut self) -> Result<Option<String>, Error> {
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

pub(super) fn not_text(at: u64) -> Error {
    let text = format!("the payload is not UTF-8 at byte {at}; binary() allows other bytes");
    Error::new(ErrorKind::NotText, text)
}

/// Returns the same pieces, checked. The stream ends after an error. `ended` is called after the last piece, with the
/// length and the hash.
pub(super) fn checked(
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
