//! Reads a range of an object, and resumes it after a failure.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::random;
use crate::store::{Bounded, ByteStream};

/// Attempts in a row to resume a read.
const ATTEMPTS: u32 = 5;
/// After this many bytes, the count of attempts starts again.
const PROGRESS: u64 = 1 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Whether and when to resume. Pure.
#[derive(Debug, Default)]
struct Attempts {
    in_a_row: u32,
    since: u64,
}

impl Attempts {
    /// The pause after an interruption at byte `position`; `None` to give up. `random` is from 0 to 1.
    fn pause(&mut self, position: u64, random: f64) -> Option<Duration> {
        if position.saturating_sub(self.since) >= PROGRESS {
            self.in_a_row = 0;
            self.since = position;
        }
        self.in_a_row += 1;
        let longest = FIRST_PAUSE.saturating_mul(1 << (self.in_a_row - 1).min(16)).min(MAX_PAUSE);
        (self.in_a_row <= ATTEMPTS).then(|| longest.mul_f64(random))
    }
}

/// One version of an object.
pub(super) struct Version {
    pub(super) store: Bounded,
    pub(super) at: Pointer,
    pub(super) tag: Option<String>,
    pub(super) length: u64,
}

impl Version {
    fn wrong(&self, kind: ErrorKind, says: &str) -> Error {
        Error::new(kind, format!("reading {}: {says}", self.at))
    }
}

/// A range of an object.
pub(super) struct Reading {
    version: Arc<Version>,
    left: Range<u64>,
    body: Option<ByteStream>,
    attempts: Attempts,
}

impl Reading {
    /// `body` is the part of the range that is already open.
    pub(super) fn new(version: Arc<Version>, range: Range<u64>, body: Option<ByteStream>) -> Self {
        let attempts = Attempts { since: range.start, in_a_row: 0 };
        Self { version, left: range, body, attempts }
    }

    /// Reads the rest of the range.
    pub(super) async fn all(mut self) -> Result<Vec<Bytes>, Error> {
        let mut pieces = Vec::new();
        while let Some(piece) = self.next().await? {
            pieces.push(piece);
        }
        Ok(pieces)
    }

    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            match self.attempt().await {
                Err(error) if self.may_resume(&error) => {
                    self.body = None;
                    let Some(pause) = self.attempts.pause(self.left.start, random::unit()) else {
                        return Err(error);
                    };
                    tokio::time::sleep(pause).await;
                }
                result => return result,
            }
        }
    }

    /// Whether to resume after this error. Without a tag, the rest could be of another version.
    fn may_resume(&self, error: &Error) -> bool {
        error.is_retryable() && self.version.tag.is_some() && !self.left.is_empty()
    }

    async fn attempt(&mut self) -> Result<Option<Bytes>, Error> {
        if self.body.is_none() && !self.left.is_empty() {
            let Version { store, at, tag, length } = &*self.version;
            let object = store.get(at, Some(self.left.clone()), tag.as_deref()).await?;
            if object.length != *length || object.tag != *tag {
                let says = "the object was overwritten";
                return Err(self.version.wrong(ErrorKind::Damaged, says));
            }
            self.body = Some(object.body);
        }
        let Some(body) = &mut self.body else { return Ok(None) };
        match body.next().await {
            Some(piece) => self.take(piece?).map(Some),
            None if self.left.is_empty() => Ok(None),
            None => {
                let says =
                    format!("the body ended after {} of {} bytes", self.left.start, self.version.length);
                Err(self.version.wrong(ErrorKind::Unavailable, &says))
            }
        }
    }

    fn take(&mut self, piece: Bytes) -> Result<Bytes, Error> {
        self.left.start += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        if self.left.start > self.left.end {
            let says = format!("it goes on after byte {}", self.left.end);
            return Err(self.version.wrong(ErrorKind::Damaged, &says));
        }
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_end_after_five_attempts() {
        let mut attempts = Attempts::default();
        let pauses: Vec<_> =
            std::iter::from_fn(|| attempts.pause(7, 1.0)).map(|pause| pause.as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1_600]);
        assert_eq!(attempts.pause(7, 1.0), None);
    }

    #[test]
    fn only_enough_progress_renews_the_attempts() {
        let mut attempts = Attempts::default();
        assert!((1..=5).all(|position| attempts.pause(position, 0.0).is_some()));
        assert_eq!(attempts.pause(PROGRESS - 1, 0.0), None);
        assert_eq!(attempts.pause(PROGRESS, 1.0), Some(FIRST_PAUSE));
    }

    #[test]
    fn random_factor_shortens_pauses() {
        assert_eq!(Attempts::default().pause(0, 0.25), Some(Duration::from_millis(25)));
    }
}
