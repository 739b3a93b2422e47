//! Deletes objects that no message needs.
//!
//! ```text
//! a delete fails, or its call is dropped -> a task: delete, up to five attempts with pauses
//! ```
//! At most 10,000 objects wait. An object that is given up, also because the runtime ends, is an event; a sweep finds it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use crate::error::Error;
use crate::event::{Event, EventSink};
use crate::pointer::Pointer;
use crate::stats::Tally;
use crate::store::Bounded;

/// Deletes of a call, or in the background, at a time.
const CONCURRENCY: usize = 4;
/// Objects that may wait in the background.
const CAPACITY: usize = 10_000;
/// Attempts for each object.
const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Deletes objects, now or in the background.
#[derive(Clone, Debug)]
pub(crate) struct Cleaner {
    store: Bounded,
    tally: Arc<Tally>,
    events: EventSink,
    tasks: TaskTracker,
    room: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

impl Cleaner {
    pub(crate) fn new(store: Bounded, tally: Arc<Tally>, events: EventSink) -> Self {
        let tasks = TaskTracker::new();
        // Only the end of a closed tracker can be awaited. It still takes tasks.
        tasks.close();
        let (room, turns) = (Arc::new(Semaphore::new(CAPACITY)), Arc::new(Semaphore::new(CONCURRENCY)));
        Self { store, tally, events, tasks, room, turns }
    }

    /// Deletes objects. Failed deletes are retried in the background, also if the future is dropped.
    pub(crate) async fn delete(&self, pointers: impl IntoIterator<Item = Pointer>) {
        self.delete_all(pointers.into_iter().map(|pointer| self.guard(pointer))).await;
    }

    /// As [`delete`](Self::delete).
    pub(crate) async fn delete_all(&self, objects: impl IntoIterator<Item = UnsentObject>) {
        let objects: Vec<_> = objects.into_iter().collect();
        stream::iter(objects).for_each_concurrent(CONCURRENCY, UnsentObject::delete).await;
    }

    /// An object without a message.
    pub(crate) fn guard(&self, pointer: Pointer) -> UnsentObject {
        UnsentObject { cleaner: self.clone(), pointer: Some(pointer) }
    }

    /// Deletes an object in the background, after `attempts`.
    fn later(&self, pointer: Pointer, attempts: u32) {
        let room = Arc::clone(&self.room).try_acquire_owned();
        match (Handle::try_current(), room) {
            (Ok(runtime), Ok(room)) => {
                let waiting = Waiting { cleaner: self.clone(), pointer: Some(pointer) };
                self.tasks.spawn_on(waiting.retry(attempts, room), &runtime);
            }
            _ => self.give_up(&pointer, None),
        }
    }

    /// Whether the object is deleted or given up.
    async fn attempt(&self, pointer: &Pointer, attempts: u32) -> bool {
        let Err(error) = self.store.delete(pointer).await else {
            self.tally.objects_deleted.add(1);
            return true;
        };
        self.tally.cleanup_failed.add(1);
        let is_over = !error.is_retryable() || attempts >= ATTEMPTS;
        if is_over {
            self.give_up(pointer, Some(&error));
        } else {
            self.events.send(&Event::CleanupFailed { pointer, error: &error, attempts });
        }
        is_over
    }

    fn give_up(&self, pointer: &Pointer, error: Option<&Error>) {
        self.tally.cleanup_given_up.add(1);
        self.events.send(&Event::CleanupGivenUp { pointer, error });
    }

    /// It is unknown whether SQS has the message of an object.
    fn keep_in_doubt(&self, pointer: &Pointer) {
        self.tally.outcomes_unknown.add(1);
        self.events.send(&Event::OutcomeUnknown { pointer });
    }

    /// How many objects wait in the background.
    pub(crate) fn pending(&self) -> usize {
        self.tasks.len()
    }

    /// Waits until none does.
    pub(crate) async fn finish(&self) {
        self.tasks.wait().await;
    }
}

/// Before the first attempt there is none; then 1 s, 4 s, 16 s and 64 s, shortened by up to a half. `random` is from 0 to 1.
fn pause(attempts: u32, random: f64) -> Duration {
    let Some(exponent) = attempts.checked_sub(1) else { return Duration::ZERO };
    FIRST_PAUSE.saturating_mul(4_u32.saturating_pow(exponent)).mul_f64(1.0 - random / 2.0)
}

/// An object that waits to be deleted. It is given up on drop: its runtime ends.
struct Waiting {
    cleaner: Cleaner,
    pointer: Option<Pointer>,
}

impl Waiting {
    async fn retry(mut self, mut attempts: u32, _room: OwnedSemaphorePermit) {
        while let Some(pointer) = &self.pointer {
            sleep(pause(attempts, crate::random::unit())).await;
            let turn = self.cleaner.turns.acquire().await;
            attempts += 1;
            let is_over = self.cleaner.attempt(pointer, attempts).await;
            drop(turn);
            if is_over {
                self.pointer = None;
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

/// An object whose message is not sent. It is deleted in the background on drop.
#[derive(Debug)]
pub(crate) struct UnsentObject {
    cleaner: Cleaner,
    pointer: Option<Pointer>,
}

impl UnsentObject {
    /// Deletes it now. A failed delete is retried in the background, also if the future is dropped.
    pub(crate) async fn delete(mut self) {
        let Some(pointer) = self.pointer.clone() else { return };
        let is_over = self.cleaner.attempt(&pointer, 1).await;
        self.pointer = None;
        if !is_over {
            self.cleaner.later(pointer, 1);
        }
    }

    /// Keeps the object.
    pub(crate) fn keep(mut self) {
        self.pointer = None;
    }

    /// From here on, the message may exist.
    pub(crate) fn sent(mut self) -> SentObject {
        SentObject { cleaner: self.cleaner.clone(), pointer: self.pointer.take() }
    }
}

impl Drop for UnsentObject {
    fn drop(&mut self) {
        if let Some(pointer) = self.pointer.take() {
            self.cleaner.later(pointer, 0);
        }
    }
}

/// An object whose message may exist. On drop it is kept, and reported, since nobody knows whether SQS has the message.
#[derive(Debug)]
pub(crate) struct SentObject {
    cleaner: Cleaner,
    pointer: Option<Pointer>,
}

impl SentObject {
    /// SQS has the message.
    pub(crate) fn accepted(mut self) {
        self.pointer = None;
    }

    /// SQS does not have the message.
    pub(crate) fn refused(mut self) -> UnsentObject {
        UnsentObject { cleaner: self.cleaner.clone(), pointer: self.pointer.take() }
    }
}

impl Drop for SentObject {
    fn drop(&mut self) {
        if let Some(pointer) = &self.pointer {
            self.cleaner.keep_in_doubt(pointer);
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
    }
}
