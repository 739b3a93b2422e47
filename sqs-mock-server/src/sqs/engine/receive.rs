//! Receiving messages.
//!
//! Receive attempts of FIFO queues: a receive that is retried with the same attempt id returns the same messages.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use sqs_client::wire::limits;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::error::invalid_value;

use crate::control::clock::Timestamp;
use crate::sqs::engine::Room;
use crate::sqs::engine::handles::Handle;
use crate::sqs::engine::inspect::{PeekedMessage, Visibility};
use crate::sqs::engine::messages::{Core, Slot, State, Stored};
use crate::sqs::engine::order_standard::ServerSample;
use crate::sqs::engine::queue::Queue;
use crate::sqs::engine::redrive::InTransit;

/// Maximum number of dead letters that one call removes, which limits how long the queue is locked.
pub(crate) const MAX_DEAD_LETTERS: usize = 256;

/// The parameters of a receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receive<'a> {
    /// Maximum number of messages, 1 to 10.
    pub at_most: usize,
    /// How long the messages stay hidden; the default of the queue if absent.
    pub visibility_timeout: Option<Duration>,
    /// `ReceiveRequestAttemptId`; standard queues ignore it.
    pub attempt_id: Option<&'a str>,
    /// How long the receive may wait; the default of the queue if absent. With a wait of zero, a queue that delivers
    /// like AWS can miss messages.
    pub wait: Option<Duration>,
    /// Whether a standard queue delivers the same messages once more, at once, even if they are deleted meanwhile.
    pub redeliver: bool,
    /// Whether the dead-letter queue of the redrive policy exists. If not, messages stay in the queue and their
    /// deliveries are not limited.
    pub dead_letter_queue_exists: bool,
    /// Limits memory: an attempt that does not fit is not stored, and a retry is a new receive.
    pub room: Room,
}

/// The result of a receive.
#[derive(Debug, Default)]
#[must_use = "dead letters are in no queue any more"]
pub(crate) struct Received {
    /// The messages.
    pub messages: Vec<Delivery>,
    /// Dead letters, for [`Queue::accept_dead_letter`] of their destination.
    pub dead_letters: Vec<InTransit>,
    /// How long the receive may wait if there are no messages.
    pub wait: Duration,
    /// If there are no messages, the next time at which one can become receivable without a request.
    pub wake_at: Option<Timestamp>,
    /// Whether a standard queue has too many messages in flight: an error for short polls, an empty result for long
    /// polls.
    pub is_over_limit: bool,
}

impl Received {
    /// Whether the receive returned no messages because it reached the limit of dead letters: call it again to
    /// continue.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.dead_letters.len() >= MAX_DEAD_LETTERS && self.messages.is_empty()
    }
}

/// A received message.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// The message.
    pub message: PeekedMessage,
    /// The handle of this receive.
    pub receipt_handle: String,
}

impl Queue {
    /// Receives messages. If the result [is cut short](Received::is_cut_short), call again.
    ///
    /// # Errors
    /// `InvalidParameterValue` for an attempt id whose messages were deleted or hidden until another time.
    pub(crate) fn receive(
        &mut self,
        now: Timestamp,
        request: &Receive<'_>,
    ) -> Result<Received, ServiceError> {
        let now = self.settle(now);
        let until = now + request.visibility_timeout.unwrap_or(self.attributes.visibility_timeout);
        let wait = request.wait.unwrap_or(self.attributes.receive_wait);
        if let Some(messages) = self.replay(now, until, request)? {
            return Ok(Received { messages, wait, ..Received::default() });
        }
        self.lacked_room |= self.is_full();
        if self.is_full() && self.fifo.is_none() {
            let wake_at = self.wake_at();
            return Ok(Received { wait, wake_at, is_over_limit: true, ..Received::default() });
        }
        let (slots, dead_letters) = self.take(now, until, wait, request);
        self.record_delivery(&slots);
        let handles: Vec<_> = slots.iter().filter_map(|slot| self.handle(*slot)).collect();
        let messages: Vec<_> = handles.iter().filter_map(|handle| self.deliver(*handle, until)).collect();
        if let Some(id) = request.attempt_id.filter(|_| !messages.is_empty()) {
            self.remember(now, id, handles, until, request.room);
        }
        // Messages with a timeout of zero become visible at once, but not within this receive.
        self.settle(now);
        let wake_at = if messages.is_empty() { self.wake_at() } else { None };
        Ok(Received { messages, dead_letters, wait, wake_at, is_over_limit: false })
    }

    /// Whether the limit of messages in flight is reached.
    fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// How many more messages can be in flight.
    pub(crate) fn room(&self) -> usize {
        self.settings.max_in_flight.saturating_sub(self.store.counts().in_flight)
    }

    fn take(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        wait: Duration,
        request: &Receive<'_>,
    ) -> (Vec<Slot>, Vec<InTransit>) {
        let (mut taken, mut dead_letters) = (Vec::new(), Vec::new());
        let mut follower = None;
        let mut sample =
            self.aws_like.as_mut().map_or(ServerSample::ALL, |aws_like| aws_like.sample(!wait.is_zero()));
        while taken.len() < request.at_most && !self.is_full() {
            // A group must move as a whole: otherwise, a concurrent receive could move its other dead letters first.
            if dead_letters.len() >= MAX_DEAD_LETTERS && follower.is_none() {
                break;
            }
            sample = self.aws_like.as_mut().map_or(sample, |aws_like| aws_like.prefer(sample));
            let Some(slot) = follower.take().or_else(|| self.store.next(now, sample)) else {
                break;
            };
            follower = self.store.follower(slot);
            if request.dead_letter_queue_exists && self.receives_exhausted(slot) {
                dead_letters.extend(self.move_to_dead_letters(now, slot));
            } else {
                self.deliver_slot(now, until, slot, request.redeliver);
                taken.push(slot);
            }
        }
        (taken, dead_letters)
    }

    /// Whether another receive would exceed the limit of the redrive policy.
    pub(crate) fn receives_exhausted(&self, slot: Slot) -> bool {
        self.store.get(slot).is_some_and(|message| self.has_exhausted_receives(&message.core))
    }

    /// Like [`receives_exhausted`](Self::receives_exhausted), for the moving part of a message.
    pub(crate) fn has_exhausted_receives(&self, core: &Core) -> bool {
        let most = self.attributes.redrive.as_ref().map(|policy| policy.max_receive_count);
        most.is_some_and(|most| core.receives_here() >= most)
    }

    fn deliver_slot(&mut self, now: Timestamp, until: Timestamp, slot: Slot, redeliver: bool) {
        if let Some(message) = self.store.get_mut(slot) {
            if message.core.receives == 0 {
                message.core.first_received = now;
            }
            message.core.receives = message.core.receives.saturating_add(1);
            message.received = now;
        }
        // Another delivery must not make it a dead letter.
        let again = redeliver && self.fifo.is_none() && !self.receives_exhausted(slot);
        if let Some(message) = self.store.get_mut(slot) {
            message.again = again;
        }
        // A message whose receive a server misses is visible at once, but not within this receive.
        let is_visible = again || self.is_missed(slot);
        let until = if is_visible { now } else { until };
        self.store.set_state(now, slot, State::InFlight { until });
    }

    /// Whether a server misses a receive or a delete of a message, at random. Messages whose receives are exhausted are
    /// exempt: they would become dead letters although the consumer was in time.
    pub(crate) fn is_missed(&mut self, slot: Slot) -> bool {
        self.aws_like.as_mut().is_some_and(|aws_like| aws_like.misses()) && !self.receives_exhausted(slot)
    }

    fn remember(&mut self, now: Timestamp, id: &str, handles: Vec<Handle>, until: Timestamp, room: Room) {
        let fits = room.fits(self.stored_bytes(), bytes(id));
        match &mut self.fifo {
            Some(fifo) if fits => fifo.attempts.remember(now, id, handles, until),
            Some(fifo) => fifo.attempts.drop_attempt(id),
            None => {}
        }
    }

    /// The messages of an earlier receive with the same attempt id; `None` if all of them became visible since.
    fn replay(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        request: &Receive<'_>,
    ) -> Result<Option<Vec<Delivery>>, ServiceError> {
        let Some((id, fifo)) = request.attempt_id.zip(self.fifo.as_mut()) else { return Ok(None) };
        let Some(attempt) = fifo.attempts.find(now, id) else { return Ok(None) };
        let has_come_back = |given: &Handle| {
            let message = self.store.get(given.slot).filter(|message| message.ticket == given.ticket);
            attempt.hidden_until <= now && message.is_some_and(|message| !message.is_held(given))
        };
        if attempt.handles.iter().all(has_come_back) {
            return Ok(None);
        }
        let unchanged = State::InFlight { until: attempt.hidden_until };
        let is_unchanged = |given: &Handle| {
            let message = self.store.get(given.slot);
            message.is_some_and(|message| message.is_held(given) && message.state == unchanged)
        };
        if !attempt.handles.iter().all(is_unchanged) {
            let reason =
                "The receiveRequestAttemptId is not valid anymore since the receive call is not retryable.";
            return Err(invalid_value("ReceiveRequestAttemptId", id, reason));
        }
        fifo.attempts.hidden_again(id, until);
        for given in &attempt.handles {
            if let Some(message) = self.store.get_mut(given.slot) {
                message.received = now;
            }
            self.store.set_state(now, given.slot, State::InFlight { until });
        }
        let slots: Vec<_> = attempt.handles.iter().map(|given| given.slot).collect();
        self.record_delivery(&slots);
        let messages = attempt.handles.iter().filter_map(|given| self.deliver(*given, until)).collect();
        self.settle(now);
        Ok(Some(messages))
    }

    /// The handle of the latest receive.
    fn handle(&self, slot: Slot) -> Option<Handle> {
        let Stored { ticket, core, received, .. } = self.store.get(slot)?;
        Some(Handle { slot, ticket: *ticket, receive: core.receives, received: *received })
    }

    fn deliver(&self, handle: Handle, until: Timestamp) -> Option<Delivery> {
        let message = self.show_message(self.store.get(handle.slot)?, Visibility::InFlightUntil(until));
        Some(Delivery { message, receipt_handle: self.handles.write(handle) })
    }
}

const VALIDITY: Duration = Duration::from_secs(limits::RECEIVE_ATTEMPT_SECONDS);

/// The result of a receive.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) handles: Vec<Handle>,
    /// When its messages become visible. A message that is hidden until another time was changed since.
    pub(crate) hidden_until: Timestamp,
    made: Timestamp,
}

/// The attempts of the last five minutes.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    by_id: HashMap<Box<str>, Attempt>,
    in_order: VecDeque<(Timestamp, Box<str>)>,
    bytes: usize,
}

impl Attempts {
    pub(crate) fn find(&mut self, now: Timestamp, id: &str) -> Option<Attempt> {
        self.forget(now);
        self.by_id.get(id).cloned()
    }

    pub(crate) fn remember(
        &mut self,
        now: Timestamp,
        id: &str,
        handles: Vec<Handle>,
        hidden_until: Timestamp,
    ) {
        self.forget(now);
        self.bytes += bytes(id);
        self.by_id.insert(id.into(), Attempt { handles, hidden_until, made: now });
        self.in_order.push_back((now, id.into()));
    }

    /// Removes an attempt, so that a retry is a new receive.
    pub(crate) fn drop_attempt(&mut self, id: &str) {
        self.by_id.remove(id);
    }

    /// A retry hides the messages again, but does not extend the validity of the attempt.
    pub(crate) fn hidden_again(&mut self, id: &str, until: Timestamp) {
        if let Some(attempt) = self.by_id.get_mut(id) {
            attempt.hidden_until = until;
        }
    }

    pub(crate) fn stored_bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn clear(&mut self) {
        self.by_id = HashMap::new();
        self.in_order = VecDeque::new();
        self.bytes = 0;
    }

    /// Removes expired attempts.
    pub(crate) fn forget(&mut self, now: Timestamp) {
        while let Some((made, id)) = self.in_order.pop_front_if(|(made, _)| *made + VALIDITY <= now) {
            self.bytes -= bytes(&id);
            // A later receive may have used the same id.
            if self.by_id.get(&id).is_some_and(|attempt| attempt.made == made) {
                self.by_id.remove(&id);
            }
        }
    }
}

/// Estimated memory of an attempt: its id twice, and the maximum number of handles.
pub(crate) fn bytes(id: &str) -> usize {
    let handles = usize::try_from(*limits::RECEIVE_MESSAGES.end()).unwrap_or(0) * size_of::<Handle>();
    2 * (id.len() + size_of::<Box<str>>()) + size_of::<(Attempt, Timestamp)>() + handles + 32
}
