//! Scenarios of one queue, with a controlled clock.

mod attempts;
mod attributes;
mod aws_like;
mod dead_letters;
mod deduplication;
mod delay;
mod fair;
mod fifo;
mod handles;
mod lapses;
mod limits;
mod memory;
mod memory_of_fifo;
mod model;
mod moves;
mod peek;
mod purge;
mod restore;
mod retention;
mod standard;
mod wakeups;
mod why_empty;
mod window;

use std::sync::Arc;
use std::time::Duration;

use sqs_client::types::QueueAttributeName as Name;
use sqs_client::wire::checksum::md5_of_body;
use sqs_client::wire::service_error::ErrorCode;
use sqs_client::wire::service_error::ServiceError;

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Seed;
use crate::sqs::engine::HandleRefusal;
use crate::sqs::engine::Room;
use crate::sqs::engine::Settings;
use crate::sqs::engine::attributes::Attributes;
use crate::sqs::engine::attributes::Tags;
use crate::sqs::engine::change::Creation;
use crate::sqs::engine::change::QueueChange;
use crate::sqs::engine::change::QueueId;
use crate::sqs::engine::inspect::PeekedMessage;
use crate::sqs::engine::inspect::Walk;
use crate::sqs::engine::messages::Checksums;
use crate::sqs::engine::messages::Payload;
use crate::sqs::engine::queue::Queue;
use crate::sqs::engine::receive::Delivery;
use crate::sqs::engine::receive::Receive;
use crate::sqs::engine::receive::Received;
use crate::sqs::engine::redrive::InTransit;
use crate::sqs::engine::send::NewMessage;
use crate::sqs::engine::send::Sent;
use crate::sqs::engine::state::QueueState;

const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A queue and its clock.
struct Bench {
    queue: Queue,
    now: Timestamp,
    room: Room,
}

impl Bench {
    fn new(name: &str, attributes: &[(Name, &str)]) -> Self {
        Self::with(name, attributes, Settings::default())
    }

    fn with(name: &str, attributes: &[(Name, &str)], settings: Settings) -> Self {
        Self::seeded(name, attributes, settings, Seed(1))
    }

    fn seeded(name: &str, attributes: &[(Name, &str)], settings: Settings, seed: Seed) -> Self {
        let arn = QueueArn::new("eu-west-1", "000000000000", name);
        let start = if arn.is_fifo() { Attributes::fifo() } else { Attributes::standard() };
        let requested = attributes.iter().map(|(name, value)| (name.clone(), (*value).to_owned())).collect();
        let attributes = start.changed(&requested).unwrap();
        let (seed, tags) = (seed.of_queue(name, 0), Tags::default());
        let creation = Creation { at: START, seed, attributes, tags };
        let id = QueueId { arn: Arc::new(arn), incarnation: 0 };
        let queue = Queue::new(id, creation, settings, true);
        Self { queue, now: START, room: Room::default() }
    }

    fn standard() -> Self {
        Self::new("orders", &[])
    }

    fn fifo() -> Self {
        Self::new("orders.fifo", &[(Name::ContentBasedDeduplication, "true")])
    }

    fn pass(&mut self, seconds: u64) {
        self.now = self.now + Duration::from_secs(seconds);
    }

    fn set(&mut self, name: Name, value: &str) {
        let requested = [(name, value.to_owned())].into();
        self.queue.change_attributes(self.now, &requested).unwrap();
    }

    /// Sends a message; `group/body` names its group. Returns the same for a duplicate as for its original.
    fn send(&mut self, text: &str) -> Sent {
        Sent { original: None, ..self.try_send(text).unwrap() }
    }

    fn try_send(&mut self, text: &str) -> Result<Sent, ServiceError> {
        self.queue.send(self.now, self.room, message(text))
    }

    fn try_receive(&mut self, at_most: usize, timeout: Option<u64>) -> Received {
        let visibility_timeout = timeout.map(Duration::from_secs);
        let request = Receive {
            at_most,
            visibility_timeout,
            attempt_id: None,
            wait: Some(Duration::from_secs(1)),
            redeliver: false,
            dead_letter_queue_exists: true,
            room: self.room,
        };
        self.queue.receive(self.now, &request).unwrap()
    }

    /// Receives up to ten messages, with the visibility timeout of the queue.
    fn receive(&mut self) -> Vec<Delivery> {
        messages(self.try_receive(10, None))
    }

    /// Bodies of up to `at_most` messages, received with `timeout`.
    fn bodies(&mut self, at_most: usize, timeout: u64) -> Vec<String> {
        bodies(&messages(self.try_receive(at_most, Some(timeout))))
    }

    fn receive_one(&mut self) -> Delivery {
        let mut received = messages(self.try_receive(1, None));
        received.pop().unwrap()
    }

    fn dead_letters(&mut self) -> Vec<InTransit> {
        self.try_receive(10, None).dead_letters
    }

    fn delete(&mut self, delivery: &Delivery) -> Result<(), HandleRefusal> {
        self.queue.delete(self.now, &delivery.receipt_handle).map(drop)
    }

    fn hide(&mut self, delivery: &Delivery, seconds: u64) -> Result<(), HandleRefusal> {
        self.queue.change_visibility(self.now, &delivery.receipt_handle, Duration::from_secs(seconds))
    }

    /// The state that the changes since the creation give.
    fn state_of_changes(&mut self) -> QueueState {
        let mut changes = self.queue.take_changes().into_iter();
        let Some(QueueChange::Created(creation)) = changes.next() else {
            panic!("the first change is the creation")
        };
        let mut state = QueueState::new(*creation);
        changes.for_each(|change| state.apply(change));
        state
    }

    /// Available, in flight, delayed.
    fn counts(&mut self) -> [usize; 3] {
        let counts = self.queue.counts(self.now);
        [counts.available, counts.in_flight, counts.delayed]
    }
}

impl Queue {
    /// All pages of a walk: `at_most` messages after the first `skip`.
    fn peek(&mut self, now: Timestamp, skip: usize, at_most: usize) -> Vec<PeekedMessage> {
        let mut walk = Walk::new(skip, at_most, |_| true);
        while self.walk(now, &mut walk) {}
        walk.into_messages()
    }
}

fn payload(body: &str) -> Payload {
    Payload::new(body.to_owned(), None, Checksums::new(md5_of_body(body), None), None, "AIDASENDER".into())
}

fn message(text: &str) -> NewMessage {
    let (group, body) = text.split_once('/').map_or((None, text), |(group, body)| (Some(group), body));
    let group = group.map(str::to_owned);
    NewMessage { payload: payload(body), delay: None, group, deduplication_id: None }
}

fn messages(received: Received) -> Vec<Delivery> {
    assert!(received.dead_letters.is_empty());
    received.messages
}

fn bodies(deliveries: &[Delivery]) -> Vec<String> {
    deliveries.iter().map(|delivery| delivery.message.payload.body.to_string()).collect()
}

fn refusal(result: Result<(), ServiceError>) -> (ErrorCode, String) {
    let error = result.unwrap_err();
    (error.code, error.message.unwrap_or_default())
}
