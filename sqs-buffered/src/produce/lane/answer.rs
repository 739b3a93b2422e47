//! What came of a batch.

use sqs_client::wire::service_error::{ErrorCode, RetryClass};

use crate::produce::error::{SendError, SendErrorKind};

/// What came of the request of a batch.
#[derive(Debug)]
pub(crate) enum Answer<R> {
    /// One result for each entry, by its place.
    Entries(Vec<EntryAnswer<R>>),
    /// The request failed as a whole.
    Failed(Failure),
    /// It failed as a whole for the sake of the entries at these places; the others can be tried again.
    Blamed(Failure, Vec<usize>),
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
            Self::Failed(failure) | Self::Blamed(failure, _) => Some(&failure.error),
            Self::TooLong(error) => Some(error),
        }
    }

    /// Whether the service refuses something for lack of a deduplication id.
    pub(crate) fn misses_deduplication_id(&self) -> bool {
        match self {
            Self::Entries(answers) => answers.iter().any(EntryAnswer::misses_deduplication_id),
            Self::Failed(failure) => names_deduplication_id(failure.error.message()),
            Self::Blamed(..) | Self::TooLong(_) => false,
        }
    }

    /// The same, when that is because the entries at the places `left_out` were sent without one: those at the places
    /// `curable` can be tried again with one, and where all were refused for their sake, so can the others.
    pub(crate) fn for_lack_of_ids(self, left_out: &[usize], curable: &[usize]) -> Self {
        match self {
            Self::Failed(failure) => {
                let to_blame = left_out.iter().filter(|place| !curable.contains(place));
                Self::Blamed(failure, to_blame.copied().collect())
            }
            Self::Entries(mut answers) => {
                for place in curable {
                    if let Some(EntryAnswer::Refused(refusal)) = answers.get_mut(*place) {
                        refusal.is_retryable |= names_deduplication_id(refusal.message.as_deref());
                    }
                }
                Self::Entries(answers)
            }
            other => other,
        }
    }
}

impl Refusal {
    /// Whether the service asks for fewer requests.
    pub(crate) fn is_throttle(&self) -> bool {
        self.code.retry_class() == Some(RetryClass::Throttle)
    }
}

impl<R> EntryAnswer<R> {
    fn misses_deduplication_id(&self) -> bool {
        matches!(self, Self::Refused(refusal) if names_deduplication_id(refusal.message.as_deref()))
    }
}

fn names_deduplication_id(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.contains("MessageDeduplicationId"))
}

impl Failure {
    /// The same failure before the request was sent.
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
