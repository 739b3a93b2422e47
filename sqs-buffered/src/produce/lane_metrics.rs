//! The metrics of one lane.

use std::time::Duration;

use sqs_client::operation::Action;

use super::admission::Amount;
use super::error::SendErrorKind;
use super::lane::BatchSize;
use crate::meter::{Counter, Family, Gauge, Histogram, Level, Meter, amount};
use crate::metrics as names;

const KINDS: usize = SendErrorKind::NoRuntime as usize + 1;

/// The metrics of one lane: of a queue and an operation.
#[derive(Debug)]
pub(crate) struct LaneMetrics {
    admitted: Counter,
    accepted: Counter,
    failed: Family<Counter, KINDS>,
    /// `None` for lanes that send no messages.
    sent: Option<(Counter, Family<Counter, KINDS>)>,
    retried: Counter,
    entries: Gauge,
    bytes: Gauge,
    buffered: Histogram,
    batch_entries: Histogram,
    batch_bytes: Option<Histogram>,
    duration: Histogram,
    failure_duration: Family<Histogram, KINDS>,
    in_flight: Gauge,
    pub(crate) in_flight_limit: Level,
    pub(crate) oldest_age: Gauge,
}

/// A batch in flight. Dropping it ends the batch.
#[derive(Debug)]
pub(crate) struct InFlightMetric<'a>(&'a Gauge);

impl Drop for InFlightMetric<'_> {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

impl LaneMetrics {
    pub(crate) fn new(queue_url: &str, operation: Action) -> Self {
        let meter = Meter::of_queue(queue_url).with(names::OPERATION_LABEL, operation.as_str());
        let sends = operation == Action::SendMessageBatch;
        let sent: fn(&Meter) -> Counter = |meter| meter.counter(names::SENT_MESSAGES);
        Self {
            admitted: meter.counter(names::ENTRIES_ADMITTED),
            accepted: meter.counter(names::ENTRIES_ACCEPTED),
            failed: Family::new(&meter, names::ERROR_LABEL, |meter| meter.counter(names::ENTRIES_FAILED)),
            sent: sends.then(|| (sent(&meter), Family::new(&meter, names::ERROR_LABEL, sent))),
            retried: meter.counter(names::ENTRIES_RETRIED),
            entries: meter.gauge(names::ENTRIES_HELD),
            bytes: meter.gauge(names::BYTES_HELD),
            buffered: meter.histogram(names::BUFFER_DURATION),
            batch_entries: meter.histogram(names::BATCH_ENTRIES),
            batch_bytes: sends.then(|| meter.histogram(names::BATCH_SIZE)),
            duration: meter.histogram(names::OPERATION_DURATION),
            failure_duration: Family::new(&meter, names::ERROR_LABEL, |meter| {
                meter.histogram(names::OPERATION_DURATION)
            }),
            in_flight: meter.gauge(names::BATCHES_IN_FLIGHT),
            in_flight_limit: meter.level(names::IN_FLIGHT_LIMIT),
            oldest_age: meter.gauge(names::OLDEST_AGE),
        }
    }

    pub(super) fn admitted(&self, bytes: usize) {
        self.admitted.increment(1);
        self.entries.increment(1.0);
        self.bytes.increment(amount(bytes));
    }

    /// Entries have ended. Call this before their capacity is returned.
    pub(super) fn released(&self, held: Amount) {
        self.entries.decrement(amount(held.entries));
        self.bytes.decrement(amount(held.bytes));
    }

    pub(super) fn sending(&self) -> InFlightMetric<'_> {
        self.in_flight.increment(1.0);
        InFlightMetric(&self.in_flight)
    }

    /// A request has completed or failed.
    pub(super) fn sent(&self, size: &BatchSize, duration: Duration, failure: Option<SendErrorKind>) {
        self.batch_entries.record(amount(size.entries));
        if let Some(bytes) = &self.batch_bytes {
            bytes.record(amount(size.bytes));
        }
        self.retried.increment(count(size.retried));
        let first = size.entries.saturating_sub(size.retried);
        if first > 0 {
            self.buffered.record_many(size.waited.as_secs_f64() / amount(first), first);
        }
        let seconds = duration.as_secs_f64();
        match failure {
            None => self.duration.record(seconds),
            Some(kind) => self.failure_duration.with(label(kind), |duration| duration.record(seconds)),
        }
    }

    pub(super) fn ended(&self, entries: usize, failure: Option<SendErrorKind>) {
        let entries = count(entries);
        match failure {
            None => {
                self.accepted.increment(entries);
                self.sent.iter().for_each(|(sent, _)| sent.increment(entries));
            }
            Some(kind) => {
                self.failed.with(label(kind), |failed| failed.increment(entries));
                let failed = self.sent.iter().map(|(_, failed)| failed);
                failed.for_each(|failed| failed.with(label(kind), |failed| failed.increment(entries)));
            }
        }
    }
}

fn label(kind: SendErrorKind) -> (usize, &'static str) {
    (kind as usize, kind.as_str())
}

fn count(entries: usize) -> u64 {
    u64::try_from(entries).unwrap_or(u64::MAX)
}
