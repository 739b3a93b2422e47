//! Two queues and their models; each queue is the other's destination for dead letters and moves.

use super::*;
use crate::sqs::engine::change::QueueChange;
use crate::sqs::engine::inspect::Visibility;
use crate::sqs::engine::move_task::FailureReason;
use crate::sqs::engine::move_task::MoveStatus;
use crate::sqs::engine::queue::tests::model::naive::Message;
use crate::sqs::engine::queue::tests::model::naive::Naive;
use crate::sqs::engine::queue::tests::model::naive::State;
use crate::sqs::engine::state::QueueState;

const MAX_RECEIVES: u32 = 2;

/// A queue and its model.
struct Twin {
    bench: Bench,
    naive: Naive,
    /// The state from applied changes.
    state: QueueState,
    settings: Settings,
}

impl Twin {
    fn new(shape: Shape, name: &str, dead: Option<&str>) -> Self {
        let kind = if shape.fifo { ".fifo" } else { "" };
        let settings = Settings {
            one_minute_rules: false,
            max_in_flight: shape.max_in_flight,
            receive_window: shape.window,
            ..Settings::default()
        };
        let mut attributes = vec![(Name::MessageRetentionPeriod, "100")];
        if shape.by_group && shape.fifo {
            attributes.push((Name::DeduplicationScope, "messageGroup"));
        }
        let mut bench = Bench::with(&format!("{name}{kind}"), &attributes, settings);
        if let Some(dead) = dead {
            let target = format!("arn:aws:sqs:eu-west-1:000000000000:{dead}{kind}");
            let policy = format!(r#"{{"deadLetterTargetArn":"{target}","maxReceiveCount":{MAX_RECEIVES}}}"#);
            bench.set(Name::RedrivePolicy, &policy);
        }
        let state = bench.state_of_changes();
        Self { bench, naive: Naive::new(shape, dead.map(|_| MAX_RECEIVES)), state, settings }
    }

    /// Applies the changes since the last call. Returns the tickets of messages that left the other queue.
    fn apply_changes(&mut self) -> Vec<u64> {
        let mut left = Vec::new();
        for change in self.bench.queue.take_changes() {
            if let QueueChange::MessageMoved { ticket, .. } = &change {
                left.push(*ticket);
            }
            self.state.apply(change);
        }
        left
    }

    fn check_state(&mut self, now: Timestamp) {
        let state = self.bench.queue.state(now);
        self.apply_changes();
        self.state.deduplication.retain(|known| now < known.forget);
        assert_eq!(state, self.state);
    }

    fn check(&mut self, now: Timestamp) {
        self.naive.settle(now);
        let peeked = self.bench.queue.peek(now, 0, usize::MAX);
        assert!(self.naive.shape.fifo || peeked.is_sorted_by_key(|message| message.sent), "sorted by age");
        let mut seen: Vec<_> = peeked
            .iter()
            .map(|message| (message.id, state(message.visibility), message.receive_count))
            .collect();
        let mut expected: Vec<_> =
            self.naive.messages.iter().map(|message| (message.id, message.state, message.receives)).collect();
        seen.sort_by_key(|(id, ..)| *id);
        expected.sort_by_key(|(id, ..)| *id);
        assert_eq!(seen, expected);
        let count =
            |wanted: fn(&State) -> bool| expected.iter().filter(|(_, state, _)| wanted(state)).count();
        let available = count(|state| *state == State::Available);
        let in_flight = count(|state| matches!(state, State::InFlight(_)));
        self.bench.now = now;
        assert_eq!(self.bench.counts(), [available, in_flight, expected.len() - available - in_flight]);
    }
}

fn state(visibility: Visibility) -> State {
    match visibility {
        Visibility::Visible | Visibility::GroupLockedBy { .. } | Visibility::BeyondWindow => State::Available,
        Visibility::DelayedUntil(until) => State::Delayed(until),
        Visibility::InFlightUntil(until) => State::InFlight(until),
    }
}

/// A past receive.
#[derive(Clone)]
pub(super) struct PastReceive {
    at: At,
    handle: String,
    pub(super) ticket: u64,
    pub(super) number: u32,
    pub(super) received: Timestamp,
}

pub(super) struct Pair {
    source: Twin,
    dead: Twin,
    now: Timestamp,
    receives: Vec<PastReceive>,
}

impl Pair {
    pub(super) fn new(shape: Shape) -> Self {
        let source = Twin::new(shape, "source", Some("dead"));
        let dead = Twin::new(shape, "dead", shape.mutual.then_some("source"));
        Self { source, dead, now: START, receives: Vec::new() }
    }

    pub(super) fn run(mut self, steps: &[Step]) {
        for step in steps {
            self.apply(step);
            self.check();
            self.apply_changes();
            if matches!(step, Step::Purge { .. } | Step::Move { .. }) {
                self.check_states();
            }
        }
        self.check_states();
        // An empty queue takes no memory, whatever happened before.
        self.now = self.now + Duration::from_secs(2_000_000);
        self.check();
        assert_eq!([&self.source, &self.dead].map(|twin| twin.bench.bytes()), [0, 0]);
    }

    fn check(&mut self) {
        for twin in [&mut self.source, &mut self.dead] {
            twin.check(self.now);
            let bytes = twin.bench.bytes();
            let Naive { shape, messages, .. } = &twin.naive;
            assert!(shape.fifo || (bytes == 0) == messages.is_empty(), "{bytes} bytes");
        }
    }

    /// A message leaves its queue by the change of the queue that it enters.
    fn apply_changes(&mut self) {
        let Self { source, dead, .. } = self;
        let (of_dead, of_source) = (source.apply_changes(), dead.apply_changes());
        for ticket in of_dead {
            dead.state.remove(ticket);
        }
        for ticket in of_source {
            source.state.remove(ticket);
        }
    }

    fn check_states(&mut self) {
        self.source.check_state(self.now);
        self.dead.check_state(self.now);
    }

    fn twin(&mut self, at: At) -> &mut Twin {
        let now = self.now;
        let twin = if at == At::Source { &mut self.source } else { &mut self.dead };
        twin.bench.now = now;
        twin
    }

    fn both(&mut self, at: At) -> [&mut Twin; 2] {
        match at {
            At::Source => [&mut self.source, &mut self.dead],
            At::Dead => [&mut self.dead, &mut self.source],
        }
    }

    fn apply(&mut self, step: &Step) {
        let now = self.now;
        match *step {
            Step::Send { at, group, content, delay } => {
                send(self.twin(at), group, content, Duration::from_secs(delay));
            }
            Step::Receive { at, params } => self.receive(at, &params),
            Step::Delete { receive } => {
                let Some(was) = self.recent(receive) else { return };
                let Twin { bench, naive, .. } = self.twin(was.at);
                let deleted = bench.queue.delete(now, &was.handle).is_ok();
                assert_eq!(deleted, naive.delete(now, &was));
            }
            Step::Hide { receive, timeout } => {
                let Some(was) = self.recent(receive) else { return };
                let timeout = Duration::from_secs(timeout);
                let Twin { bench, naive, .. } = self.twin(was.at);
                let hidden = bench.queue.change_visibility(now, &was.handle, timeout).is_ok();
                assert_eq!(hidden, naive.hide(now, &was, timeout));
            }
            Step::Pass { millis } => self.now = now + Duration::from_millis(millis),
            Step::SetDelay { at, seconds } => {
                let Twin { bench, naive, .. } = self.twin(at);
                bench.set(Name::DelaySeconds, &seconds.to_string());
                naive.set_delay(now, Duration::from_secs(seconds));
            }
            Step::SetRetention { at, seconds } => {
                let Twin { bench, naive, .. } = self.twin(at);
                bench.set(Name::MessageRetentionPeriod, &seconds.to_string());
                naive.set_retention(now, Duration::from_secs(seconds));
            }
            Step::Move { at, anywhere, destination_deleted } => {
                self.move_one(at, anywhere, destination_deleted);
            }
            Step::Purge { at } => {
                let Twin { bench, naive, .. } = self.twin(at);
                drop(bench.queue.purge(now).unwrap());
                naive.purge();
            }
            Step::Tag { at, value } => {
                let Twin { bench, .. } = self.twin(at);
                bench.queue.tag([("value".to_owned(), value.to_string())].into()).unwrap();
            }
            Step::Restart { at } => {
                let Twin { bench, naive, state, settings } = self.twin(at);
                let id = bench.queue.id().clone();
                bench.queue = Queue::restore(now, id, state.clone(), *settings);
                naive.restart(now);
            }
        }
    }

    fn receive(&mut self, at: At, params: &ReceiveParams) {
        let now = self.now;
        let [twin, other] = self.both(at);
        let attempt = params.attempt.map(|attempt| attempt.to_string());
        let request = Receive {
            at_most: params.at_most,
            visibility_timeout: Some(Duration::from_secs(params.timeout)),
            attempt_id: attempt.as_deref(),
            wait: Some(Duration::ZERO),
            redeliver: false,
            dead_letter_queue_exists: true,
            room: Room::default(),
        };
        let received = twin.bench.queue.receive(now, &request);
        let Some([taken, dead]) = twin.naive.receive(now, params) else {
            assert!(received.is_err(), "the attempt cannot be retried");
            return;
        };
        let received = received.expect("a new or retried attempt");
        let moved: Vec<_> = received.dead_letters.iter().map(|letter| letter.message.core.id).collect();
        assert_eq!(moved, ids(&dead), "dead letters");
        for (letter, message) in received.dead_letters.into_iter().zip(dead) {
            if params.target_deleted {
                twin.bench.queue.take_back(now, letter);
                twin.naive.take_back(now, message);
            } else {
                other.bench.queue.accept_dead_letter(now, letter).unwrap();
                other.naive.accept_dead_letter(now, message);
            }
        }
        let deliveries = received.messages;
        let delivered: Vec<_> = deliveries.iter().map(|delivery| delivery.message.id).collect();
        assert_eq!(delivered, ids(&taken), "messages");
        for (delivery, message) in deliveries.into_iter().zip(taken) {
            let (ticket, number) = (message.ticket, message.receives);
            let received = message.received;
            self.receives.push(PastReceive { at, handle: delivery.receipt_handle, ticket, number, received });
        }
    }

    fn move_one(&mut self, at: At, anywhere: bool, destination_deleted: bool) {
        let now = self.now;
        let [twin, other] = self.both(at);
        let destination = anywhere.then(|| std::sync::Arc::clone(other.bench.queue.arn()));
        let taken = twin.bench.queue.take_for_move(now, destination.as_ref());
        let message = twin.naive.take_for_move(now, anywhere);
        let nothing =
            matches!(taken, Err(MoveStatus::Completed | MoveStatus::Failed(FailureReason::UnknownSource)));
        assert_eq!(nothing, message.is_none());
        let (Ok(moving), Some(message)) = (taken, message) else { return };
        if destination_deleted {
            twin.bench.queue.take_back(now, moving);
            twin.naive.take_back(now, message);
            return;
        }
        other.naive.settle(now);
        let known = ids(&other.naive.messages);
        other.bench.queue.accept_moving(now, moving, Uuid::from_bytes([0; 16])).unwrap();
        let peeked = other.bench.queue.peek(now, 0, usize::MAX);
        let new = peeked.iter().find(|message| !known.contains(&message.id)).expect("a message that is new");
        other.naive.accept_moving(now, new.id, message);
    }

    fn recent(&self, back: usize) -> Option<PastReceive> {
        self.receives.iter().rev().nth(back).cloned()
    }
}

fn send(twin: &mut Twin, group: u8, content: u8, delay: Duration) {
    let Twin { bench, naive, .. } = twin;
    let fifo = naive.shape.fifo;
    let message = NewMessage {
        delay: (!fifo).then_some(delay),
        deduplication_id: fifo.then(|| content.to_string()),
        ..message(&format!("{group}/{content}"))
    };
    let sent = bench.queue.send(bench.now, Room::default(), message).unwrap();
    match naive.original(bench.now, group, content) {
        Some(original) => assert_eq!(sent.id, original, "a duplicate returns the id of the original"),
        None => naive.send(bench.now, sent.id, group, content, delay),
    }
}

fn ids(messages: &[Message]) -> Vec<Uuid> {
    messages.iter().map(|message| message.id).collect()
}
