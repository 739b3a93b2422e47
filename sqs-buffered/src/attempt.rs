//! One attempt of a request. It ends in time, whatever the client below does: a client without timeouts waits for ever when a
//! connection dies silently.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use sqs_client::client::{OperationError, Unopened};
use tokio::time::timeout;

/// How long an attempt may take; receives have a limit of their own.
pub(crate) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);

/// Why an attempt failed.
#[derive(Clone, Debug)]
pub(crate) enum AttemptError<E> {
    /// The client below failed.
    Failed(E),
    /// There was no response within this time.
    TimedOut(Duration),
}

/// Waits for the response to a request, at most for `limit`.
pub(crate) async fn attempt<T, E>(
    limit: Duration,
    request: impl Future<Output = Result<T, E>>,
) -> Result<T, AttemptError<E>> {
    match timeout(limit, request).await {
        Ok(response) => response.map_err(AttemptError::Failed),
        Err(_) => Err(AttemptError::TimedOut(limit)),
    }
}

impl<E: fmt::Display> fmt::Display for AttemptError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::TimedOut(limit) => write!(f, "no response within {limit:?}"),
        }
    }
}

impl<E: StdError> StdError for AttemptError<E> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Failed(error) => error.source(),
            Self::TimedOut(_) => None,
        }
    }
}

impl<E: OperationError> From<sqs_client::Error> for AttemptError<E> {
    fn from(error: sqs_client::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl<E: OperationError> OperationError for AttemptError<E> {
    fn client_error(&self) -> Option<&sqs_client::Error> {
        match self {
            Self::Failed(error) => error.client_error(),
            Self::TimedOut(_) => None,
        }
    }

    fn is_retryable(&self) -> bool {
        match self {
            Self::Failed(error) => error.is_retryable(),
            Self::TimedOut(_) => true,
        }
    }

    fn is_throttle(&self) -> bool {
        match self {
            Self::Failed(error) => error.is_throttle(),
            Self::TimedOut(_) => false,
        }
    }

    fn is_outcome_unknown(&self) -> bool {
        match self {
            Self::Failed(error) => error.is_outcome_unknown(),
            Self::TimedOut(_) => true,
        }
    }

    fn unopened(&self) -> Option<Unopened> {
        match self {
            Self::Failed(error) => error.unopened(),
            Self::TimedOut(_) => Some(Unopened::Retry),
        }
    }
}
