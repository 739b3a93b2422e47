//! A queue as its callers share it: the state behind a lock, and those who wait for its messages.
//!
//! ```text
//! operation -> lock -> queue.something(now) -> wakeups -> unlock -> wake
//!                                                |  receivable: one parked receive for each, the longest parked first
//!                                                |  sooner: the watcher, which alone waits for moments of the queue
//! ```
//! Nobody holds the lock of a queue while waiting for anything, a second queue included.

use std::sync::Arc;

use parking_lot::Mutex;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::QueueRules;
use tokio::sync::Notify;

use super::Context;
use super::seats::Seat;
use super::watch::Watchers;
use crate::service::arn::QueueArn;
use crate::sqs::engine::{Attributes, Dropped, Queue, Wakeups};

/// How many parked receives one operation wakes; each that finds more than it takes wakes the next.
const WOKEN_AT_ONCE: usize = 16;

/// A queue and its waiting room.
#[derive(Debug)]
pub(super) struct SharedQueue {
    arn: Arc<QueueArn>,
    queue: Mutex<Queue>,
    /// Parked receives wait here, first come, first served. One that is dropped after it was woken hands on.
    pub(super) arrival: Notify,
    /// The watcher waits here for a moment that is sooner than the one it knows.
    pub(super) sooner: Notify,
    /// Held by the watcher: of all parked receives, the one that also waits for the queue's next moment. The
    /// others wait here to take its place, so that a moment wakes one receive and not all.
    pub(super) watch: tokio::sync::Mutex<()>,
    /// Tests that wait until the queue is as they want it.
    pub(super) watchers: Watchers,
    _seat: Seat,
}

impl SharedQueue {
    pub(super) fn new(queue: Queue, seat: Seat) -> Self {
        Self {
            arn: Arc::clone(queue.arn()),
            queue: Mutex::new(queue),
            arrival: Notify::new(),
            sooner: Notify::new(),
            watch: tokio::sync::Mutex::new(()),
            watchers: Watchers::default(),
            _seat: seat,
        }
    }

    pub(super) fn arn(&self) -> &Arc<QueueArn> {
        &self.arn
    }

    /// Does something with the queue and wakes those whom it concerns.
    ///
    /// # Errors
    /// `QueueDoesNotExist`, in the words of the request's protocol: the queue was deleted since it was looked up.
    pub(super) fn with<T>(
        &self,
        context: &Context,
        act: impl FnOnce(&mut Queue) -> T,
    ) -> Result<T, ServiceError> {
        self.unless_deleted(act).ok_or_else(|| context.no_such_queue())
    }

    /// As [`with`](Self::with), for what is done for no request.
    pub(super) fn unless_deleted<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> Option<T> {
        self.even_deleted(|queue| (!queue.is_deleted()).then(|| act(queue)))
    }

    /// As [`with`](Self::with), for what the queue itself refuses or lets go when it is deleted.
    pub(super) fn even_deleted<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> T {
        let result = self.locked(act);
        self.watchers.tell();
        result
    }

    /// Looks at the queue; `None` when it was deleted. Time may make messages receivable meanwhile, nothing else
    /// changes.
    pub(super) fn look<T>(&self, look: impl FnOnce(&mut Queue) -> T) -> Option<T> {
        self.locked(|queue| (!queue.is_deleted()).then(|| look(queue)))
    }

    fn locked<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> T {
        let (result, wakeups, expired) = {
            let mut queue = self.queue.lock();
            (act(&mut queue), queue.take_wakeups(), queue.take_expired())
        };
        self.wake(wakeups);
        if let Some(expired) = expired {
            let_go(expired);
        }
        result
    }

    /// Reads attributes, which concerns nobody else.
    pub(super) fn attribute<T>(&self, read: impl FnOnce(&Attributes) -> T) -> T {
        read(self.queue.lock().attributes())
    }

    /// What the rules about messages have to know.
    pub(super) fn rules(&self) -> QueueRules {
        self.attribute(|attributes| QueueRules {
            fifo: attributes.is_fifo(),
            content_based_deduplication: attributes.fifo.is_some_and(|fifo| fifo.content_based_deduplication),
            maximum_message_size: attributes.maximum_message_size,
        })
    }

    /// Ends the queue. Parked receives wake, and find it deleted.
    pub(super) fn close(&self) {
        let dropped = self.even_deleted(Queue::close);
        self.arrival.notify_waiters();
        let_go(dropped);
    }

    fn wake(&self, wakeups: Wakeups) {
        for _ in 0..wakeups.receivable.min(WOKEN_AT_ONCE) {
            self.arrival.notify_one();
        }
        if wakeups.sooner.is_some() {
            self.sooner.notify_one();
        }
    }
}

/// Drops messages, many of them on a thread where nobody waits for it.
pub(super) fn let_go(dropped: Dropped) {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) if dropped.is_large() => drop(runtime.spawn_blocking(move || drop(dropped))),
        _ => drop(dropped),
    }
}
