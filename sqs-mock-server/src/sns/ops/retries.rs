//! Delivers to queues, and tries again while SQS is unavailable.
//!
//! ```text
//! deliver -> queue | unavailable -> backlog -> at once, then by the clock -> queue | at the end: dead-letter queue, dropped
//! ```

use std::sync::{Arc, Weak};

use http::StatusCode;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::changes::{TopicReader, WaitingChange, WaitingDelivery};
use super::deliveries::{Deliveries, Outcome};
use crate::service::arn::{QueueArn, TopicArn};
use crate::service::clock::{Clock, Timestamp};
use crate::service::delivery::{Delivery, KeptDelivery, Queues, Undelivered};
use crate::service::journal::{Journal, PendingRecord};
use crate::service::operation::ServiceName;
use crate::service::policies::Why;
use crate::service::resource::Resource;
use crate::sns::engine::backlog::{Backlog, Group};

/// The attempts that are made under one lock.
const ATTEMPTS: usize = 100;
/// The operation of records of late deliveries, which no request asks for.
const LATE: &str = "Retry";

/// The deliveries of a server, with those that wait for a retry.
#[derive(Debug)]
pub(super) struct Retries {
    shared: Arc<Shared>,
    /// Tells the task that makes retries of new ones. Dropping it ends the task.
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct Shared {
    queues: Arc<dyn Queues>,
    clock: Clock,
    deliveries: Arc<Deliveries>,
    journal: Arc<Journal>,
    reader: Option<Arc<dyn TopicReader>>,
    /// While it is locked, queues may be locked, topics not.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    backlog: Backlog<Arc<WaitingDelivery>>,
    /// The number of the last delivery.
    last: u64,
    has_task: bool,
}

impl Retries {
    pub(super) fn new(
        queues: Arc<dyn Queues>,
        clock: Clock,
        deliveries: Arc<Deliveries>,
        (journal, reader): (Arc<Journal>, Option<Arc<dyn TopicReader>>),
    ) -> Self {
        let shared = Shared { queues, clock, deliveries, journal, reader, state: Mutex::default() };
        Self { shared: Arc::new(shared), changed: watch::Sender::new(()) }
    }

    /// Adds a delivery of an earlier process, whose retries start anew.
    #[cfg(feature = "durable")]
    pub(super) fn restore(&self, waiting: WaitingDelivery) {
        let mut state = self.shared.state.lock();
        state.last = waiting.number.max(state.last);
        let (group, bytes) = (waiting.group.clone(), waiting.delivery.bytes());
        // There is room: the earlier process had it.
        let _ = state.backlog.add(self.shared.clock.now(), group, (bytes, Arc::new(waiting)));
        // Without a runtime, the next delivery that waits starts it.
        if tokio::runtime::Handle::try_current().is_ok() {
            self.start_task(&mut state);
        }
    }

    fn start_task(&self, state: &mut State) {
        if !std::mem::replace(&mut state.has_task, true) {
            tokio::spawn(retry(Arc::downgrade(&self.shared), self.changed.subscribe()));
        }
    }

    /// Delivers to a queue, or else to the dead-letter queue. `group` is that of a FIFO topic, whose order is kept. Returns
    /// a note if the message is not in the queue, or AWS denies the delivery.
    pub(super) fn deliver(
        &self,
        group: Option<Group>,
        delivery: Delivery<'_>,
        dead_letter_queue: Option<&QueueArn>,
    ) -> Option<String> {
        let shared = &self.shared;
        let is_blocked = || group.as_ref().is_some_and(|group| shared.state.lock().backlog.is_blocked(group));
        // Nobody else adds to the group meanwhile: its topic is locked.
        let reason = if is_blocked() {
            "an earlier message of the group is not delivered".to_owned()
        } else {
            match shared.attempt(delivery, dead_letter_queue) {
                Ok(note) => return note,
                Err(reason) => reason,
            }
        };
        match self.add(group, KeptDelivery::of(delivery), dead_letter_queue.cloned()) {
            Added::Delivered => None,
            Added::Waits => {
                Some(format!("not yet delivered to {}, but tried again: {reason}", delivery.queue))
            }
            Added::NoRoom => {
                let reason = format!("{reason}; the server has no room to keep it for later attempts");
                Some(shared.give_up(delivery, dead_letter_queue, &reason))
            }
        }
    }

    /// Adds a delivery, and makes the immediate retries.
    fn add(
        &self,
        group: Option<Group>,
        delivery: KeptDelivery,
        dead_letter_queue: Option<QueueArn>,
    ) -> Added {
        let shared = &self.shared;
        let now = shared.clock.now();
        let mut state = shared.state.lock();
        state.last += 1;
        let (number, bytes) = (state.last, delivery.bytes());
        let waiting = WaitingDelivery { number, group: group.clone(), delivery, dead_letter_queue };
        let waiting = Arc::new(waiting);
        let lane = state.backlog.add(now, group, (bytes, Arc::clone(&waiting)));
        let Some(lane) = lane else { return Added::NoRoom };
        let end = |waiting: Arc<WaitingDelivery>| shared.end(&waiting);
        state.backlog.begin(now, lane, |waiting| shared.retry(waiting), end);
        if !state.backlog.has(lane) {
            return Added::Delivered;
        }
        shared.tell(WaitingChange::Added(waiting));
        self.changed.send_replace(());
        self.start_task(&mut state);
        Added::Waits
    }

    /// Forgets all deliveries that wait.
    pub(super) fn clear(&self) {
        let mut state = self.shared.state.lock();
        state.backlog = Backlog::default();
        self.shared.tell(WaitingChange::Cleared);
        self.changed.send_replace(());
    }
}

/// Makes the retries that are due, until the server ends.
async fn retry(shared: Weak<Shared>, mut changed: watch::Receiver<()>) {
    loop {
        changed.mark_unchanged();
        let Some((clock, due)) = shared.upgrade().map(|shared| shared.next()) else { return };
        let is_due = async {
            match due {
                Some(due) => clock.sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            ended = changed.changed() => if ended.is_err() { return },
            () = is_due => {
                let Some(shared) = shared.upgrade() else { return };
                shared.run(clock.now());
                // After a jump of the clock, there may be many.
                tokio::task::yield_now().await;
            }
        }
    }
}

/// What became of a delivery that was added.
enum Added {
    Delivered,
    Waits,
    NoRoom,
}

impl Shared {
    fn next(&self) -> (Clock, Option<Timestamp>) {
        (self.clock.clone(), self.state.lock().backlog.next_due())
    }

    /// Makes some of the attempts that are due.
    fn run(&self, now: Timestamp) {
        // The store has a message in a queue or here.
        let _whole = self.queues.whole();
        let mut state = self.state.lock();
        state.backlog.run(now, ATTEMPTS, |waiting| self.retry(waiting), |waiting| self.end(&waiting));
    }

    /// Returns whether the delivery is settled.
    fn retry(&self, waiting: &WaitingDelivery) -> bool {
        let WaitingDelivery { number, delivery, dead_letter_queue, .. } = waiting;
        let attempt = self.attempt(delivery.as_delivery(), dead_letter_queue.as_ref());
        let Ok(note) = attempt else { return false };
        self.report(waiting, note);
        self.tell(WaitingChange::Ended(*number));
        true
    }

    /// After the last attempt.
    fn end(&self, waiting: &WaitingDelivery) {
        let WaitingDelivery { number, delivery, dead_letter_queue, .. } = waiting;
        let reason = "SQS was unavailable for 23 days";
        let note = self.give_up(delivery.as_delivery(), dead_letter_queue.as_ref(), reason);
        self.report(waiting, Some(note));
        self.tell(WaitingChange::Ended(*number));
    }

    /// Logs and records what the publish could not tell.
    fn report(&self, waiting: &WaitingDelivery, note: Option<String>) {
        let Some(note) = note else { return };
        tracing::warn!("late delivery of a topic: {note}");
        let id = waiting.number.to_string();
        let mut record = PendingRecord::open(&self.journal, &self.clock, ServiceName::Sns, &id, None);
        record.asked(LATE);
        record.note(|record| {
            record.resource = TopicArn::of(waiting.delivery.as_delivery().source.arn).map(Resource::Topic);
            record.warnings = [note].into();
        });
        record.answered(Some(StatusCode::OK));
    }

    fn tell(&self, change: WaitingChange) {
        if let Some(reader) = &self.reader {
            reader.read_waiting(change);
        }
    }

    /// Settles a delivery, and returns a note if the message is not in the queue, or AWS denies the delivery.
    ///
    /// # Errors
    /// SQS is unavailable; the text says why.
    fn attempt(
        &self,
        delivery: Delivery<'_>,
        dead_letter_queue: Option<&QueueArn>,
    ) -> Result<Option<String>, String> {
        let reason = match self.queues.deliver(delivery) {
            Ok(denial) => {
                self.deliveries.count(Outcome::Delivered);
                return Ok(denial.map(|why| delivered_anyway(delivery.queue, &why)));
            }
            Err(Undelivered::Unavailable(error)) => return Err(error.to_string()),
            Err(undelivered) => undelivered.to_string(),
        };
        Ok(Some(self.give_up(delivery, dead_letter_queue, &reason)))
    }

    /// Delivers to the dead-letter queue, if there is one. Returns a note.
    fn give_up(&self, delivery: Delivery<'_>, dead_letter_queue: Option<&QueueArn>, reason: &str) -> String {
        let Delivery { queue, .. } = delivery;
        let Some(dead_letter_queue) = dead_letter_queue else {
            self.deliveries.count(Outcome::Dropped);
            return format!("dropped for {queue}: {reason}");
        };
        match self.queues.deliver(Delivery { queue: dead_letter_queue, ..delivery }) {
            Ok(denial) => {
                self.deliveries.count(Outcome::DeadLettered);
                let denial = denial.map(|why| format!("; {}", delivered_anyway(dead_letter_queue, &why)));
                let denial = denial.unwrap_or_default();
                format!("moved from {queue} to the dead-letter queue {dead_letter_queue}: {reason}{denial}")
            }
            Err(undelivered) => {
                self.deliveries.count(Outcome::Dropped);
                format!("dropped for {queue}: {reason}; dead-letter queue {dead_letter_queue}: {undelivered}")
            }
        }
    }
}

fn delivered_anyway(queue: &QueueArn, why: &Why) -> String {
    format!("delivered to {queue}, but AWS denies it: {why}")
}
