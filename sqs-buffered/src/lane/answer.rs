//! What came of a batch.

use sqs_client::service_error::ErrorCode;

use crate::error::{SendError, SendErrorKind};

/// What came of the request of a batch.
#[derive(Debug)]
pub(crate) enum Answer<R> {
    /// One result for each entry, by its place.
    Entries(Vec<EntryAnswer<R>>),
    /// The request failed as a whole.
    Failed(Failure),
    /// The entries are together too long for the service.
    TooLong(SendError),
}

/// What came of one entry.
#[derive(Debug)]
pub(crate) enum EntryAnswer<R> {
    /// The service has done it.
    Accepted(R),
    /// The service has done it, but what it says about it is wrong.
    Damaged(SendError),
    /// The service has not done it.
    Refused(Refusal),
    /// The answer says nothing of it, or contradicts itself.
    Unaccounted,
}

/// Why the service has not done something with an entry.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// What it is called when it is the end.
    pub(crate) kind: SendErrorKind,
    pub(crate) code: ErrorCode,
    pub(crate) message: Option<String>,
    /// Whether trying again can help.
    pub(crate) is_retryable: bool,
}

/// Why a request failed as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) error: SendError,
    /// Whether trying again can help.
    pub(crate) is_retryable: bool,
    /// Whether the service asked for fewer requests.
    pub(crate) is_throttle: bool,
    /// Whether the service may have done it all the same.
    pub(crate) is_outcome_unknown: bool,
}

impl<R> Answer<R> {
    /// Why the request failed as a whole.
    pub(crate) fn error(&self) -> Option<&SendError> {
        match self {
            Self::Entries(_) => None,
            Self::Failed(failure) => Some(&failure.error),
            Self::TooLong(error) => Some(error),
        }
    }

    /// Whether the service refuses something for lack of a deduplication id.
    pub(crate) fn misses_deduplication_id(&self) -> bool {
        let names_it = |text: Option<&str>| text.is_some_and(|text| text.contains("MessageDeduplicationId"));
        match self {
            Self::Entries(answers) => answers.iter().any(|answer| match answer {
                EntryAnswer::Refused(refusal) => names_it(refusal.message.as_deref()),
                _ => false,
            }),
            Self::Failed(failure) => names_it(failure.error.message()),
            Self::TooLong(_) => false,
        }
    }
}

impl Failure {
    /// The same, before anything was sent.
    pub(crate) fn unsent(self) -> Self {
        Self { error: self.error.maybe_sent(false), is_outcome_unknown: false, ..self }
    }
}

/// What an entry gives that was accepted.
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
