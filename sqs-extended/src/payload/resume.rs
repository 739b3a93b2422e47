//! Bytes of an object, begun again where they broke off.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};

use super::{PayloadError, Pieces};
use crate::pointer::Pointer;
use crate::random;
use crate::store::{ByteStream, Object, PayloadStore, StoreError, StoreErrorKind};

/// How often in a row it is begun again.
const ATTEMPTS: u32 = 5;
/// So many bytes since the last time are a success: the count begins anew.
const PROGRESS: u64 = 1 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Whether and when to try again. Pure.
#[derive(Debug, Default)]
struct Attempts {
    in_a_row: u32,
    since: u64,
}

impl Attempts {
    /// After an interruption at byte `position`; `random` is from 0 to 1. `None` is to give up.
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

/// An object that is being read.
struct Reading<S> {
    store: S,
    at: Pointer,
    tag: Option<String>,
    length: u64,
    position: u64,
    body: Option<ByteStream>,
    attempts: Attempts,
}

/// The bytes of an object: all of them and of one version, or an error at the end.
pub(super) fn pieces<S: PayloadStore>(store: S, at: Pointer, object: Object) -> Pieces {
    let Object { length, tag, body, .. } = object;
    let attempts = Attempts::default();
    let reading = Reading { store, at, tag, length, position: 0, body: Some(body), attempts };
    stream::try_unfold(reading, |mut reading| async {
        Ok(reading.next().await?.map(|piece| (piece, reading)))
    })
    .map(|piece: Result<Bytes, StoreError>| piece.map_err(PayloadError::from))
    .boxed()
}

impl<S: PayloadStore> Reading<S> {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        loop {
            match self.attempt().await {
                Err(error) if self.may_resume(&error) => {
                    self.body = None;
                    let Some(pause) = self.attempts.pause(self.position, random::unit()) else {
                        return Err(error);
                    };
                    tokio::time::sleep(pause).await;
                }
                result => return result,
            }
        }
    }

    /// Without a tag the rest could be of another version; after the last byte it is the bytes that are wrong.
    fn may_resume(&self, error: &StoreError) -> bool {
        error.is_retryable() && self.tag.is_some() && self.position < self.length
    }

    async fn attempt(&mut self) -> Result<Option<Bytes>, StoreError> {
        if self.body.is_none() {
            let object = self.store.get(&self.at, self.position, self.tag.as_deref()).await?;
            if object.length != self.length || object.tag != self.tag {
                return Err(self.wrong(StoreErrorKind::Changed, "it has been overwritten while it was read"));
            }
            self.body = Some(object.body);
        }
        let Some(body) = &mut self.body else { return Ok(None) };
        match body.next().await {
            Some(piece) => self.take(piece?).map(Some),
            None if self.position == self.length => Ok(None),
            None => {
                let says = format!("it ended after {} of {} bytes", self.position, self.length);
                Err(self.wrong(StoreErrorKind::Interrupted, &says))
            }
        }
    }

    fn take(&mut self, piece: Bytes) -> Result<Bytes, StoreError> {
        self.position += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        if self.position > self.length {
            let says = format!("it goes on after its {} bytes", self.length);
            return Err(self.wrong(StoreErrorKind::Changed, &says));
        }
        Ok(piece)
    }

    fn wrong(&self, kind: StoreErrorKind, says: &str) -> StoreError {
        StoreError::new(kind, format!("reading s3://{}/{}: {says}", self.at.bucket(), self.at.key()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let mut attempts = Attempts::default();
        let pauses: Vec<_> =
            std::iter::from_fn(|| attempts.pause(7, 1.0)).map(|pause| pause.as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1_600]);
        assert_eq!(attempts.pause(7, 1.0), None);
    }

    #[test]
    fn progress_gives_new_attempts_and_a_trickle_does_not() {
        let mut attempts = Attempts::default();
        assert!((1..=5).all(|position| attempts.pause(position, 0.0).is_some()));
        assert_eq!(attempts.pause(PROGRESS - 1, 0.0), None);
        assert_eq!(attempts.pause(PROGRESS, 1.0), Some(FIRST_PAUSE));
    }

    #[test]
    fn chance_shortens_pauses() {
        assert_eq!(Attempts::default().pause(0, 0.25), Some(Duration::from_millis(25)));
    }
}
