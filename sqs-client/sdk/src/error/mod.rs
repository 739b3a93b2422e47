//! [`SdkError`] with the error of the operation, and the traits to inspect both.
//!
//! If there is no error response from SQS, the source of the `SdkError` is a [`sqs_client::Error`]. It has the number of attempts
//! and tells whether SQS may have executed the request.

use std::error::Error as StdError;
use std::{fmt, io};

use aws_smithy_runtime_api::client::interceptors::context::Error as Erased;
use aws_smithy_runtime_api::client::orchestrator::{HttpResponse, OrchestratorError};
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::retry::ErrorKind as RetryErrorKind;
use aws_types::request_id::apply_request_id;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::error::{Error as PlainError, ErrorCode, ErrorKind, ServiceError};
use sqs_client::transport::TransportErrorKind;

pub use aws_smithy_runtime_api::box_error::BoxError;
pub use aws_smithy_runtime_api::client::result::ConnectorError;
pub use aws_smithy_types::error::display::DisplayErrorContext;
pub use aws_smithy_types::error::metadata::{ErrorMetadata, ProvideErrorMetadata};
pub use aws_smithy_types::error::operation::BuildError;
pub use operations::TypedOperation;
pub use sqs_client::types::UnknownVariantError;

/// The error of a call. `E` is the error of the operation, `R` the raw response.
pub type SdkError<E, R = HttpResponse> = aws_smithy_runtime_api::client::result::SdkError<E, R>;

/// An error without its own type. Call `code()` and `message()` on the enum that contains it.
#[derive(Debug)]
pub struct Unhandled {
    pub(crate) source: BoxError,
    pub(crate) meta: ErrorMetadata,
}

/// The properties of a modelled error that the enums use.
pub(crate) trait Modelled: StdError + ProvideErrorMetadata + 'static {}

/// Creates the error of an operation from an error response.
pub trait TypedError: StdError + Send + Sync + 'static {
    /// The variant for `code`, or the unhandled variant if the service model does not list the code for the operation.
    #[doc(hidden)]
    fn from_answer(code: &ErrorCode, meta: ErrorMetadata) -> Self;

    /// The unhandled variant.
    #[doc(hidden)]
    fn from_unhandled(source: BoxError, meta: ErrorMetadata) -> Self;
}

/// Declares an enum over modelled errors. `part` returns the struct of the variant, or the unhandled error.
macro_rules! error_enum {
    ($(#[$meta:meta])* $name:ident: $($shape:ident)*) => {
        $(#[$meta])*
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum $name {
            $(
                #[doc = concat!("SQS returned the error `", stringify!($shape), "`.")]
                $shape(crate::error::shapes::$shape),
            )*
            /// Any other error. Match it with a wildcard and call `code()`: a later version may add a variant for it.
            #[deprecated(note = "match with a wildcard and call `code()` on the error")]
            Unhandled(crate::error::Unhandled),
        }

        impl $name {
            #[allow(deprecated, reason = "the only place that reads it")]
            fn part(&self) -> Result<&dyn crate::error::Modelled, &crate::error::Unhandled> {
                match self {
                    $( Self::$shape(error) => Ok(error), )*
                    Self::Unhandled(error) => Err(error),
                }
            }

            #[allow(deprecated, reason = "the only place that creates it")]
            fn new_unhandled(
                source: aws_smithy_runtime_api::box_error::BoxError,
                meta: aws_smithy_types::error::metadata::ErrorMetadata,
            ) -> Self {
                Self::Unhandled(crate::error::Unhandled { source, meta })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.part() {
                    Ok(error) => write!(f, "{error}"),
                    Err(error) => match error.meta.code() {
                        Some(code) => write!(f, "unhandled error ({code})"),
                        None => f.write_str("unhandled error"),
                    },
                }
            }
        }

        impl aws_smithy_types::error::metadata::ProvideErrorMetadata for $name {
            fn meta(&self) -> &aws_smithy_types::error::metadata::ErrorMetadata {
                match self.part() {
                    Ok(error) => error.meta(),
                    Err(error) => &error.meta,
                }
            }
        }

        impl aws_types::request_id::RequestId for $name {
            fn request_id(&self) -> Option<&str> {
                aws_smithy_types::error::metadata::ProvideErrorMetadata::meta(self).request_id()
            }
        }
    };
}

pub(crate) mod operations;
pub(crate) mod shapes;

error_enum! {
    /// The errors of all operations in one enum, for functions with several calls: `?` converts into it.
    Error:
    BatchEntryIdsNotDistinct BatchRequestTooLong EmptyBatchRequest InvalidAddress InvalidAttributeName
    InvalidAttributeValue InvalidBatchEntryId InvalidIdFormat InvalidMessageContents InvalidSecurity
    KmsAccessDenied KmsDisabled KmsInvalidKeyUsage KmsInvalidState KmsNotFound KmsOptInRequired KmsThrottled
    MessageNotInflight OverLimit PurgeQueueInProgress QueueDeletedRecently QueueDoesNotExist QueueNameExists
    ReceiptHandleIsInvalid RequestThrottled ResourceNotFoundException TooManyEntriesInBatchRequest
    UnsupportedOperation
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.part() {
            Ok(error) => error.source(),
            Err(error) => Some(&*error.source),
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::new_unhandled(error.into(), aws_smithy_types::error::ErrorMetadata::default())
    }
}

impl<E, R> From<SdkError<E, R>> for Error
where
    E: StdError + ProvideErrorMetadata + Into<Self> + Send + Sync + 'static,
    R: fmt::Debug + Send + Sync + 'static,
{
    fn from(error: SdkError<E, R>) -> Self {
        match error {
            SdkError::ServiceError(answer) => answer.into_err().into(),
            other => {
                let meta = other.meta().clone();
                Self::new_unhandled(other.into(), meta)
            }
        }
    }
}

/// Converts the error into the variant that aws-sdk-sqs uses for this failure. `timeouts` are the timeouts of the call.
pub(crate) fn sdk_error<E: TypedError>(error: PlainError, timeouts: Option<&TimeoutConfig>) -> SdkError<E> {
    match error.kind() {
        ErrorKind::Input => SdkError::construction_failure(error),
        _ if error.is_operation_timeout() => SdkError::timeout_error(error),
        ErrorKind::Timeout if error.transport_error().is_none() => {
            if timeouts.is_some_and(is_attempt_shorter) {
                return SdkError::timeout_error(error);
            }
            // The read timeout or the default. In aws-sdk-sqs, the HTTP client reports read timeouts, as a dispatch failure.
            SdkError::dispatch_failure(ConnectorError::timeout(error.into()))
        }
        ErrorKind::Timeout | ErrorKind::Transport => SdkError::dispatch_failure(connector_error(error)),
        ErrorKind::Service => {
            let raw = raw(&error);
            match error.service_error() {
                Some(of_service) => {
                    let meta = metadata(of_service, &raw);
                    SdkError::service_error(E::from_answer(&of_service.code, meta), raw)
                }
                None => SdkError::response_error(error, raw),
            }
        }
        ErrorKind::Unreadable => {
            let raw = raw(&error);
            let meta = apply_request_id(ErrorMetadata::builder(), raw.headers()).build();
            SdkError::service_error(E::from_unhandled(error.into(), meta), raw)
        }
        // aws-sdk-sqs has no variant for this: it does not verify checksums of messages.
        ErrorKind::Checksum => {
            let raw = raw(&error);
            SdkError::response_error(error, raw)
        }
        // Nothing was sent: the endpoint, credentials, signature or transport failed.
        _ => SdkError::dispatch_failure(ConnectorError::other(error.into(), None)),
    }
}

/// The error of an attempt and its response, as a retry classifier gets them.
pub(crate) fn orchestrator_error<E: TypedError>(
    error: PlainError,
) -> (OrchestratorError<Erased>, Option<HttpResponse>) {
    match error.kind() {
        ErrorKind::Timeout if error.transport_error().is_none() => {
            (OrchestratorError::timeout(error.into()), None)
        }
        ErrorKind::Timeout | ErrorKind::Transport => {
            (OrchestratorError::connector(connector_error(error)), None)
        }
        ErrorKind::Service | ErrorKind::Unreadable => {
            let raw = raw(&error);
            let failure = match sdk_error::<E>(error, None) {
                SdkError::ServiceError(answer) => {
                    OrchestratorError::operation(Erased::erase(answer.into_err()))
                }
                other => OrchestratorError::other(other),
            };
            (failure, Some(raw))
        }
        _ => (OrchestratorError::other(error), None),
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
fn raw(error: &PlainError) -> HttpResponse {
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

fn connector_error(error: PlainError) -> ConnectorError {
    let kind = error.transport_error().map(sqs_client::transport::TransportError::kind);
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
        ConnectorError::other(error.into(), Some(RetryErrorKind::TransientError))
    } else {
        ConnectorError::io(error.into())
    }
}

/// Whether connecting timed out, or an HTTP client of the AWS SDK reports a timeout.
fn is_timeout(error: &PlainError) -> bool {
    let by_client = find::<ConnectorError>(error).is_some_and(ConnectorError::is_timeout);
    let by_system = find::<io::Error>(error).is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut);
    let by_system = by_system || find::<reqwest::Error>(error).is_some_and(reqwest::Error::is_timeout);
    by_client || by_system
}

fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let cause = error.source()?;
    cause.downcast_ref().or_else(|| find(cause))
}
