//! Return types of batch handlers.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::consume::handler::into_outcome::IntoOutcome;
use crate::consume::outcome::{HandlerError, Outcome};

/// The outcomes of a batch.
#[derive(Debug)]
#[non_exhaustive]
pub enum BatchOutcomes {
    /// One for all messages.
    All(Result<Outcome, HandlerError>),
    /// One for each message, by its position in the parameter of the handler. A message without one has failed.
    Each(Vec<Result<Outcome, HandlerError>>),
    /// One for each message, by message id. A message without one has failed.
    ById(HashMap<String, Result<Outcome, HandlerError>>),
}

/// A return type of a [batch handler](crate::BatchHandler).
///
/// | Type | Meaning |
/// |---|---|
/// | `()`, [`Outcome`], `Result<(), E>` and other [`IntoOutcome`] types | one outcome for all messages |
/// | `Vec<T>`, `Result<Vec<T>, E>` where `T: IntoOutcome` | one for each message, by position |
/// | `HashMap<String, T>`, `Result<HashMap<String, T>, E>` | one for each message, by message id |
///
/// A message without an outcome has failed.
#[diagnostic::on_unimplemented(
    message = "a batch handler cannot return `{Self}`",
    label = "not a batch handler's result",
    note = "a batch handler returns `()`, `Outcome`, `Vec<T>` or `HashMap<String, T>` where `T` is one of the former, or a \
            `Result` of these whose error converts into `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoBatchOutcomes {
    /// Converts the returned value.
    fn into_outcomes(self) -> BatchOutcomes;
}

impl<T: IntoOutcome> IntoBatchOutcomes for T {
    fn into_outcomes(self) -> BatchOutcomes {
        BatchOutcomes::All(self.into_outcome())
    }
}

impl<T: IntoOutcome> IntoBatchOutcomes for Vec<T> {
    fn into_outcomes(self) -> BatchOutcomes {
        BatchOutcomes::Each(self.into_iter().map(T::into_outcome).collect())
    }
}

impl<T: IntoOutcome, B> IntoBatchOutcomes for HashMap<String, T, B> {
    fn into_outcomes(self) -> BatchOutcomes {
        BatchOutcomes::ById(self.into_iter().map(|(id, value)| (id, value.into_outcome())).collect())
    }
}

impl<T: IntoOutcome, E: Into<HandlerError>> IntoBatchOutcomes for Result<Vec<T>, E> {
    fn into_outcomes(self) -> BatchOutcomes {
        self.map_or_else(|error| BatchOutcomes::All(Err(error.into())), Vec::into_outcomes)
    }
}

impl<T: IntoOutcome, E: Into<HandlerError>, B> IntoBatchOutcomes for Result<HashMap<String, T, B>, E> {
    fn into_outcomes(self) -> BatchOutcomes {
        self.map_or_else(|error| BatchOutcomes::All(Err(error.into())), HashMap::into_outcomes)
    }
}

impl BatchOutcomes {
    /// One result for each message, given by id. `None` for a message without one.
    pub(super) fn of(self, ids: &[Option<&str>]) -> Vec<Option<Result<Outcome, HandlerError>>> {
        match self {
            Self::All(Ok(outcome)) => ids.iter().map(|_| Some(Ok(outcome.clone()))).collect(),
            Self::All(Err(error)) => {
                let shared = SharedError(error.into());
                ids.iter().map(|_| Some(Err(Box::new(shared.clone()).into()))).collect()
            }
            Self::Each(results) => {
                let mut results = results.into_iter();
                ids.iter().map(|_| results.next()).collect()
            }
            Self::ById(mut results) => ids.iter().map(|id| results.remove((*id)?)).collect(),
        }
    }
}

/// An error that several messages share.
#[derive(Clone, Debug)]
struct SharedError(Arc<dyn std::error::Error + Send + Sync>);

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for SharedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
