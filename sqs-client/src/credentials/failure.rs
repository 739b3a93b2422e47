//! The three kinds of failure of a source, as [`CredentialsError`].

use std::error::Error as StdError;
use std::sync::Arc;

use aws_credential_types::provider::error::CredentialsError;

/// The source is not configured: the chain continues with the next one.
pub(super) fn not_configured(why: impl Into<String>) -> CredentialsError {
    CredentialsError::not_loaded(why.into())
}

/// The source is configured incorrectly: retries fail until the configuration is fixed.
pub(super) fn invalid(why: impl Into<Box<dyn StdError + Send + Sync>>) -> CredentialsError {
    CredentialsError::invalid_configuration(why)
}

/// The source failed, but a later attempt may succeed.
pub(super) fn transient(why: impl Into<String>) -> CredentialsError {
    CredentialsError::provider_error(why.into())
}

/// The reason of the failure. The text of `CredentialsError` itself only names its kind.
pub(super) fn reason(error: &CredentialsError) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The same error with the name of the source as prefix.
pub(super) fn prefixed(name: &str, error: &CredentialsError) -> CredentialsError {
    same_kind(error, format!("{name}: {}", reason(error)))
}

/// The same error with `more` appended to its text.
pub(super) fn extended(error: &CredentialsError, more: &str) -> CredentialsError {
    same_kind(error, reason(error) + more)
}

fn same_kind(error: &CredentialsError, text: String) -> CredentialsError {
    match error {
        CredentialsError::CredentialsNotLoaded(_) => not_configured(text),
        CredentialsError::InvalidConfiguration(_) => invalid(text),
        _ => transient(text),
    }
}

/// A copy of the error for another caller. `CredentialsError` does not implement `Clone`.
pub(super) fn shared(error: &Arc<CredentialsError>) -> CredentialsError {
    let source = Shared(Arc::clone(error));
    match &**error {
        CredentialsError::CredentialsNotLoaded(_) => CredentialsError::not_loaded(source),
        CredentialsError::InvalidConfiguration(_) => CredentialsError::invalid_configuration(source),
        CredentialsError::ProviderTimedOut(details) => {
            CredentialsError::provider_timed_out(details.timeout_duration())
        }
        CredentialsError::Unhandled(_) => CredentialsError::unhandled(source),
        _ => CredentialsError::provider_error(source),
    }
}

/// The source of a shared error.
#[derive(Debug)]
struct Shared(Arc<CredentialsError>);

impl std::fmt::Display for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&reason(&self.0))
    }
}

impl StdError for Shared {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()?.source()
    }
}
