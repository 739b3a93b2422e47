//! Events of sends, deletes and visibility changes.

use std::time::Duration;

use sqs_client::operation::Action;

use super::error::SendError;

/// An event of a batch or an entry, for the hook of [`Builder::on_event`](crate::Builder::on_event). [`Stats`](crate::Stats)
/// has the totals.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SendEvent<'a> {
    /// A request has completed or failed.
    #[non_exhaustive]
    Batch {
        /// The queue.
        queue_url: &'a str,
        /// The operation, such as `SendMessageBatch`.
        operation: Action,
        /// Entries in the batch: 1 to 10.
        entries: usize,
        /// Their size in bytes as SQS counts it; 0 for deletes and visibility changes.
        bytes: usize,
        /// Entries in the batch that are retries.
        retried: usize,
        /// The time from admission to first request, summed over the entries whose first request this is.
        waited: Duration,
        /// The time from the request to its response.
        duration: Duration,
        /// The error, if the whole request failed.
        error: Option<&'a SendError>,
    },
    /// An entry failed and will be retried.
    #[non_exhaustive]
    Retried {
        /// The queue.
        queue_url: &'a str,
        /// The operation, such as `SendMessageBatch`.
        operation: Action,
        /// Why it failed.
        error: &'a SendError,
        /// The number of requests that contained it.
        attempts: u32,
        /// The time until the retry.
        retry_in: Duration,
    },
    /// An entry failed for good.
    #[non_exhaustive]
    Failed {
        /// The queue.
        queue_url: &'a str,
        /// The operation, such as `SendMessageBatch`.
        operation: Action,
        /// The error that its tickets return.
        error: &'a SendError,
    },
}
