//! Three ways in which a source has no credentials, in the words of [`CredentialsError`].

use std::error::Error as StdError;
use std::sync::Arc;

use aws_credential_types::provider::error::CredentialsError;

/// Nothing asks for this source: the chain goes on.
pub(super) fn not_configured(why: impl Into<String>) -> CredentialsError {
    CredentialsError::not_loaded(why.into())
}

/// The source is configured in a way that cannot work: asking again does not help until somebody mends it.
pub(super) fn invalid(why: impl Into<Box<dyn StdError + Send + Sync>>) -> CredentialsError {
    CredentialsError::invalid_configuration(why)
}

/// The source failed in a way that may pass.
pub(super) fn passing(why: impl Into<String>) -> CredentialsError {
    CredentialsError::provider_error(why.into())
}

/// What a source says: the text of `CredentialsError` itself only names the kind.
pub(super) fn reason(error: &CredentialsError) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The same error with the name of the source before its text.
pub(super) fn prefixed(name: &str, error: &CredentialsError) -> CredentialsError {
    alike(error, format!("{name}: {}", reason(error)))
}

/// The same error with more after its text.
pub(super) fn extended(error: &CredentialsError, more: &str) -> CredentialsError {
    alike(error, reason(error) + more)
}

fn alike(error: &CredentialsError, text: String) -> CredentialsError {
    match error {
        CredentialsError::CredentialsNotLoaded(_) => not_configured(text),
        CredentialsError::InvalidConfiguration(_) => invalid(text),
        _ => passing(text),
    }
}

/// The same error for another caller, since `CredentialsError` cannot be cloned.
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

/// Stands for the source of a shared error.
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
