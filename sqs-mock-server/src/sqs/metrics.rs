//! Metrics of SQS for Prometheus.
//!
//! ```text
//! request -> Observer (ends, or is dropped) -> Metrics: one counter, one histogram
//! GET /metrics -> Metrics + current state of Service, one queue's lock at a time -> text
//! ```
//! Counting a successful request takes three atomic additions, without locks or allocations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqs_client::operation::Action;

use crate::control::commits::Commits;
use crate::control::journal::Ending;
use crate::control::metrics::{Counters, Exposition, Gauge, Histogram, Kind, OK, Stopwatch, UNKNOWN};
use crate::sqs::ops::inspect::QueueUsage;
use crate::sqs::service::Service;

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
    pub(crate) waits: Histogram<{ WAITS.len() }>,
    pub(crate) connections: Gauge,
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
    pub(crate) fn record(&self, action: Option<Action>, ending: &Ending, took: Duration) {
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

    /// Combinations that never occurred have no sample.
    fn requests(&self, text: &mut Exposition) {
        let name = "sqs_mock_requests_total";
        text.family(
            name,
            Kind::Counter,
            "Requests by action and error code; the code of successful requests is OK.",
        );
        for (action, counter) in self.successful.iter().enumerate() {
            let count = counter.load(Ordering::Relaxed);
            if count > 0 {
                text.sample(name, &[("action", action_label(action)), ("code", OK)], count);
            }
        }
        self.failed.write(text, name);
        let name = "sqs_mock_request_duration_seconds";
        text.family(name, Kind::Histogram, "Time to answer a request, without the wait of long polls.");
        for (action, durations) in self.durations.iter().enumerate() {
            if let Some(reading) = durations.read() {
                text.histogram(name, &[("action", action_label(action))], &reading);
            }
        }
        let name = "sqs_mock_long_poll_wait_seconds";
        text.family(name, Kind::Histogram, "Time that receives waited for messages.");
        if let Some(reading) = self.waits.read() {
            text.histogram(name, &[], &reading);
        }
    }

    fn server(&self, text: &mut Exposition, service: &Service) {
        let usage = service.usage();
        let open = self.connections.count();
        let uptime = self.started.elapsed().as_secs_f64();
        let clock = service.clock().now().as_secs();
        let mut gauge = |name: &str, help: &str, value: &dyn std::fmt::Display| {
            text.single(name, Kind::Gauge, help, value);
        };
        gauge("sqs_mock_open_connections", "Open connections.", &open);
        gauge("sqs_mock_parked_receives", "Receives that wait for messages.", &usage.parked);
        gauge("sqs_mock_queues", "Queues in all accounts and regions.", &usage.queues);
        gauge(
            "sqs_mock_stored_bytes",
            "Memory of all messages, topics and subscriptions in bytes.",
            &usage.stored_bytes,
        );
        gauge(
            "sqs_mock_stored_bytes_limit",
            "Maximum memory of all messages, topics and subscriptions in bytes.",
            &usage.max_memory,
        );
        gauge("sqs_mock_uptime_seconds", "Time since the start.", &uptime);
        gauge("sqs_mock_clock_seconds", "Time of the mock clock, since the Unix epoch.", &clock);
        let name = "sqs_mock_build_info";
        text.family(name, Kind::Gauge, "Always 1; the version is a label.");
        text.sample(name, &[("version", env!("CARGO_PKG_VERSION"))], 1);
    }
}

fn action_label(index: usize) -> &'static str {
    Action::ALL.get(index).map_or(UNKNOWN, |action| action.as_str())
}

/// Renders all metrics. Queues are read one by one, with other requests in between.
///
/// # Cancel safety
/// Dropping the future changes nothing.
pub(crate) async fn render(metrics: &Metrics, service: &Service) -> Exposition {
    let mut text = Exposition::default();
    metrics.requests(&mut text);
    metrics.server(&mut text, service);
    if let Some(commits) = service.commits() {
        store(&mut text, commits);
    }
    let queues = service.usage_by_queue().await;
    for (name, help, value) in QUEUE_FAMILIES {
        let name = format!("sqs_mock_queue_{name}");
        text.family(&name, Kind::Gauge, help);
        for queue in &queues {
            let arn = &queue.arn;
            let labels = [("region", &*arn.region), ("account", &*arn.account), ("queue", &*arn.name)];
            text.sample(&name, &labels, value(queue));
        }
        tokio::task::yield_now().await;
    }
    text
}

/// The metrics of a data directory.
fn store(text: &mut Exposition, commits: &Commits) {
    let name = "sqs_mock_data_info";
    text.family(name, Kind::Gauge, "Always 1; the durability of the data directory is a label.");
    text.sample(name, &[("durability", commits.durability())], 1);
    let help = "Size of the database after the latest commit in bytes.";
    text.single("sqs_mock_data_bytes", Kind::Gauge, help, commits.stored_bytes());
    let name = "sqs_mock_data_commit_seconds";
    text.family(name, Kind::Histogram, "Duration of commits; responses wait for them.");
    if let Some(reading) = commits.durations() {
        text.histogram(name, &[], &reading);
    }
}

/// Name, help and value of a gauge with one sample per queue.
type QueueFamily = (&'static str, &'static str, fn(&QueueUsage) -> f64);

const QUEUE_FAMILIES: [QueueFamily; 5] = [
    ("messages_available", "Visible messages.", |queue| number(queue.counts.available)),
    ("messages_in_flight", "Messages that were received and are still invisible.", |queue| {
        number(queue.counts.in_flight)
    }),
    ("messages_delayed", "Delayed messages.", |queue| number(queue.counts.delayed)),
    (
        "oldest_message_age_seconds",
        "Age of the oldest message by the mock clock; 0 without messages.",
        |queue| queue.oldest_age.as_secs_f64(),
    ),
    ("stored_bytes", "Memory of the messages, with the deduplication ids of a FIFO queue.", |queue| {
        number(queue.stored_bytes)
    }),
];

/// Prometheus supports only floating-point numbers.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 messages and bytes")]
fn number(count: usize) -> f64 {
    count as f64
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
