//! The metrics of a consumer or receiver.

use std::time::Duration;

use super::event::{Event, Settled};
use crate::consume::outcome::Outcome;
use crate::meter::{Counter, Family, Histogram, Level, Meter};
use crate::metrics as names;

const RECEIVE: &str = "ReceiveMessage";
/// The number of handler outcomes, including failures.
const HANDLED: usize = 8;
const SETTLED: usize = Settled::Returned as usize + 1;

/// The metrics of a consumer or receiver: of one queue.
#[derive(Debug)]
pub(crate) struct ConsumerMetrics {
    meter: Meter,
    answered: Counter,
    empty: Counter,
    consumed: Counter,
    receive_duration: Histogram,
    receive_failure_duration: Family<Histogram, 1>,
    handled: Family<Histogram, HANDLED>,
    settled: Family<Counter, SETTLED>,
    duplicates: Counter,
    leases_lost: Counter,
    renewals_failed: Counter,
    settles_failed: Counter,
}

impl ConsumerMetrics {
    pub(super) fn new(queue_url: &str) -> Self {
        let meter = Meter::of_queue(queue_url);
        let receive = meter.with(names::OPERATION_LABEL, RECEIVE);
        let duration: fn(&Meter) -> Histogram = |meter| meter.histogram(names::OPERATION_DURATION);
        Self {
            answered: meter.counter(names::RECEIVES_ANSWERED),
            empty: meter.counter(names::RECEIVES_EMPTY),
            consumed: receive.counter(names::CONSUMED_MESSAGES),
            receive_duration: duration(&receive),
            receive_failure_duration: Family::new(&receive, names::ERROR_LABEL, duration),
            handled: Family::new(&meter, names::OUTCOME_LABEL, |meter| {
                meter.histogram(names::PROCESS_DURATION)
            }),
            settled: Family::new(&meter, names::OUTCOME_LABEL, |meter| {
                meter.counter(names::MESSAGES_SETTLED)
            }),
            duplicates: meter.counter(names::MESSAGES_DUPLICATE),
            leases_lost: meter.counter(names::LEASES_LOST),
            renewals_failed: meter.counter(names::RENEWALS_FAILED),
            settles_failed: meter.counter(names::SETTLES_FAILED),
            meter,
        }
    }

    /// Messages that are held and not settled.
    pub(crate) fn held(&self) -> Level {
        self.meter.level(names::MESSAGES_HELD)
    }

    pub(crate) fn handlers_running(&self) -> Level {
        self.meter.level(names::HANDLERS_RUNNING)
    }

    pub(crate) fn handlers_limit(&self) -> Level {
        self.meter.level(names::HANDLERS_LIMIT)
    }

    /// One attempt to receive has ended.
    pub(crate) fn receive_ended(&self, elapsed: Duration, has_failed: bool) {
        let seconds = elapsed.as_secs_f64();
        if has_failed {
            self.receive_failure_duration.with((0, "request"), |duration| duration.record(seconds));
        } else {
            self.receive_duration.record(seconds);
        }
    }

    pub(super) fn duplicate(&self) {
        self.duplicates.increment(1);
    }

    /// Counts an event.
    pub(super) fn count(&self, event: &Event<'_>) {
        match event {
            Event::Received { messages, .. } => {
                self.answered.increment(1);
                self.empty.increment(u64::from(*messages == 0));
                self.consumed.increment(u64::try_from(*messages).unwrap_or(u64::MAX));
            }
            Event::Handled { outcome, elapsed, .. } => {
                self.handled.with(handled(*outcome), |duration| duration.record(elapsed.as_secs_f64()));
            }
            Event::Settled { how, .. } => {
                self.settled.with((*how as usize, how.as_str()), |settled| settled.increment(1));
            }
            Event::RenewalFailed { .. } => self.renewals_failed.increment(1),
            Event::LeaseLost { .. } => self.leases_lost.increment(1),
            Event::SettleFailed { .. } => self.settles_failed.increment(1),
            Event::ReceiveFailed { .. }
            | Event::Damaged { .. }
            | Event::Unopened { .. }
            | Event::HandlerFailed { .. }
            | Event::HandlerPanicked { .. }
            | Event::DeadLetterFailed { .. } => {}
        }
    }
}

fn handled(outcome: Option<&Outcome>) -> (usize, &'static str) {
    match outcome {
        Some(Outcome::Ack) => (0, "ack"),
        Some(Outcome::Nack(_)) => (1, "nack"),
        Some(Outcome::Release) => (2, "release"),
        Some(Outcome::Keep) => (3, "keep"),
        Some(Outcome::Retry(_)) => (4, "retry"),
        Some(Outcome::Overloaded) => (5, "overloaded"),
        Some(Outcome::DeadLetter(_)) => (6, "dead_letter"),
        None => (7, "failed"),
    }
}
