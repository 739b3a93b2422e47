//! The result of a batch.

use crate::produce::error::SendError;

/// The result of a batch. Each error says whether the entry is retried ([`is_transient`](SendError::is_transient)), whether SQS
/// throttles, and whether it may have executed the entry.
#[derive(Debug)]
pub(crate) enum Answer<R> {
    /// One result for each entry, by its position.
    Entries(Vec<Result<R, SendError>>),
    /// The request failed as a whole.
    Failed(SendError),
    /// The batch is too long for SQS.
    TooLong(SendError),
}

impl<R> Answer<R> {
    /// Why the request failed as a whole.
    pub(crate) fn error(&self) -> Option<&SendError> {
        match self {
            Self::Entries(_) => None,
            Self::Failed(error) | Self::TooLong(error) => Some(error),
        }
    }

    /// The result of the entry at this position; `None` if the response does not mention it.
    pub(crate) fn result(&self, position: usize) -> Option<Result<&R, &SendError>> {
        match self {
            Self::Entries(results) => results.get(position).map(Result::as_ref),
            Self::Failed(error) | Self::TooLong(error) => Some(Err(error)),
        }
    }

    /// Whether SQS throttled the whole batch, or each of its entries.
    pub(crate) fn is_throttle(&self) -> bool {
        match self {
            Self::Entries(results) => {
                let is_throttled =
                    |result: &Result<R, SendError>| matches!(result, Err(error) if error.is_throttle());
                !results.is_empty() && results.iter().all(is_throttled)
            }
            Self::Failed(error) => error.is_throttle(),
            Self::TooLong(_) => false,
        }
    }
}

/// The result of an accepted entry.
pub(crate) trait Receipt {
    /// Its sequence number, on FIFO queues.
    fn sequence_number(&self) -> Option<u128> {
        None
    }

    /// The message id, if there is one.
    fn message_id(&self) -> Option<&str> {
        None
    }

    /// Notes that SQS may have executed the entry twice.
    fn maybe_duplicate(&mut self) {}
}

impl Receipt for () {}
