//! What is looked at while a payload passes, in both directions.

use std::fmt;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use sha2::{Digest as _, Sha256};

use super::utf8::Utf8;
use super::{PayloadError, PayloadErrorKind, Pieces, sha256};

/// How far a payload has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes so far: read from the source while sending, given out while receiving; before compression, after
    /// decompression.
    pub bytes: u64,
    /// How many there will be, where it is known.
    pub total: Option<u64>,
}

/// Told of every piece.
pub(crate) type Listener = Box<dyn FnMut(Progress) + Send>;

/// Counts, and looks at what it is told to.
pub(super) struct Checks {
    length: Option<u64>,
    limit: u64,
    utf8: Option<Utf8>,
    /// As hex.
    pub(super) sha256: Option<(Sha256, String)>,
    listener: Option<Listener>,
    taken: u64,
}

impl Checks {
    pub(super) fn new(
        length: Option<u64>,
        limit: u64,
        utf8: Option<Utf8>,
        listener: Option<Listener>,
    ) -> Self {
        Self { length, limit, utf8, listener, sha256: None, taken: 0 }
    }

    /// What can be said before the first piece.
    pub(super) fn begin(&self) -> Result<(), PayloadError> {
        if let Some(length) = self.length.filter(|length| *length > self.limit) {
            let says = format!("the payload has {length} bytes, and at most {} are allowed", self.limit);
            return Err(PayloadError::new(PayloadErrorKind::TooLarge, says));
        }
        Ok(())
    }

    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), PayloadError> {
        self.taken += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        if let Some(length) = self.length.filter(|length| self.taken > *length) {
            let says = format!("the payload has more than the {length} bytes that it should have");
            return Err(PayloadError::new(PayloadErrorKind::Damaged, says));
        }
        if self.taken > self.limit {
            let says = format!("the payload has more than {} bytes, the most that are allowed", self.limit);
            return Err(PayloadError::new(PayloadErrorKind::TooLarge, says));
        }
        if let Some(utf8) = &mut self.utf8 {
            utf8.push(piece).map_err(not_text)?;
        }
        if let Some((hash, _)) = &mut self.sha256 {
            hash.update(piece);
        }
        if let Some(listener) = &mut self.listener {
            listener(Progress { bytes: self.taken, total: self.length });
        }
        Ok(())
    }

    /// What can be said at the end only.
    pub(super) fn end(&mut self) -> Result<(), PayloadError> {
        if let Some(length) = self.length.filter(|length| self.taken < *length) {
            let says = format!("the payload ends after {} of {length} bytes", self.taken);
            return Err(PayloadError::new(PayloadErrorKind::Damaged, says));
        }
        if let Some(utf8) = &self.utf8 {
            utf8.end().map_err(not_text)?;
        }
        match self.sha256.take() {
            Some((hash, expected)) => sha256::compare(&sha256::hex(&hash.finalize()), &expected),
            None => Ok(()),
        }
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checks")
            .field("taken", &self.taken)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

pub(super) fn not_text(at: u64) -> PayloadError {
    let says = format!("the payload is not UTF-8 at byte {at}; say that it is binary if it should not be");
    PayloadError::new(PayloadErrorKind::NotText, says)
}

/// The same pieces, each looked at before it passes. `passed` hears of the bytes so far. After an error nothing comes.
pub(super) fn checked(pieces: Pieces, checks: Checks, passed: impl Fn(u64) + Send + 'static) -> Pieces {
    stream::unfold(Some((pieces, checks, passed)), |state| async {
        let (mut pieces, mut checks, passed) = state?;
        let result: Result<Bytes, PayloadError> = match pieces.next().await {
            Some(Ok(piece)) => checks.take(&piece).map(|()| piece),
            Some(Err(error)) => Err(error),
            None => match checks.end() {
                Ok(()) => return None,
                Err(error) => Err(error),
            },
        };
        passed(checks.taken());
        let next = result.is_ok().then_some((pieces, checks, passed));
        Some((result, next))
    })
    .boxed()
}
