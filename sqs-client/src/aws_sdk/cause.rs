//! Converts errors of the AWS SDK into causes.

use std::error::Error as StdError;
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_sqs::config::http::HttpResponse;
use aws_sdk_sqs::error::SdkError;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::error::operation::BuildError;
use aws_smithy_types::timeout::TimeoutConfig;

use super::attempt_log::Entry;
use crate::error::Cause;
use crate::transport::{TransportError, TransportErrorKind, was_never_sent};
use crate::wire::protocol::DecodeError;
use crate::wire::service_error::{ErrorCode, ServiceError};

type BoxError = Box<dyn StdError + Send + Sync>;

/// Converts the error. `operation_timeout` is set if that timeout has expired.
pub(super) fn cause<E>(
    error: SdkError<E, HttpResponse>,
    entry: &Entry,
    operation_timeout: Option<Duration>,
) -> Cause
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    match error {
        SdkError::ServiceError(failed) => match failed.err().code() {
            Some(code) => {
                let message = failed.err().message().map(str::to_owned);
                Cause::Service(ServiceError { code: ErrorCode::from_name(code), message }.sanitized())
            }
            None => Cause::Unreadable(unreadable(failed.err(), failed.raw())),
        },
        SdkError::TimeoutError(_) => {
            let of_attempt = || limit(entry, TimeoutConfig::operation_attempt_timeout);
            operation_timeout.map_or_else(of_attempt, Cause::OperationTimeout)
        }
        SdkError::ConstructionFailure(_) => of_construction(source(error)),
        SdkError::DispatchFailure(_) => match source(error).downcast::<ConnectorError>() {
            Ok(error) => of_exchange(*error, entry),
            Err(other) => Cause::AwsSdk(other.into()),
        },
        // The response was incomplete. A complete but unreadable response is a service error without a code.
        error => broken(TransportErrorKind::Broken, source(error)),
    }
}

fn source<E>(error: SdkError<E, HttpResponse>) -> BoxError
where
    E: StdError + Send + Sync + 'static,
{
    error.into_source().unwrap_or_else(BoxError::from)
}

fn unreadable(error: &dyn StdError, answer: &HttpResponse) -> DecodeError {
    if answer.status().is_success() {
        return error.source().map_or_else(|| DecodeError::new(error), DecodeError::new);
    }
    DecodeError::no_code(answer.headers().get("content-type"), answer.body().bytes().unwrap_or_default())
}

fn of_construction(error: BoxError) -> Cause {
    match error.downcast::<BuildError>() {
        Ok(error) => Cause::Build((*error).into()),
        Err(other) => Cause::AwsSdk(other.into()),
    }
}

fn of_exchange(error: ConnectorError, entry: &Entry) -> Cause {
    if !entry.latest_was_sent {
        return of_preparation(error.into_source());
    }
    let kind = if was_never_sent(&error) && error.is_user() {
        TransportErrorKind::Invalid
    } else if was_never_sent(&error) {
        TransportErrorKind::Connect
    } else if error.is_timeout() {
        return limit(entry, TimeoutConfig::read_timeout);
    } else {
        TransportErrorKind::Broken
    };
    broken(kind, Box::new(error))
}

/// Failures before the request is sent: endpoint, credentials, signature, interceptors of the caller.
fn of_preparation(error: BoxError) -> Cause {
    let error = match error.downcast::<CredentialsError>() {
        Ok(error) => return Cause::Credentials((*error).into()),
        Err(other) => other,
    };
    // The SDK's types for these two errors are private.
    let text = error.to_string();
    if text.starts_with("failed to select an auth scheme") {
        return Cause::Credentials(CredentialsError::not_loaded(error).into());
    }
    if text.starts_with("identity resolver timed out") {
        return Cause::Credentials(CredentialsError::provider_error(error).into());
    }
    Cause::AwsSdk(error.into())
}

fn broken(kind: TransportErrorKind, error: BoxError) -> Cause {
    Cause::Transport(TransportError::new(kind, error))
}

fn limit(entry: &Entry, of: impl FnOnce(&TimeoutConfig) -> Option<Duration>) -> Cause {
    Cause::AttemptTimeout(entry.timeouts.as_ref().and_then(of))
}
