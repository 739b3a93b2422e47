//! Metrics of SQS for Prometheus.
//!
//! ```text
//! request -> Observer (ends, or is dropped) -> Metrics: one counter, one histogram
//! GET /metrics -> Metrics + current state of Service, one queue's lock at a time -> text
//! ```
//! Counting a successful request takes three atomic additions, without locks or allocations.

mod render;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqs_client::operation::Action;

use crate::service::journal::Ending;
use crate::service::metrics::{Counters, Gauge, Histogram, UNKNOWN};
use crate::service::stopwatch::Stopwatch;

pub(super) use render::render;

const ACTIONS: usize = Action::ALL.len() + 1;

/// Upper bounds of the histogram of requests, in microseconds.
const DURATIONS: [u64; 12] = [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000];
/// Upper bounds of the histogram of long polls, in microseconds.
const WAITS: [u64; 8] = [10_000, 100_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000];

/// Counters of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    started: Stopwatch,
    /// Successful requests, indexed by action.
    successful: [AtomicU64; ACTIONS],
    /// Other requests by action and code.
    failed: Counters<2>,
    durations: [Histogram<{ DURATIONS.len() }>; ACTIONS],
    pub(super) waits: Histogram<{ WAITS.len() }>,
    pub(super) connections: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self {
            started: Stopwatch::start(),
            successful: [const { AtomicU64::new(0) }; ACTIONS],
            failed: Counters::new(["action", "code"]),
            durations: [const { Histogram::new(&DURATIONS) }; ACTIONS],
            waits: Histogram::new(&WAITS),
            connections: Gauge::default(),
        }
    }

    /// Counts a request.
    pub(super) fn record(&self, action: Option<Action>, ending: &Ending, took: Duration) {
        let index = action.map_or(Action::ALL.len(), |action| action as usize);
        match self.successful.get(index) {
            Some(counter) if matches!(ending, Ending::Answered { error: None, .. }) => {
                counter.fetch_add(1, Ordering::Relaxed);
            }
            _ => self.failed.count([action_label(index).into(), ending.code().to_owned().into()]),
        }
        if let Some(durations) = self.durations.get(index) {
            durations.observe(took);
        }
    }
}

fn action_label(index: usize) -> &'static str {
    Action::ALL.get(index).map_or(UNKNOWN, |action| action.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_of_an_action_is_its_name() {
        for action in Action::ALL {
            assert_eq!(action_label(action as usize), action.as_str());
        }
        assert_eq!(action_label(Action::ALL.len()), "unknown");
    }
}
