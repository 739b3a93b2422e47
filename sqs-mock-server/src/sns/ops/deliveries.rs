//! Counters of deliveries, for Prometheus.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::service::metrics::{Exposition, Kind};

/// What became of a message for one subscription.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// It is in the queue.
    Delivered,
    /// It is in the dead-letter queue of the subscription.
    DeadLettered,
    /// It is in no queue.
    Dropped,
    /// The endpoint is outside of this server.
    NotSent,
}

/// The outcomes in the order of their declaration, as labels.
const LABELS: [&str; 4] = ["delivered", "dead_lettered", "dropped", "not_sent"];

/// Counters since the start of the server, indexed by outcome.
#[derive(Debug, Default)]
pub(super) struct Deliveries([AtomicU64; LABELS.len()]);

impl Deliveries {
    /// Counts a message for one subscription.
    pub(super) fn count(&self, outcome: Outcome) {
        if let Some(counter) = self.0.get(outcome as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes all counters. Outcomes that never occurred have no sample.
    pub(super) fn write(&self, text: &mut Exposition) {
        let name = "sqs_mock_sns_deliveries_total";
        text.family(name, Kind::Counter, "Messages of topics by outcome, once for each subscription.");
        for (label, counter) in LABELS.iter().zip(&self.0) {
            let count = counter.load(Ordering::Relaxed);
            if count > 0 {
                text.sample(name, &[("outcome", label)], count);
            }
        }
    }
}
