//! Whatever is done in whatever order, the queue does what the naive model does.

mod naive;

use proptest::prelude::*;

use super::*;
use crate::engine::Visibility;
use naive::{GROUPS, Naive, State};

#[derive(Clone, Debug)]
enum Step {
    Send { group: u8, content: u8, delay: u64 },
    Receive { at_most: usize, timeout: u64 },
    Delete { receive: usize },
    Hide { receive: usize, timeout: u64 },
    Pass { millis: u64 },
    SetDelay { seconds: u64 },
    Purge,
}

fn step() -> impl Strategy<Value = Step> {
    let timeout = || prop_oneof![Just(0), 1_u64..30, Just(43_200)];
    let seconds = || prop_oneof![3 => Just(0), 1 => 1_u64..20];
    prop_oneof![
        6 => (0..GROUPS, 0..40_u8, seconds())
            .prop_map(|(group, content, delay)| Step::Send { group, content, delay }),
        6 => (1_usize..=5, timeout()).prop_map(|(at_most, timeout)| Step::Receive { at_most, timeout }),
        // Mostly one of the latest receives; now and then an old one.
        4 => prop_oneof![4 => 0_usize..4, 1 => 0_usize..50].prop_map(|receive| Step::Delete { receive }),
        3 => (prop_oneof![4 => 0_usize..4, 1 => 0_usize..50], timeout())
            .prop_map(|(receive, timeout)| Step::Hide { receive, timeout }),
        5 => prop_oneof![6 => 0_u64..20_000, 1 => 0_u64..400_000].prop_map(|millis| Step::Pass { millis }),
        1 => seconds().prop_map(|seconds| Step::SetDelay { seconds }),
        1 => Just(Step::Purge),
    ]
}

/// The queue and its model, with what is known of both.
struct Pair {
    bench: Bench,
    naive: Naive,
    /// Message ids by ticket.
    ids: Vec<crate::seed::Uuid>,
    /// Handle, ticket and number of each receive.
    receives: Vec<(String, u64, u32)>,
}

impl Pair {
    fn new(fifo: bool) -> Self {
        let settings = Settings { relaxed_timing: true, ..Settings::default() };
        let dead = if fifo { "dead.fifo" } else { "dead" };
        let policy = format!(
            r#"{{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:{dead}","maxReceiveCount":3}}"#
        );
        let attributes = [(Name::MessageRetentionPeriod, "100"), (Name::RedrivePolicy, &policy)];
        let bench = Bench::with(if fifo { "a.fifo" } else { "a" }, &attributes, settings);
        let naive = Naive::new(fifo, Duration::from_secs(100), 3);
        Self { bench, naive, ids: Vec::new(), receives: Vec::new() }
    }

    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Send { group, content, delay } => self.send(group, content, Duration::from_secs(delay)),
            Step::Receive { at_most, timeout } => self.receive(at_most, timeout),
            Step::Delete { receive } => {
                let Some((handle, ticket, number)) = self.recent(receive) else { return };
                let deleted = self.bench.queue.delete(self.bench.now, &handle).is_ok();
                assert_eq!(deleted, self.naive.delete(self.bench.now, ticket, number));
            }
            Step::Hide { receive, timeout } => {
                let Some((handle, ticket, number)) = self.recent(receive) else { return };
                let timeout = Duration::from_secs(timeout);
                let hidden = self.bench.queue.change_visibility(self.bench.now, &handle, timeout).is_ok();
                assert_eq!(hidden, self.naive.hide(self.bench.now, ticket, number, timeout));
            }
            Step::Pass { millis } => self.bench.now = self.bench.now + Duration::from_millis(millis),
            Step::SetDelay { seconds } => {
                self.bench.set(Name::DelaySeconds, &seconds.to_string());
                self.naive.set_delay(self.bench.now, Duration::from_secs(seconds));
            }
            Step::Purge => {
                drop(self.bench.queue.purge(self.bench.now).unwrap());
                self.naive.purge();
            }
        }
    }

    fn send(&mut self, group: u8, content: u8, delay: Duration) {
        let message = NewMessage {
            delay: (!self.naive.fifo).then_some(delay),
            deduplication_id: self.naive.fifo.then(|| content.to_string()),
            ..message(&format!("{group}/{content}"))
        };
        let sent = self.bench.queue.send(self.bench.now, message).unwrap();
        let ticket = self.naive.send(self.bench.now, group, content, delay);
        match self.ids.get(usize::try_from(ticket).unwrap()) {
            Some(id) => assert_eq!(sent.id, *id, "a repeat gets the id of the original"),
            None => self.ids.push(sent.id),
        }
    }

    fn receive(&mut self, at_most: usize, timeout: u64) {
        let received = self.bench.try_receive(at_most, Some(timeout));
        let [taken, dead] = self.naive.receive(self.bench.now, at_most, Duration::from_secs(timeout));
        let buried: Vec<_> = received.dead_letters.iter().map(|letter| letter.message.core.id).collect();
        assert_eq!(buried, self.ids_of(&dead));
        let deliveries = match received.outcome {
            Outcome::Messages(deliveries) => deliveries,
            Outcome::Empty { .. } | Outcome::OverLimit { .. } => Vec::new(),
        };
        let delivered: Vec<_> = deliveries.iter().map(|delivery| delivery.id).collect();
        assert_eq!(delivered, self.ids_of(&taken));
        for (delivery, ticket) in deliveries.into_iter().zip(taken) {
            self.receives.push((delivery.receipt_handle, ticket, delivery.receive_count));
        }
    }

    fn recent(&self, back: usize) -> Option<(String, u64, u32)> {
        self.receives.iter().rev().nth(back).cloned()
    }

    fn ids_of(&self, tickets: &[u64]) -> Vec<crate::seed::Uuid> {
        tickets.iter().map(|ticket| self.ids[usize::try_from(*ticket).unwrap()]).collect()
    }

    fn check(&mut self) {
        let now = self.bench.now;
        self.naive.settle(now);
        let peeked = self.bench.queue.peek(now, 0, usize::MAX);
        let seen: Vec<_> = peeked.iter().map(|message| (message.id, state(message.visibility))).collect();
        let tickets: Vec<_> = self.naive.messages.iter().map(|message| message.ticket).collect();
        let states = self.naive.messages.iter().map(|message| message.state);
        let expected: Vec<_> = self.ids_of(&tickets).into_iter().zip(states).collect();
        assert_eq!(seen, expected);
        let count = |wanted: fn(&State) -> bool| expected.iter().filter(|(_, state)| wanted(state)).count();
        let available = count(|state| *state == State::Available);
        let in_flight = count(|state| matches!(state, State::InFlight(_)));
        assert_eq!(self.bench.counts(), [available, in_flight, expected.len() - available - in_flight]);
    }
}

fn state(visibility: Visibility) -> State {
    match visibility {
        Visibility::Visible | Visibility::GroupLockedBy { .. } => State::Available,
        Visibility::DelayedUntil(until) => State::Delayed(until),
        Visibility::InFlightUntil(until) => State::InFlight(until),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn standard_queue_does_what_the_model_does(steps in prop::collection::vec(step(), 1..80)) {
        let mut pair = Pair::new(false);
        for step in &steps {
            pair.apply(step);
            pair.check();
        }
    }

    #[test]
    fn fifo_queue_does_what_the_model_does(steps in prop::collection::vec(step(), 1..80)) {
        let mut pair = Pair::new(true);
        for step in &steps {
            pair.apply(step);
            pair.check();
        }
    }
}
