//! Reads an object in ranges, several at a time: one connection to S3 is slower than the network.
//!
//! ```text
//! current (piece by piece) <- ahead: tasks, one range each, at most `at_once` with a current one that is still read, in order <- ranges
//! ```

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use sqs_client::random;
use tokio_util::task::AbortOnDropHandle;

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::payload::Pieces;
use crate::store::{Bounded, ByteStream, Object};

/// How an object is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) range: u64,
    pub(crate) at_once: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self { range: 8 << 20, at_once: 4 }
    }
}

/// Opens an object with a request for its first range.
pub(crate) async fn open(store: &Bounded, at: &Pointer, is_empty: bool, plan: Plan) -> Result<Object, Error> {
    // An empty object has no byte that a range could select.
    if is_empty || plan.at_once <= 1 {
        return store.get(at, None, None).await;
    }
    let object = store.get(at, Some(0..plan.range), None).await?;
    if object.tag.is_none() && object.length > plan.range {
        // Without a tag, later ranges could be of another version.
        return store.get(at, None, None).await;
    }
    Ok(object)
}

/// The bytes of an opened object: all of one version, or an error at the end.
pub(crate) fn pieces(store: Bounded, at: Pointer, object: Object, plan: Plan) -> Pieces {
    let Object { length, tag, body, .. } = object;
    let is_whole = plan.at_once <= 1 || tag.is_none();
    let first = if is_whole { length } else { length.min(plan.range) };
    let version = Arc::new(Version { store, at, tag, length });
    let current = Current::Reading(Reading::new(Arc::clone(&version), 0..first, Some(body)));
    let ranges = Ranges { version, plan, next: first, current, ahead: VecDeque::new() };
    stream::try_unfold(ranges, |mut ranges| async { Ok(ranges.next().await?.map(|piece| (piece, ranges))) })
        .boxed()
}

struct Ranges {
    version: Arc<Version>,
    plan: Plan,
    /// Where the next range begins.
    next: u64,
    current: Current,
    ahead: VecDeque<AbortOnDropHandle<Result<Vec<Bytes>, Error>>>,
}

enum Current {
    Reading(Reading),
    Read(std::vec::IntoIter<Bytes>),
}

impl Ranges {
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            self.read_ahead();
            let piece = match &mut self.current {
                Current::Reading(reading) => reading.next().await?,
                Current::Read(pieces) => pieces.next(),
            };
            if piece.is_some() {
                return Ok(piece);
            }
            let Some(task) = self.ahead.front_mut() else { return Ok(None) };
            let pieces = task.await.map_err(|error| {
                Error::new(ErrorKind::Unavailable, format!("a task of the download ended: {error}"))
            });
            self.ahead.pop_front();
            self.current = Current::Read(pieces??.into_iter());
        }
    }

    fn read_ahead(&mut self) {
        // A range that is in memory already needs no request.
        let current = usize::from(matches!(self.current, Current::Reading(_)));
        while self.ahead.len() + current < self.plan.at_once
            && let Some(range) = self.take_range()
        {
            let reading = Reading::new(Arc::clone(&self.version), range, None);
            self.ahead.push_back(AbortOnDropHandle::new(tokio::spawn(reading.all())));
        }
    }

    fn take_range(&mut self) -> Option<Range<u64>> {
        let end = self.version.length.min(self.next.saturating_add(self.plan.range));
        let range = std::mem::replace(&mut self.next, end)..end;
        (!range.is_empty()).then_some(range)
    }
}

/// Attempts in a row to resume a read.
const ATTEMPTS: u32 = 5;

/// After this many bytes, the count of attempts starts again.
const PROGRESS: u64 = 1 << 20;

const FIRST_PAUSE: Duration = Duration::from_millis(100);

const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Whether and when to resume. Pure.
#[derive(Debug, Default)]
struct Resumptions {
    in_a_row: u32,
    since: u64,
}

impl Resumptions {
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
pub(crate) struct Version {
    pub(crate) store: Bounded,
    pub(crate) at: Pointer,
    tag: Option<String>,
    pub(crate) length: u64,
}

impl Version {
    fn wrong(&self, kind: ErrorKind, says: &str) -> Error {
        Error::new(kind, format!("reading {}: {says}", self.at))
    }
}

/// A range of an object.
pub(crate) struct Reading {
    version: Arc<Version>,
    left: Range<u64>,
    body: Option<ByteStream>,
    attempts: Resumptions,
}

impl Reading {
    /// `body` is the part of the range that is already open.
    pub(crate) fn new(version: Arc<Version>, range: Range<u64>, body: Option<ByteStream>) -> Self {
        let attempts = Resumptions { since: range.start, in_a_row: 0 };
        Self { version, left: range, body, attempts }
    }

    /// Reads the rest of the range.
    async fn all(mut self) -> Result<Vec<Bytes>, Error> {
        let mut pieces = Vec::new();
        while let Some(piece) = self.next().await? {
            pieces.push(piece);
        }
        Ok(pieces)
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
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
        let mut attempts = Resumptions::default();
        let pauses: Vec<_> =
            std::iter::from_fn(|| attempts.pause(7, 1.0)).map(|pause| pause.as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1_600]);
        assert_eq!(attempts.pause(7, 1.0), None);
    }

    #[test]
    fn only_enough_progress_renews_the_attempts() {
        let mut attempts = Resumptions::default();
        assert!((1..=5).all(|position| attempts.pause(position, 0.0).is_some()));
        assert_eq!(attempts.pause(PROGRESS - 1, 0.0), None);
        assert_eq!(attempts.pause(PROGRESS, 1.0), Some(FIRST_PAUSE));
    }

    #[test]
    fn random_factor_shortens_pauses() {
        assert_eq!(Resumptions::default().pause(0, 0.25), Some(Duration::from_millis(25)));
    }
}
