//! What an answer means for one entry.

use super::answer::{EntryAnswer, Failure, Refusal};
use crate::produce::error::{SendError, SendErrorKind};

/// What came of one entry.
pub(super) enum Fate<R> {
    Accepted(R),
    /// Done, but not as it should be.
    Done(SendError),
    Failed(Setback),
}

/// Why an entry was not done.
pub(super) struct Setback {
    pub(super) error: SendError,
    pub(super) is_retryable: bool,
    pub(super) is_throttle: bool,
    /// Whether this answer says for sure that it was not done.
    pub(super) is_refused: bool,
}

impl<R> From<EntryAnswer<R>> for Fate<R> {
    fn from(answer: EntryAnswer<R>) -> Self {
        match answer {
            EntryAnswer::Accepted(receipt) => Self::Accepted(receipt),
            EntryAnswer::Damaged(error) => Self::Done(error),
            EntryAnswer::Refused(refusal) => Self::Failed(refusal.into()),
            EntryAnswer::Unaccounted => Self::Failed(Setback {
                error: SendError::new(SendErrorKind::Unaccounted),
                is_retryable: true,
                is_throttle: false,
                is_refused: false,
            }),
        }
    }
}

impl From<Refusal> for Setback {
    fn from(refusal: Refusal) -> Self {
        let is_throttle = refusal.is_throttle();
        let Refusal { kind, code, message, is_retryable } = refusal;
        let error = SendError::new(kind).refused(code, message).of_entry(is_retryable, is_throttle);
        Self { error, is_retryable, is_throttle, is_refused: true }
    }
}

impl From<Failure> for Setback {
    fn from(failure: Failure) -> Self {
        let Failure { error, is_retryable, is_throttle, is_outcome_unknown } = failure;
        Self { error, is_retryable, is_throttle, is_refused: !is_outcome_unknown }
    }
}
