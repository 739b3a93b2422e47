//! Names of the metrics that clients, consumers and receivers record through the [`metrics`](https://docs.rs/metrics) facade.
//!
//! Install a recorder, such as that of `metrics-exporter-prometheus`, **before** you create the first
//! [`BufferedClient`](crate::BufferedClient): each queue looks up its metrics only once, on first use.
//!
//! | Name | Type | Unit | Labels | Value |
//! |---|---|---|---|---|
//! | `messaging.client.operation.duration` | histogram | s | Q, O, E | one request: a batch, or one attempt to receive, including the wait for messages |
//! | `messaging.client.sent.messages` | counter | messages | Q, O, E | messages that were sent, or failed for good |
//! | `messaging.client.consumed.messages` | counter | messages | Q, O | messages that were received |
//! | `messaging.process.duration` | histogram | s | Q, R | one run of a handler; a batch handler counts once for each message |
//! | `sqs_buffered.entries.admitted` | counter | entries | Q, O | sends, deletes and visibility changes that were admitted |
//! | `sqs_buffered.entries.accepted` | counter | entries | Q, O | entries that SQS has accepted |
//! | `sqs_buffered.entries.failed` | counter | entries | Q, O, E | entries that failed for good |
//! | `sqs_buffered.entries.retried` | counter | entries | Q, O | entries in batches that are retries |
//! | `sqs_buffered.entries.held` | gauge | entries | Q, O | entries that are buffered or in flight |
//! | `sqs_buffered.bytes.held` | gauge | bytes | Q, O | their size; 0 for deletes and visibility changes |
//! | `sqs_buffered.entries.buffer.duration` | histogram | s | Q, O | from admission to the first request, averaged over the entries of a batch |
//! | `sqs_buffered.entries.oldest.age` | gauge | s | Q, O | age of the oldest entry that is buffered and not in flight |
//! | `sqs_buffered.batches.entries` | histogram | entries | Q, O | entries in one batch; its count is the number of batches |
//! | `sqs_buffered.batches.size` | histogram | bytes | Q, O | size of one batch; batches of sends only |
//! | `sqs_buffered.batches.in_flight` | gauge | batches | Q, O | batches in flight |
//! | `sqs_buffered.batches.in_flight_limit` | gauge | batches | Q, O | how many may be in flight ([`InFlight`](crate::InFlight)) |
//! | `sqs_buffered.receives.answered` | counter | receives | Q | receives that got a response |
//! | `sqs_buffered.receives.empty` | counter | receives | Q | receives without messages |
//! | `sqs_buffered.messages.held` | gauge | messages | Q | messages that were received and are not settled |
//! | `sqs_buffered.messages.duplicate` | counter | messages | Q | deliveries of messages that were already held |
//! | `sqs_buffered.messages.settled` | counter | messages | Q, R | messages that were settled |
//! | `sqs_buffered.leases.lost` | counter | leases | Q | leases that were lost |
//! | `sqs_buffered.renewals.failed` | counter | renewals | Q | failed attempts to renew a lease that did not lose it |
//! | `sqs_buffered.settles.failed` | counter | settles | Q | deletes and visibility changes of received messages that failed for good |
//! | `sqs_buffered.handlers.timed_out` | counter | runs | Q | handlers that took longer than their timeout |
//! | `sqs_buffered.messages.retried_in_place` | counter | runs | Q | failed messages of FIFO queues that run again in place ([`Poison`](crate::Poison)) |
//! | `sqs_buffered.messages.unopened` | counter | messages | Q | messages that the client below could not open, such as those whose payload did not load |
//! | `sqs_buffered.dead_letters.failed` | counter | messages | Q | messages that could not be sent to the dead-letter queue |
//! | `sqs_buffered.handlers.running` | gauge | handlers | Q | running handlers |
//! | `sqs_buffered.handlers.limit` | gauge | handlers | Q | how many may run: the consumer's share of its pool ([`Concurrency`](crate::Concurrency)) |
//!
//! | Labels | Values |
//! |---|---|
//! | Q: `messaging.system`, `messaging.destination.name` | `aws_sqs`, the queue name |
//! | O: `messaging.operation.name` | the SQS action, such as `SendMessageBatch` |
//! | E: `error.type`, on failures only | [`SendErrorKind::as_str`](crate::SendErrorKind::as_str); `request` for a failed receive |
//! | R: `sqs_buffered.outcome`, of `messaging.process.duration` | `ack`, `nack`, `release`, `keep`, `retry`, `overloaded`, `dead_letter`; `failed` after an error or panic |
//! | R: `sqs_buffered.outcome`, of `sqs_buffered.messages.settled` | [`Settled::as_str`](crate::Settled::as_str) |
//!
//! No label contains message ids, group ids or error texts.
//!
//! Names, units and labels follow OpenTelemetry's [conventions for
//! messaging](https://opentelemetry.io/docs/specs/semconv/messaging/messaging-metrics/) where these define them. Names
//! contain dots, as there. Exporters to OpenTelemetry pass them on unchanged; exporters to Prometheus turn the dots
//! into underscores.
//!
//! A gauge is the sum over all clients and consumers of the process that use the queue. The exception is
//! `sqs_buffered.entries.oldest.age`: it is the latest value that any of them reported, at most once a second.

/// Declares the names, and the descriptions for recorders.
macro_rules! names {
    ($( $constant:ident = $name:literal, $type:ident, $unit:ident, $text:literal; )*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $text, ".")]
            pub const $constant: &str = $name;
        )*

        /// Describes all metrics to the recorder.
        #[cfg(feature = "metrics")]
        pub(crate) fn describe() {
            $( names!(@ $type, $name, $unit, $text); )*
        }

        #[cfg(test)]
        const ALL: &[(&str, &str)] = &[$( ($name, stringify!($type)) ),*];
    };
    (@ counter, $name:literal, $unit:ident, $text:literal) => {
        ::metrics::describe_counter!($name, ::metrics::Unit::$unit, $text);
    };
    (@ gauge, $name:literal, $unit:ident, $text:literal) => {
        ::metrics::describe_gauge!($name, ::metrics::Unit::$unit, $text);
    };
    (@ histogram, $name:literal, $unit:ident, $text:literal) => {
        ::metrics::describe_histogram!($name, ::metrics::Unit::$unit, $text);
    };
}

names! {
    OPERATION_DURATION = "messaging.client.operation.duration", histogram, Seconds, "Duration of a request";
    SENT_MESSAGES = "messaging.client.sent.messages", counter, Count, "Messages that were sent or failed for good";
    CONSUMED_MESSAGES = "messaging.client.consumed.messages", counter, Count, "Messages that were received";
    PROCESS_DURATION = "messaging.process.duration", histogram, Seconds, "Duration of a run of a handler";
    ENTRIES_ADMITTED = "sqs_buffered.entries.admitted", counter, Count, "Entries that were admitted";
    ENTRIES_ACCEPTED = "sqs_buffered.entries.accepted", counter, Count, "Entries that SQS has accepted";
    ENTRIES_FAILED = "sqs_buffered.entries.failed", counter, Count, "Entries that failed for good";
    ENTRIES_RETRIED = "sqs_buffered.entries.retried", counter, Count, "Entries in batches that are retries";
    ENTRIES_HELD = "sqs_buffered.entries.held", gauge, Count, "Entries that are buffered or in flight";
    BYTES_HELD = "sqs_buffered.bytes.held", gauge, Bytes, "Size of the entries that are buffered or in flight";
    BUFFER_DURATION = "sqs_buffered.entries.buffer.duration", histogram, Seconds, "Time from admission to the first request";
    OLDEST_AGE = "sqs_buffered.entries.oldest.age", gauge, Seconds, "Age of the oldest entry that is buffered and not in flight";
    BATCH_ENTRIES = "sqs_buffered.batches.entries", histogram, Count, "Entries in a batch";
    BATCH_SIZE = "sqs_buffered.batches.size", histogram, Bytes, "Size of a batch of sends";
    BATCHES_IN_FLIGHT = "sqs_buffered.batches.in_flight", gauge, Count, "Batches in flight";
    IN_FLIGHT_LIMIT = "sqs_buffered.batches.in_flight_limit", gauge, Count, "How many batches may be in flight";
    RECEIVES_ANSWERED = "sqs_buffered.receives.answered", counter, Count, "Receives that got a response";
    RECEIVES_EMPTY = "sqs_buffered.receives.empty", counter, Count, "Receives without messages";
    MESSAGES_HELD = "sqs_buffered.messages.held", gauge, Count, "Messages that were received and are not settled";
    MESSAGES_DUPLICATE = "sqs_buffered.messages.duplicate", counter, Count, "Deliveries of messages that were already held";
    MESSAGES_SETTLED = "sqs_buffered.messages.settled", counter, Count, "Messages that were settled";
    LEASES_LOST = "sqs_buffered.leases.lost", counter, Count, "Leases that were lost";
    RENEWALS_FAILED = "sqs_buffered.renewals.failed", counter, Count, "Failed attempts to renew a lease that did not lose it";
    SETTLES_FAILED = "sqs_buffered.settles.failed", counter, Count, "Deletes and visibility changes of received messages that failed for good";
    HANDLERS_TIMED_OUT = "sqs_buffered.handlers.timed_out", counter, Count, "Handlers that took longer than their timeout";
    RETRIED_IN_PLACE = "sqs_buffered.messages.retried_in_place", counter, Count, "Failed messages of FIFO queues that run again in place";
    UNOPENED = "sqs_buffered.messages.unopened", counter, Count, "Messages that the client below could not open";
    DEAD_LETTERS_FAILED = "sqs_buffered.dead_letters.failed", counter, Count, "Messages that could not be sent to the dead-letter queue";
    HANDLERS_RUNNING = "sqs_buffered.handlers.running", gauge, Count, "Running handlers";
    HANDLERS_LIMIT = "sqs_buffered.handlers.limit", gauge, Count, "How many handlers may run";
}

/// `messaging.operation.name`: the label with the SQS action.
pub const OPERATION_LABEL: &str = "messaging.operation.name";
/// `messaging.destination.name`: the label with the queue name.
pub const QUEUE_LABEL: &str = "messaging.destination.name";
/// `error.type`: the label with the kind of a failure.
pub const ERROR_LABEL: &str = "error.type";
/// `sqs_buffered.outcome`: the label with what a handler returned, or how a message was settled.
pub const OUTCOME_LABEL: &str = "sqs_buffered.outcome";

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn table_has_each_metric_once_with_its_type() {
        let table: Vec<_> =
            include_str!("metrics.rs").lines().filter(|line| line.starts_with("//! | `")).collect();
        for (name, metric_type) in ALL {
            let row = format!("//! | `{name}` | {metric_type} | ");
            assert_eq!(table.iter().filter(|line| line.starts_with(&row)).count(), 1, "{row}");
        }
        assert_eq!(table.len(), ALL.len(), "each row is a metric");
    }
}
