//! What came of a batch.

use crate::produce::error::SendError;

/// What came of the request of a batch. An error says itself whether the entry is retried
/// ([`is_transient`](SendError::is_transient)), whether the service throttles, and whether it may have the entry all the same.
#[derive(Debug)]
pub(crate) enum Answer<R> {
    /// One result for each entry, by its position.
    Entries(Vec<Result<R, SendError>>),
    /// The request failed as a whole.
    Failed(SendError),
    /// The entries are together too long for the service.
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

    /// The result of the entry at that position; `None` if the answer does not mention it.
    pub(crate) fn result(&self, position: usize) -> Option<Result<&R, &SendError>> {
        match self {
            Self::Entries(results) => results.get(position).map(Result::as_ref),
            Self::Failed(error) | Self::TooLong(error) => Some(Err(error)),
        }
    }

    /// Whether the service refused the batch, or every entry of it, to lower the rate.
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

/// What an accepted entry gives.
pub(crate) trait Receipt {
    /// Its place in the queue, where the queue has an order.
    fn sequence_number(&self) -> Option<u128> {
        None
    }

    /// The id of the message, where there is one.
    fn message_id(&self) -> Option<&str> {
        None
    }

    /// Notes that the service may have done it twice.
    fn maybe_duplicate(&mut self) {}
}

impl Receipt for () {}
