//! Converts errors of the plain client into the errors of aws-sdk-sqs.

use std::error::Error as StdError;
use std::io;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::error::metadata::ErrorMetadata;
use aws_smithy_types::retry::ErrorKind;
use aws_types::request_id::apply_request_id;

use super::{SdkError, TypedError};
use crate::config::timeout::TimeoutConfig;
use crate::error::{Cause, Error};
use crate::transport::TransportErrorKind;
use crate::wire::service_error::ServiceError;

/// Converts the error into the variant that aws-sdk-sqs uses for this failure. `timeouts` are the timeouts of the call.
pub(in crate::sdk) fn sdk_error<E: TypedError>(
    error: Error,
    timeouts: Option<&TimeoutConfig>,
) -> SdkError<E> {
    match error.cause() {
        Cause::Build(_) | Cause::Encode(_) | Cause::Invalid(_) => SdkError::construction_failure(error),
        Cause::OperationTimeout(_) => SdkError::timeout_error(error),
        Cause::AttemptTimeout(_) if timeouts.is_some_and(is_attempt_shorter) => {
            SdkError::timeout_error(error)
        }
        // The read timeout or the default. In aws-sdk-sqs, the HTTP client reports read timeouts, as a dispatch failure.
        Cause::AttemptTimeout(_) => SdkError::dispatch_failure(ConnectorError::timeout(error.into())),
        Cause::Transport(_) => SdkError::dispatch_failure(connector_error(error)),
        Cause::Service(service_error) => {
            let raw = raw(&error);
            SdkError::service_error(E::from_answer(&service_error.code, metadata(service_error, &raw)), raw)
        }
        Cause::Unreadable(_) => {
            let raw = raw(&error);
            let meta = apply_request_id(ErrorMetadata::builder(), raw.headers()).build();
            SdkError::service_error(E::from_unhandled(error.into(), meta), raw)
        }
        // aws-sdk-sqs has no variant for this: it does not verify checksums of messages.
        Cause::Checksum(_) => {
            let raw = raw(&error);
            SdkError::response_error(error, raw)
        }
        #[cfg(feature = "aws-sdk-sqs")]
        Cause::AwsSdk(_) => SdkError::construction_failure(error),
        // Nothing was sent: the endpoint, credentials, signature or transport failed.
        Cause::Endpoint(_)
        | Cause::NoTransport
        | Cause::NoTls
        | Cause::Sign(_)
        | Cause::Credentials(_)
        | Cause::NoCredentials => SdkError::dispatch_failure(ConnectorError::other(error.into(), None)),
    }
}

/// Whether the attempt timeout ends an attempt, not the read timeout.
fn is_attempt_shorter(timeouts: &TimeoutConfig) -> bool {
    let attempt = timeouts.operation_attempt_timeout();
    attempt.is_some_and(|attempt| timeouts.read_timeout().is_none_or(|read| attempt <= read))
}

fn metadata(error: &ServiceError, raw: &HttpResponse) -> ErrorMetadata {
    let mut meta = ErrorMetadata::builder().code(error.code.query_code());
    if let Some(message) = &error.message {
        meta = meta.message(message);
    }
    if let Some((_, fault)) = raw.headers().get("x-amzn-query-error").and_then(|error| error.split_once(';'))
    {
        meta = meta.custom("type", fault);
    }
    apply_request_id(meta, raw.headers()).build()
}

/// The raw response, with at most 64 KiB of its body. For a wrong checksum, it has only the status and the request id.
fn raw(error: &Error) -> HttpResponse {
    let response = error
        .response()
        .and_then(|response| HttpResponse::try_from(response.clone().map(SdkBody::from)).ok());
    response.unwrap_or_else(|| {
        let status = error.status().and_then(|status| StatusCode::try_from(status).ok());
        let ok = || StatusCode::from(http::StatusCode::OK);
        let mut response = HttpResponse::new(status.unwrap_or_else(ok), SdkBody::empty());
        if let Some(request_id) = error.request_id() {
            let _ = response.headers_mut().try_insert("x-amzn-requestid", request_id.to_owned());
        }
        response
    })
}

fn connector_error(error: Error) -> ConnectorError {
    let kind = error.transport_error().map(crate::transport::TransportError::kind);
    let original = find::<ConnectorError>(&error);
    if is_timeout(&error) {
        ConnectorError::timeout(error.into())
    } else if kind == Some(TransportErrorKind::Invalid) || original.is_some_and(ConnectorError::is_user) {
        ConnectorError::user(error.into())
    } else if original.is_some_and(ConnectorError::is_other) {
        let kind = original.and_then(ConnectorError::as_other);
        ConnectorError::other(error.into(), kind)
    } else if kind == Some(TransportErrorKind::Broken)
        && original.is_none()
        && find::<io::Error>(&error).is_none()
    {
        // The service closed the connection before the response was complete: not an I/O error of the system.
        ConnectorError::other(error.into(), Some(ErrorKind::TransientError))
    } else {
        ConnectorError::io(error.into())
    }
}

/// Whether connecting timed out, or an HTTP client of the AWS SDK reports a timeout.
fn is_timeout(error: &Error) -> bool {
    let by_client = find::<ConnectorError>(error).is_some_and(ConnectorError::is_timeout);
    let by_system = find::<io::Error>(error).is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut);
    #[cfg(feature = "reqwest")]
    let by_system = by_system || find::<reqwest::Error>(error).is_some_and(reqwest::Error::is_timeout);
    by_client || by_system
}

fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let cause = error.source()?;
    cause.downcast_ref().or_else(|| find(cause))
}
