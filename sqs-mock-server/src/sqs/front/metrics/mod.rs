//! Metrics of SQS for Prometheus.
//!
//! ```text
//! request -> Record (begins) -> ... -> Record (ends, or is dropped) -> Metrics: one counter, one histogram
//! GET /metrics -> Metrics + current state of Service, one queue's lock at a time -> text
//! ```
//! Counting takes three atomic additions, without locks or allocations.

mod record;
mod render;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use crate::service::metrics::{self, Connections, Histogram, UNKNOWN};
use crate::service::stopwatch::Stopwatch;

pub(super) use record::Record;
pub(super) use render::render;

const ACTIONS: usize = Action::ALL.len() + 1;

/// Labels that are not errors of SQS. The last one stands for all unlisted codes.
const OTHER_CODES: [&str; 6] =
    ["OK", metrics::ABORTED, "NoAction", "MethodNotAllowed", "RequestEntityTooLarge", "other"];
const OK: usize = 0;
const ABORTED: usize = 1;
const CODES: usize = OTHER_CODES.len() + ErrorCode::ALL.len();

/// Upper bounds of the histogram of requests, in microseconds.
const DURATIONS: [u64; 12] = [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000];
/// Upper bounds of the histogram of long polls, in microseconds.
const WAITS: [u64; 8] = [10_000, 100_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000];

/// Counters of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    started: Stopwatch,
    /// Indexed by action and code.
    requests: [[AtomicU64; CODES]; ACTIONS],
    durations: [Histogram<{ DURATIONS.len() }>; ACTIONS],
    waits: Histogram<{ WAITS.len() }>,
    connections: Connections,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self {
            started: Stopwatch::start(),
            requests: [const { [const { AtomicU64::new(0) }; CODES] }; ACTIONS],
            durations: [const { Histogram::new(&DURATIONS) }; ACTIONS],
            waits: Histogram::new(&WAITS),
            connections: Connections::default(),
        }
    }

    /// Counts a request that has a duration.
    fn record(&self, action: Option<Action>, code: usize, took: Duration) {
        let action = action_index(action);
        self.count_at(action, code);
        if let Some(durations) = self.durations.get(action) {
            durations.observe(took);
        }
    }

    /// Counts a request that was rejected before its body was read.
    pub(super) fn count_unread(&self, code: &ErrorCode) {
        self.count_at(action_index(None), code_index(code));
    }

    fn count_at(&self, action: usize, code: usize) {
        if let Some(counter) = self.requests.get(action).and_then(|codes| codes.get(code)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a connection as open until the returned guard is dropped.
    pub(super) fn connection(&self) -> impl Drop + '_ {
        self.connections.open()
    }
}

fn action_index(action: Option<Action>) -> usize {
    action.map_or(Action::ALL.len(), |action| action as usize)
}

fn action_label(index: usize) -> &'static str {
    Action::ALL.get(index).map_or(UNKNOWN, |action| action.as_str())
}

/// Searches linearly, but only for failed requests.
fn code_index(code: &ErrorCode) -> usize {
    if let ErrorCode::Other(name) = code {
        let found = OTHER_CODES.iter().position(|other| other == name);
        return found.unwrap_or(OTHER_CODES.len() - 1);
    }
    let found = ErrorCode::ALL.iter().position(|other| other == code);
    found.map_or(OTHER_CODES.len() - 1, |at| OTHER_CODES.len() + at)
}

fn code_label(index: usize) -> &'static str {
    let known = |at: usize| ErrorCode::ALL.get(at).map(ErrorCode::query_code);
    let other = OTHER_CODES.get(index).copied();
    other.or_else(|| known(index.checked_sub(OTHER_CODES.len())?)).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_and_code_has_its_own_label() {
        for (at, action) in Action::ALL.into_iter().enumerate() {
            assert_eq!((action_index(Some(action)), action_label(at)), (at, action.as_str()));
        }
        assert_eq!(action_label(action_index(None)), "unknown");
        let mut labels: Vec<_> = (0..CODES).map(code_label).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), CODES);
        for code in ErrorCode::ALL {
            assert_eq!(code_label(code_index(code)), code.query_code());
        }
    }

    #[test]
    fn unknown_codes_share_a_label() {
        assert_eq!(code_label(code_index(&ErrorCode::from_name("MethodNotAllowed"))), "MethodNotAllowed");
        assert_eq!(code_label(code_index(&ErrorCode::from_name("Surprise"))), "other");
    }
}
