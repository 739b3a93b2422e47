//! What happens on the way of sends, deletes and changes of visibility, for those who measure it.

use std::time::Duration;

use sqs_client::operation::Action;

use super::error::SendError;

/// Something that happened to a batch or to an entry. [`Stats`](crate::Stats) has the sums; this says what it was. More may be
/// added. [`Builder::on_event`](crate::Builder::on_event) gets them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SendEvent<'a> {
    /// A request was answered, or failed.
    #[non_exhaustive]
    Batch {
        /// The queue.
        queue_url: &'a str,
        /// What was asked for, such as `SendMessageBatch`.
        operation: Action,
        /// Entries in the batch: 1 to 10.
        entries: usize,
        /// Their size as the service counts it; 0 of all but sends.
        bytes: usize,
        /// Entries in the batch that had been in one before.
        retried: usize,
        /// From the admission of the entries to this, their first, request; added up.
        waited: Duration,
        /// From the request to its answer.
        duration: Duration,
        /// Why the request failed as a whole.
        error: Option<&'a SendError>,
    },
    /// An entry was not done, and is tried again.
    #[non_exhaustive]
    Retried {
        /// The queue.
        queue_url: &'a str,
        /// What was asked for.
        operation: Action,
        /// Why it was not done.
        error: &'a SendError,
        /// Requests that it was in.
        attempts: u32,
        /// When it is tried again, from now.
        retry_in: Duration,
    },
    /// An entry ended without success.
    #[non_exhaustive]
    Failed {
        /// The queue.
        queue_url: &'a str,
        /// What was asked for.
        operation: Action,
        /// How it ended: what its tickets say.
        error: &'a SendError,
    },
}
