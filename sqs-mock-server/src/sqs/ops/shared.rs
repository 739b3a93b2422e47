//! A queue as its callers share it: the state behind a lock, and those who wait for its messages.
//!
//! ```text
//! operation -> lock -> queue.something(now) -> wakeups -> unlock -> wake
//!                                                |  receivable: one parked receive for each, the longest parked first
//!                                                |  sooner: the watcher, which alone waits for moments of the queue
//! ```
//! A holder of this lock waits for nothing and locks no other queue. It may look up whether another queue exists: those who
//! hold the locks that this takes (of [`accounts`](super::accounts)) lock no queue.

use std::sync::Arc;

use parking_lot::Mutex;
use sqs_client::wire::service_error::ServiceError;
use tokio::sync::Notify;

use super::Context;
use super::changes::{Change, ChangeReader};
use super::memory::{Memory, Share};
use super::quota::QuotaShare;
use super::watchers::Watchers;
use crate::service::arn::QueueArn;
use crate::sqs::engine::{Attributes, Dropped, Lapse, Queue, Room, Wakeups};
use crate::sqs::findings::Findings;

/// How many parked receives one operation wakes; each that finds more than it takes wakes the next.
const WOKEN_AT_ONCE: usize = 16;

/// A queue and its waiting room.
#[derive(Debug)]
pub(super) struct SharedQueue {
    arn: Arc<QueueArn>,
    /// The account of the queue, which sends most of its messages.
    owner: Arc<str>,
    state: Mutex<State>,
    /// Parked receives wait here, first come, first served. One that is dropped after it was woken hands on.
    pub(super) arrival: Notify,
    /// The watcher waits here for a moment that is sooner than the one it knows.
    pub(super) sooner: Notify,
    /// Held by the watcher: of all parked receives, the one that also waits for the queue's next moment. The
    /// others wait here to take its place, so that a moment wakes one receive and not all.
    pub(super) watch: tokio::sync::Mutex<()>,
    /// Tests that wait until the queue is as they want it.
    pub(super) watchers: Watchers,
    reader: Option<Arc<dyn ChangeReader>>,
    /// In strict mode.
    findings: Option<Arc<Findings>>,
    _quota_share: QuotaShare,
}

#[derive(Debug)]
struct State {
    queue: Queue,
    share: Share,
}

impl SharedQueue {
    pub(super) fn new(
        mut queue: Queue,
        memory: Memory,
        reader: Option<Arc<dyn ChangeReader>>,
        findings: Option<Arc<Findings>>,
        quota_share: QuotaShare,
    ) -> Self {
        pass_on(&mut queue, reader.as_deref());
        Self {
            arn: Arc::clone(queue.arn()),
            owner: (&*queue.arn().account).into(),
            state: Mutex::new(State { queue, share: Share::new(memory) }),
            arrival: Notify::new(),
            sooner: Notify::new(),
            watch: tokio::sync::Mutex::new(()),
            watchers: Watchers::default(),
            reader,
            findings,
            _quota_share: quota_share,
        }
    }

    pub(super) fn arn(&self) -> &Arc<QueueArn> {
        &self.arn
    }

    /// The sender of a message, shared by all messages of the account that owns the queue.
    pub(super) fn sender(&self, account: &str) -> Arc<str> {
        if *account == *self.owner { Arc::clone(&self.owner) } else { account.into() }
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
        self.with_room(context, |queue, _| act(queue))
    }

    /// Like [`with`](Self::with), for an action that takes memory.
    pub(super) fn with_room<T>(
        &self,
        context: &Context,
        act: impl FnOnce(&mut Queue, Room) -> T,
    ) -> Result<T, ServiceError> {
        let act = |queue: &mut Queue, room| (!queue.is_deleted()).then(|| act(queue, room));
        let result = self.locked(Some(context), act);
        self.watchers.notify();
        result.ok_or_else(|| context.no_such_queue())
    }

    /// As [`with`](Self::with), for what is done for no request.
    pub(super) fn unless_deleted<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> Option<T> {
        self.even_deleted(|queue| (!queue.is_deleted()).then(|| act(queue)))
    }

    /// As [`with`](Self::with), for what the queue itself refuses or lets go when it is deleted.
    pub(super) fn even_deleted<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> T {
        let result = self.locked(None, |queue, _| act(queue));
        self.watchers.notify();
        result
    }

    /// Looks at the queue; `None` when it was deleted. Time may make messages receivable meanwhile, nothing else
    /// changes.
    pub(super) fn look<T>(&self, look: impl FnOnce(&mut Queue) -> T) -> Option<T> {
        self.locked(None, |queue, _| (!queue.is_deleted()).then(|| look(queue)))
    }

    fn locked<T>(&self, context: Option<&Context>, act: impl FnOnce(&mut Queue, Room) -> T) -> T {
        let (result, wakeups, expired, lapses) = {
            let State { queue, share } = &mut *self.state.lock();
            let result = act(queue, share.room());
            share.set(queue.stored_bytes());
            pass_on(queue, self.reader.as_deref());
            (result, queue.take_wakeups(), queue.take_expired(), queue.take_lapses())
        };
        self.wake(wakeups);
        self.report(context, lapses);
        if let Some(expired) = expired {
            drop_in_background(expired);
        }
        result
    }

    /// Reads attributes, which concerns nobody else.
    pub(super) fn attribute<T>(&self, read: impl FnOnce(&Attributes) -> T) -> T {
        read(self.state.lock().queue.attributes())
    }

    /// Ends the queue. Parked receives wake, and find it deleted.
    pub(super) fn close(&self) {
        let dropped = self.even_deleted(Queue::close);
        self.arrival.notify_waiters();
        drop_in_background(dropped);
    }

    /// Reports messages that were not deleted in time, also in the record of the request that noticed it.
    fn report(&self, context: Option<&Context>, lapses: Vec<Lapse>) {
        let Some(findings) = &self.findings else { return };
        for Lapse { id, receives, at } in lapses {
            let finding = findings.report_undeleted(&self.arn, (id, receives), at);
            if let (Some(finding), Some(context)) = (finding, context) {
                context.trace.note_finding(finding);
            }
        }
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

/// Passes the changes of a queue on while its lock is held, which keeps their order.
fn pass_on(queue: &mut Queue, reader: Option<&dyn ChangeReader>) {
    let Some(reader) = reader else { return };
    let changes = queue.take_changes();
    if !changes.is_empty() {
        reader.read(Change::Queue(queue.id().clone(), changes));
    }
}

/// Drops messages, many of them on a thread where nobody waits for it.
pub(super) fn drop_in_background(dropped: Dropped) {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) if dropped.is_large() => drop(runtime.spawn_blocking(move || drop(dropped))),
        _ => drop(dropped),
    }
}
