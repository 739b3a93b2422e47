//! A queue shared by its callers: its state behind a lock, and the receives that wait for its messages.
//!
//! ```text
//! operation -> lock -> queue.something(now) -> wakeups -> unlock -> wake
//!                                                |  receivable: one parked receive for each, the longest parked first
//!                                                |  sooner: the watcher, the only receive that waits for timers
//! ```
//! While this lock is held, nothing waits and no other queue is locked. Looking up another queue is allowed: holders of
//! the locks that it takes (of [`service`](super::service)) lock no queue.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use sqs_client::wire::service_error::ServiceError;
use tokio::sync::{Notify, OwnedSemaphorePermit};

use crate::control::arn::QueueArn;
use crate::control::clock::ClockSetting;
use crate::control::clock::Timestamp;
use crate::control::commits::Commits;
use crate::control::metrics::Gauge;
use crate::sqs::engine::Room;
use crate::sqs::engine::attributes::Attributes;
use crate::sqs::engine::change::{QueueChange, QueueId};
use crate::sqs::engine::move_task::MoveTaskChange;
use crate::sqs::engine::policy::Policy;
use crate::sqs::engine::queue::{Dropped, Lapse, Queue, Wakeups};
use crate::sqs::findings::Findings;
use crate::sqs::ops::Context;
use crate::sqs::service::{Memory, Share};

/// Maximum number of parked receives that one operation wakes. Each that leaves messages in the queue wakes the next.
const WOKEN_AT_ONCE: usize = 16;

/// A queue and its parked receives.
#[derive(Debug)]
pub(crate) struct SharedQueue {
    arn: Arc<QueueArn>,
    /// The account of the queue, which sends most of its messages.
    owner: Arc<str>,
    state: Mutex<State>,
    /// Parked receives wait here, first in, first out. One that is dropped after it was woken passes the wakeup on.
    pub(crate) arrival: Notify,
    /// The watcher waits here for a wakeup earlier than the one it knows.
    pub(crate) sooner: Notify,
    /// Held by the watcher: the one parked receive that also waits for the next change of the queue. The others wait
    /// here to replace it, so that the change wakes one receive, not all.
    pub(crate) watch: tokio::sync::Mutex<()>,
    /// Tests that wait for a state of the queue.
    pub(crate) watchers: Gauge,
    /// Notifies the watchers of each change.
    pub(crate) changed: Notify,
    reader: Option<Arc<dyn ChangeReader>>,
    /// Those of the server. The queue reports messages that were not deleted in time, in strict mode.
    findings: Arc<Findings>,
    /// Whether the queue has an access policy. Spares requests to most queues a second lock.
    has_policy: AtomicBool,
    _quota_share: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct State {
    queue: Queue,
    share: Share,
}

impl SharedQueue {
    pub(crate) fn new(
        mut queue: Queue,
        memory: Arc<Memory>,
        reader: Option<Arc<dyn ChangeReader>>,
        findings: Arc<Findings>,
        quota_share: OwnedSemaphorePermit,
    ) -> Self {
        pass_on(&mut queue, reader.as_deref());
        let has_policy = queue.attributes().policy.is_some();
        Self {
            arn: Arc::clone(queue.arn()),
            owner: (&*queue.arn().account).into(),
            state: Mutex::new(State { queue, share: Share::new(memory) }),
            arrival: Notify::new(),
            sooner: Notify::new(),
            watch: tokio::sync::Mutex::new(()),
            watchers: Gauge::default(),
            changed: Notify::new(),
            reader,
            findings,
            has_policy: has_policy.into(),
            _quota_share: quota_share,
        }
    }

    pub(crate) fn arn(&self) -> &Arc<QueueArn> {
        &self.arn
    }

    /// The sender of a message. All messages from the owner's account share one allocation.
    pub(crate) fn sender(&self, account: &str) -> Arc<str> {
        if *account == *self.owner { Arc::clone(&self.owner) } else { account.into() }
    }

    /// Runs `act` on the queue, and wakes receives and watchers.
    ///
    /// # Errors
    /// `QueueDoesNotExist`, with the text of the request's protocol, if the queue was deleted since it was looked up.
    pub(crate) fn with<T>(
        &self,
        context: &Context,
        act: impl FnOnce(&mut Queue) -> T,
    ) -> Result<T, ServiceError> {
        self.with_room(context, |queue, _| act(queue))
    }

    /// Like [`with`](Self::with), for an action that needs memory.
    pub(crate) fn with_room<T>(
        &self,
        context: &Context,
        act: impl FnOnce(&mut Queue, Room) -> T,
    ) -> Result<T, ServiceError> {
        let act = |queue: &mut Queue, room| (!queue.is_deleted()).then(|| act(queue, room));
        let result = self.locked(Some(context), act);
        self.notify_watchers();
        result.ok_or_else(|| context.no_such_queue())
    }

    /// Like [`with`](Self::with), for actions that change nothing, so watchers need not look.
    pub(crate) fn read<T>(
        &self,
        context: &Context,
        read: impl FnOnce(&mut Queue) -> T,
    ) -> Result<T, ServiceError> {
        let result = self.locked(Some(context), |queue, _| (!queue.is_deleted()).then(|| read(queue)));
        result.ok_or_else(|| context.no_such_queue())
    }

    /// Like [`with`](Self::with), for background work without a request.
    pub(crate) fn unless_deleted<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> Option<T> {
        self.with_room_unless_deleted(|queue, _| act(queue))
    }

    /// Like [`with_room`](Self::with_room), for work without a request to SQS.
    pub(crate) fn with_room_unless_deleted<T>(&self, act: impl FnOnce(&mut Queue, Room) -> T) -> Option<T> {
        let result = self.locked(None, |queue, room| (!queue.is_deleted()).then(|| act(queue, room)));
        self.notify_watchers();
        result
    }

    /// Like [`with`](Self::with), for actions that must also run on a deleted queue.
    pub(crate) fn even_deleted<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> T {
        let result = self.locked(None, |queue, _| act(queue));
        self.notify_watchers();
        result
    }

    /// Reads the queue; `None` if it was deleted. Messages can become receivable by the time; nothing else changes.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Queue) -> T) -> Option<T> {
        self.locked(None, |queue, _| (!queue.is_deleted()).then(|| look(queue)))
    }

    fn locked<T>(&self, context: Option<&Context>, act: impl FnOnce(&mut Queue, Room) -> T) -> T {
        let (result, wakeups, expired, lapses) = {
            let State { queue, share } = &mut *self.state.lock();
            let result = act(queue, share.room());
            share.set(queue.stored_bytes());
            pass_on(queue, self.reader.as_deref());
            self.has_policy.store(queue.attributes().policy.is_some(), Ordering::Relaxed);
            (result, queue.take_wakeups(), queue.take_expired(), queue.take_lapses())
        };
        self.wake(wakeups);
        self.report(context, lapses);
        if let Some(expired) = expired {
            drop_in_background(expired);
        }
        result
    }

    /// Reads attributes, without waking anyone.
    pub(crate) fn attribute<T>(&self, read: impl FnOnce(&Attributes) -> T) -> T {
        read(self.state.lock().queue.attributes())
    }

    /// The access policy.
    pub(crate) fn policy(&self) -> Option<Policy> {
        if !self.has_policy.load(Ordering::Relaxed) {
            return None;
        }
        self.attribute(|attributes| attributes.policy.clone())
    }

    /// Marks the queue as deleted. Parked receives wake and find it deleted.
    pub(crate) fn close(&self, now: Timestamp) {
        let dropped = self.even_deleted(|queue| queue.close(now));
        self.arrival.notify_waiters();
        drop_in_background(dropped);
    }

    /// Reports messages that were not deleted in time, also in the trace of the request that found them.
    fn report(&self, context: Option<&Context>, lapses: Vec<Lapse>) {
        for Lapse { id, receives, at } in lapses {
            let finding = self.findings.report_undeleted(&self.arn, (id, receives), at);
            if let (Some(finding), Some(context)) = (finding, context) {
                context.trace.note_finding(finding);
            }
        }
    }

    /// Wakes all watchers, after the lock of the queue is released. A watcher registers before it locks the queue to
    /// look, so a change that it did not see comes after its registration: that lock orders both, the count itself is
    /// relaxed. Without watchers, this costs one load.
    fn notify_watchers(&self) {
        if self.watchers.count() > 0 {
            self.changed.notify_waiters();
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

/// Passes the changes of a queue to the reader while the queue is locked, which preserves their order.
fn pass_on(queue: &mut Queue, reader: Option<&dyn ChangeReader>) {
    let Some(reader) = reader else { return };
    let changes = queue.take_changes();
    if !changes.is_empty() {
        reader.read(Change::Queue(queue.id().clone(), changes));
    }
}

/// Drops messages; many are dropped on a blocking thread.
pub(crate) fn drop_in_background(dropped: Dropped) {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) if dropped.is_large() => drop(runtime.spawn_blocking(move || drop(dropped))),
        _ => drop(dropped),
    }
}

/// A change of the data that a server stores.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "durable"), expect(dead_code, reason = "only a store reads changes"))]
pub(crate) enum Change {
    /// Changes of a queue, in order.
    Queue(QueueId, Vec<QueueChange>),
    /// A change of move tasks.
    MoveTask(MoveTaskChange),
    /// The clock was set.
    ClockSet(ClockSetting),
    /// Everything was deleted. Later changes of deleted queues have no effect.
    Reset,
}

/// Reads every change of a service. Without a reader, changes are not recorded.
///
/// Changes of a queue are passed in order, while its lock is held: a reader must not block and must not call the
/// service. A message that moves between queues is one change, of the queue that it enters; until then, it has not left
/// the other queue.
pub(crate) trait ChangeReader: Debug + Send + Sync {
    /// Handles a change.
    fn read(&self, change: Change);

    /// Notes how the clock is set, if that has changed. Called often.
    fn note_clock(&self) {}

    /// Whether everything that was read is stored; a reader that stores nothing has none.
    fn commits(&self) -> Option<&Commits> {
        None
    }
}
