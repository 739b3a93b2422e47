//! Deletes objects that no message needs.
//!
//! ```text
//! a message is deleted                   -> a task: delete its object, up to five attempts with pauses
//! a send fails, or its call is dropped   -> the same
//! a write fails, or its call is dropped, so that the store may still execute it -> the same, and again after a while
//! ```
//! At most 10,000 objects wait, each for a limited time, and for a turn in its bucket. If the client gives up an object, for
//! example because the runtime ends, it reports an event. A lifecycle rule deletes the object.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use sqs_client::random;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::observe::{Event, EventSink, Tally};
use crate::store::Bounded;

/// Concurrent deletes in a bucket.
const CONCURRENCY: usize = 64;

/// Objects that may wait. Beyond that, the client gives up deleting.
const CAPACITY: usize = 10_000;

/// Attempts for each object.
const ATTEMPTS: u32 = 5;

/// The pauses between all attempts take less.
const PAUSES: Duration = Duration::from_secs(90);

const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Deletes objects, now or in the background.
#[derive(Clone, Debug)]
pub(crate) struct Cleaner {
    store: Bounded,
    tally: Arc<Tally>,
    events: EventSink,
    room: Arc<Semaphore>,
    /// By bucket: one that is out of reach must not hold up the others.
    turns: Arc<HashMap<String, Semaphore>>,
}

/// The result of an attempt to delete an object.
enum Attempt {
    Deleted,
    GivenUp,
    Failed(Error),
}

impl Cleaner {
    /// For objects in these buckets.
    pub(crate) fn new(
        store: Bounded,
        buckets: &BTreeSet<String>,
        tally: Arc<Tally>,
        events: EventSink,
    ) -> Self {
        let turns = buckets.iter().map(|bucket| (bucket.clone(), Semaphore::new(CONCURRENCY)));
        let (room, turns) = (Arc::new(Semaphore::new(CAPACITY)), Arc::new(turns.collect()));
        Self { store, tally, events, room, turns }
    }

    /// Runs a task that [`finish`](Self::finish) awaits. Without a runtime, it does not run.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Ok(runtime) = Handle::try_current() {
            self.store.tasks().spawn_on(task, &runtime);
        }
    }

    fn start(&self, pointer: Pointer, is_repeated: bool, room: OwnedSemaphorePermit) {
        let waiting = Waiting { cleaner: self.clone(), pointer: Some(pointer), is_repeated, error: None };
        // Dropped without a runtime, it reports the object.
        self.spawn(waiting.run(room));
    }

    async fn attempt(&self, pointer: &Pointer, attempts: u32) -> Attempt {
        let Err(error) = self.store.delete(pointer).await else { return Attempt::Deleted };
        self.tally.cleanup_failed.add(1);
        if !error.is_retryable() || attempts >= ATTEMPTS {
            self.give_up(pointer, Some(&error));
            return Attempt::GivenUp;
        }
        self.events.send(&Event::CleanupFailed { pointer, error: &error, attempts });
        Attempt::Failed(error)
    }

    /// Gives up deleting an object.
    fn give_up(&self, pointer: &Pointer, error: Option<&Error>) {
        self.tally.cleanup_given_up.add(1);
        self.events.send(&Event::CleanupGivenUp { pointer, error });
    }

    /// How long an object may wait and be tried in all: with a turn at once, this is enough for all attempts, also if it is deleted twice.
    fn patience(&self, is_repeated: bool) -> Duration {
        let round = self.store.timeout().saturating_mul(ATTEMPTS).saturating_add(PAUSES);
        if is_repeated { round.saturating_mul(2).saturating_add(self.grace()) } else { round }
    }

    /// How long a store may take to finish a write whose call has ended.
    fn grace(&self) -> Duration {
        self.store.timeout() / 8
    }

    /// How many objects wait in the background.
    pub(crate) fn pending(&self) -> usize {
        CAPACITY - self.room.available_permits().min(CAPACITY)
    }

    /// Waits until no object waits to be deleted, dropped uploads are aborted, and all other tasks have ended.
    pub(crate) async fn finish(&self) {
        self.store.tasks().wait().await;
    }

    /// An object that is about to be written.
    pub(crate) fn new_object(&self, pointer: Pointer) -> UnneededObject {
        UnneededObject { cleaner: self.clone(), pointer: Some(pointer), is_written: false }
    }

    /// An object whose message is about to be deleted.
    pub(crate) fn object(&self, pointer: Pointer) -> UncertainObject {
        UncertainObject { cleaner: self.clone(), pointer: Some(pointer) }
    }
}

/// The pause before an attempt: none before the first, then 1 s, 4 s, 16 s and 64 s, each shortened at random by up to
/// a half. `random` is from 0 to 1.
fn pause(attempts: u32, random: f64) -> Duration {
    let Some(exponent) = attempts.checked_sub(1) else { return Duration::ZERO };
    FIRST_PAUSE.saturating_mul(4_u32.saturating_pow(exponent)).mul_f64(1.0 - random / 2.0)
}

/// An object that waits to be deleted. On drop, the client gives it up, because the runtime ends.
struct Waiting {
    cleaner: Cleaner,
    pointer: Option<Pointer>,
    /// Whether to delete the object twice, because the store may still be writing it.
    is_repeated: bool,
    /// The error of the last attempt.
    error: Option<Error>,
}

impl Waiting {
    async fn run(mut self, _room: OwnedSemaphorePermit) {
        let limit = self.cleaner.patience(self.is_repeated);
        if timeout(limit, self.delete()).await.is_err()
            && let Some(pointer) = self.pointer.take()
        {
            let late = || {
                let text = format!("deleting {pointer} did not succeed within {limit:?}");
                Error::new(ErrorKind::Unavailable, text).at(&pointer)
            };
            self.cleaner.give_up(&pointer, Some(&self.error.take().unwrap_or_else(late)));
        }
    }

    async fn delete(&mut self) {
        let mut attempts = 0;
        while let Some(pointer) = &self.pointer {
            sleep(pause(attempts, random::unit())).await;
            let turn = match self.cleaner.turns.get(pointer.bucket()) {
                Some(turns) => turns.acquire().await.ok(),
                None => None,
            };
            attempts += 1;
            let attempt = self.cleaner.attempt(pointer, attempts).await;
            drop(turn);
            match attempt {
                Attempt::Failed(error) => self.error = Some(error),
                Attempt::Deleted if self.is_repeated => {
                    (self.is_repeated, attempts, self.error) = (false, 0, None);
                    sleep(self.cleaner.grace()).await;
                }
                Attempt::Deleted => {
                    self.cleaner.tally.objects_deleted.add(1);
                    self.pointer = None;
                }
                Attempt::GivenUp => self.pointer = None,
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(pointer) = &self.pointer {
            self.cleaner.give_up(pointer, None);
        }
    }
}

/// An object without a message. It is deleted in the background on drop.
#[derive(Debug)]
pub(crate) struct UnneededObject {
    cleaner: Cleaner,
    pointer: Option<Pointer>,
    /// Whether the write has ended. Before that, a delete could overtake the write.
    is_written: bool,
}

impl UnneededObject {
    /// The write has succeeded.
    pub(crate) fn written(mut self) -> Self {
        self.is_written = true;
        self
    }

    /// Deletes the object in the background, as dropping it does.
    pub(crate) fn delete(self) {
        drop(self);
    }

    /// Tries to delete the object now. A failed delete is retried in the background, also if the future is dropped.
    pub(crate) async fn delete_now(mut self) {
        let Some(pointer) = self.pointer.clone() else { return };
        match self.cleaner.attempt(&pointer, 1).await {
            Attempt::Failed(_) => return,
            Attempt::Deleted => self.cleaner.tally.objects_deleted.add(1),
            Attempt::GivenUp => {}
        }
        self.pointer = None;
    }

    /// No object was written.
    pub(crate) fn not_written(mut self) {
        self.pointer = None;
    }

    /// The message is being sent, so it may exist from now on.
    pub(crate) fn sent(mut self) -> UncertainObject {
        UncertainObject { cleaner: self.cleaner.clone(), pointer: self.pointer.take() }
    }
}

impl Drop for UnneededObject {
    fn drop(&mut self) {
        let Some(pointer) = self.pointer.take() else { return };
        match Arc::clone(&self.cleaner.room).try_acquire_owned() {
            Ok(room) => self.cleaner.start(pointer, !self.is_written, room),
            Err(_) => self.cleaner.give_up(&pointer, None),
        }
    }
}

/// An object whose message may exist. On drop, the object is kept and reported, because it is unknown whether SQS has
/// the message.
#[derive(Debug)]
pub(crate) struct UncertainObject {
    cleaner: Cleaner,
    pointer: Option<Pointer>,
}

impl UncertainObject {
    pub(crate) fn pointer(&self) -> Option<&Pointer> {
        self.pointer.as_ref()
    }

    /// SQS has the message, so the object is kept.
    pub(crate) fn needed(mut self) {
        self.pointer = None;
    }

    /// SQS does not have the message, but the object must not be deleted.
    pub(crate) fn give_up(mut self, error: &Error) {
        if let Some(pointer) = self.pointer.take() {
            self.cleaner.give_up(&pointer, Some(error));
        }
    }

    /// SQS does not have the message, so the object is deleted.
    pub(crate) fn unneeded(mut self) -> UnneededObject {
        UnneededObject { cleaner: self.cleaner.clone(), pointer: self.pointer.take(), is_written: true }
    }
}

impl Drop for UncertainObject {
    fn drop(&mut self) {
        if let Some(pointer) = &self.pointer {
            self.cleaner.tally.outcomes_unknown.add(1);
            self.cleaner.events.send(&Event::OutcomeUnknown { pointer });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow() {
        let pauses: Vec<_> = (0..ATTEMPTS).map(|attempts| pause(attempts, 0.0).as_secs()).collect();
        assert_eq!(pauses, [0, 1, 4, 16, 64]);
        assert_eq!(pause(1, 1.0), FIRST_PAUSE / 2);
        assert!(pauses.iter().sum::<u64>() < PAUSES.as_secs());
    }
}
