//! Objects that nobody needs any more.
//!
//! ```text
//! a call deletes an object, and that fails ---+
//! a call is dropped that had to delete some --+--> waiting (at most 1,000) -> one task: delete, pause, again (5 times)
//! ```
//! The task lives while something waits. It ends with the runtime; a sweep finds what is left.

mod doomed;
mod waiting;

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::event::{Event, Herald};
use crate::pointer::Pointer;
use crate::stats::Tally;
use crate::store::{Bounded, PayloadStore, StoreError};

pub(crate) use doomed::Doomed;
use waiting::{Task, Waiting};

/// Deletes of one call at a time.
const CONCURRENCY: usize = 4;

/// Deletes objects, now or later.
pub(crate) struct Cleaner<S> {
    store: Bounded<S>,
    tally: Arc<Tally>,
    herald: Herald,
    /// Taken for a few instructions; nobody waits while holding it.
    waiting: Mutex<Waiting>,
    /// The task waits here for something that is due earlier than what it waits for.
    arrived: Notify,
    /// Who waits for the end of all cleaning waits here.
    emptied: Notify,
}

impl<S: PayloadStore> Cleaner<S> {
    pub(crate) fn new(store: Bounded<S>, tally: Arc<Tally>, herald: Herald) -> Arc<Self> {
        let (waiting, arrived, emptied) = <(Mutex<Waiting>, Notify, Notify)>::default();
        Arc::new(Self { store, tally, herald, waiting, arrived, emptied })
    }

    /// Deletes objects now. What fails is tried again in the background, and so is what is left when the future is dropped.
    pub(crate) async fn delete(self: &Arc<Self>, pointers: impl IntoIterator<Item = Pointer>) {
        let doomed: Vec<_> = pointers.into_iter().map(|pointer| Doomed::new(self, pointer)).collect();
        stream::iter(doomed).for_each_concurrent(CONCURRENCY, Doomed::delete).await;
    }

    /// Deletes an object in the background, soon.
    fn later(self: &Arc<Self>, pointer: Pointer) {
        let task = Task::new(pointer, Instant::now());
        if let Err(task) = self.wait(task) {
            self.give_up();
            self.herald.tell(&Event::CleanupGivenUp { pointer: &task.pointer });
        }
    }

    async fn attempt(self: &Arc<Self>, mut task: Task) {
        task.attempts += 1;
        match self.store.delete(&task.pointer).await {
            Ok(()) => self.tally.objects_deleted.add(1),
            Err(error) => self.failed(task, &error),
        }
    }

    fn failed(self: &Arc<Self>, mut task: Task, error: &StoreError) {
        self.tally.cleanup_failed.add(1);
        let retry_in = task.pause(crate::random::unit());
        let (pointer, attempts) = (task.pointer.clone(), task.attempts);
        let retry_in = retry_in.filter(|pause| {
            task.due = Instant::now() + *pause;
            self.wait(task).is_ok()
        });
        if retry_in.is_none() {
            self.give_up();
        }
        self.herald.tell(&Event::CleanupFailed { pointer: &pointer, error, attempts, retry_in });
    }

    fn give_up(&self) {
        self.tally.cleanup_given_up.add(1);
    }

    /// Gives the task back when there is no room, or nobody to do it.
    fn wait(self: &Arc<Self>, task: Task) -> Result<(), Task> {
        let Ok(runtime) = Handle::try_current() else { return Err(task) };
        self.waiting.lock().push(task)?;
        self.arrived.notify_one();
        self.work(&runtime);
        Ok(())
    }

    /// Makes sure that the task runs.
    fn work(self: &Arc<Self>, runtime: &Handle) {
        if self.waiting.lock().start() {
            let shift = Shift { cleaner: Arc::clone(self), is_over: false };
            runtime.spawn(async move {
                let mut shift = shift;
                shift.cleaner.run().await;
                shift.is_over = true;
            });
        }
    }

    async fn run(self: &Arc<Self>) {
        loop {
            let Some(due) = self.waiting.lock().next_due() else { return };
            tokio::select! {
                () = sleep_until(due) => {}
                () = self.arrived.notified() => continue,
            }
            let task = self.waiting.lock().take(Instant::now());
            if let Some(task) = task {
                self.attempt(task).await;
                self.waiting.lock().done();
            }
        }
    }

    /// How many objects are waiting, those included that are being deleted in the background.
    pub(crate) fn pending(&self) -> usize {
        self.waiting.lock().len()
    }

    /// Waits until nothing is waiting any more.
    pub(crate) async fn finish(self: &Arc<Self>) {
        loop {
            let mut emptied = std::pin::pin!(self.emptied.notified());
            // Listening starts before looking, so that no end in between is missed.
            emptied.as_mut().enable();
            if self.pending() == 0 {
                return;
            }
            self.work(&Handle::current());
            emptied.await;
        }
    }
}

/// The time during which the task runs, however it ends.
struct Shift<S> {
    cleaner: Arc<Cleaner<S>>,
    /// Whether it ended by itself, when nothing was waiting any more.
    is_over: bool,
}

impl<S> Drop for Shift<S> {
    fn drop(&mut self) {
        if !self.is_over {
            self.cleaner.waiting.lock().stop();
        }
        self.cleaner.emptied.notify_waiters();
    }
}
