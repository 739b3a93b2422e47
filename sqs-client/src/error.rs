//! The error type of all calls: one word wide and cheap to clone.
//!
//! Every failed call returns an [`Error`]. To handle one:
//!
//! - an SQS error code: call its method, such as `is_queue_does_not_exist()`
//! - any other failure: match on [`kind`](Error::kind)
//! - before you repeat a request that must not be executed twice: check
//!   [`is_outcome_unknown`](Error::is_outcome_unknown)

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_credential_types::provider::error::CredentialsError;

use crate::endpoint::EndpointError;
use crate::retry::Failure;
use crate::transport::{TransportError, TransportErrorKind};
use crate::types::DamagedMessage;
use crate::wire::checksum::ChecksumMismatch;
use crate::wire::model::Action;
use crate::wire::protocol::{DecodeError, EncodeError};
use crate::wire::sign::SignError;

pub use crate::types::UnknownVariantError;
pub use crate::wire::service_error::{ErrorCode, ServiceError};
pub use aws_smithy_types::error::display::DisplayErrorContext;
pub use aws_smithy_types::error::operation::BuildError;

/// Why an operation failed.
///
/// `Display` shows the operation, error code, message, request id and number of attempts. The cause is in
/// [`source`](StdError::source). Cloning is cheap, because one failed batch reports to many callers.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// let error = client.get_queue_url().queue_name("no-such").send().await.unwrap_err();
/// assert!(error.is_queue_does_not_exist());
/// assert_eq!(error.code(), Some("AWS.SimpleQueueService.NonExistentQueue"));
/// assert!(!error.is_retryable() && !error.is_outcome_unknown());
/// assert_eq!(error.attempts(), 1);
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    cause: Cause,
    context: Context,
}

/// The category of an error.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input is incomplete or invalid; nothing was sent.
    Input,
    /// The configuration is incomplete or invalid; nothing was sent.
    Config,
    /// No credentials were found, or loading them failed; nothing was sent.
    Credentials,
    /// No complete response. SQS may have executed the request, unless no connection was made.
    Transport,
    /// An attempt or the operation timed out. SQS may have executed the request; see
    /// [`is_outcome_unknown`](Error::is_outcome_unknown).
    Timeout,
    /// The service returned an error.
    Service,
    /// The response is not from SQS, for example from a proxy.
    Unreadable,
    /// A checksum does not match: a message was damaged in transit. If a send fails so, SQS *has* stored the message.
    Checksum,
}

impl ErrorKind {
    /// A short name for metrics, such as `timeout`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Config => "config",
            Self::Credentials => "credentials",
            Self::Transport => "transport",
            Self::Timeout => "timeout",
            Self::Service => "service",
            Self::Unreadable => "unreadable",
            Self::Checksum => "checksum",
        }
    }
}

impl Error {
    pub(crate) fn new(cause: Cause, context: Context) -> Self {
        Self(Arc::new(Inner { cause, context }))
    }

    /// The category of the error.
    pub fn kind(&self) -> ErrorKind {
        match &self.0.cause {
            Cause::Build(_) | Cause::Invalid(_) | Cause::Encode(_) => ErrorKind::Input,
            // A hook has changed it.
            Cause::Sign(SignError::Request) => ErrorKind::Config,
            Cause::Endpoint(_) | Cause::NoTransport | Cause::NoTls => ErrorKind::Config,
            #[cfg(feature = "aws-sdk-sqs")]
            Cause::AwsSdk(_) => ErrorKind::Config,
            Cause::Credentials(_) | Cause::NoCredentials | Cause::Sign(_) => ErrorKind::Credentials,
            Cause::Transport(error) if error.kind() == TransportErrorKind::Timeout => ErrorKind::Timeout,
            Cause::Transport(_) => ErrorKind::Transport,
            Cause::AttemptTimeout(_) | Cause::OperationTimeout(_) => ErrorKind::Timeout,
            Cause::Service(_) => ErrorKind::Service,
            Cause::Unreadable(_) => ErrorKind::Unreadable,
            Cause::Checksum(_) => ErrorKind::Checksum,
        }
    }

    /// The operation that failed.
    pub fn action(&self) -> Option<Action> {
        self.0.context.action
    }

    /// The error of the service, or the equivalent one from `validate_input`.
    pub fn service_error(&self) -> Option<&ServiceError> {
        match &self.0.cause {
            Cause::Service(error) | Cause::Invalid(error) => Some(error),
            _ => None,
        }
    }

    /// The error code as an enum.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        self.service_error().map(|error| &error.code)
    }

    /// The error code in the form of the Query protocol, such as `AWS.SimpleQueueService.NonExistentQueue`. It is the
    /// same with both protocols.
    pub fn code(&self) -> Option<&str> {
        self.error_code().map(ErrorCode::query_code)
    }

    /// The message of the service.
    pub fn message(&self) -> Option<&str> {
        self.service_error()?.message.as_deref()
    }

    /// The request id of the last attempt, for AWS support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.context.request_id.as_deref()
    }

    /// Whether the operation timed out, not an attempt.
    #[cfg(feature = "aws-config")]
    #[doc(hidden)]
    pub fn is_operation_timeout(&self) -> bool {
        matches!(self.0.cause, Cause::OperationTimeout(_))
    }

    /// The response to the last attempt, if it had no output, with at most 64 KiB of its body.
    #[cfg(feature = "aws-config")]
    #[doc(hidden)]
    pub fn response(&self) -> Option<&http::Response<bytes::Bytes>> {
        self.0.context.response.as_ref()
    }

    /// The HTTP status of the last attempt.
    pub fn status(&self) -> Option<u16> {
        self.0.context.status
    }

    /// The number of attempts that were sent.
    pub fn attempts(&self) -> u32 {
        self.0.context.attempts
    }

    /// When the first attempt started.
    pub(crate) fn begun(&self) -> Option<std::time::Instant> {
        self.0.context.begun
    }

    /// Whether the same call may succeed later. The client has already made all configured retries.
    pub fn is_retryable(&self) -> bool {
        self.failure().is_retryable()
    }

    /// Whether the service throttled the request.
    pub fn is_throttle(&self) -> bool {
        self.failure() == Failure::Throttle
    }

    /// Whether an attempt or the operation timed out.
    pub fn is_timeout(&self) -> bool {
        self.kind() == ErrorKind::Timeout
    }

    /// Whether the service may have executed any of the attempts although no response confirms it. If the last attempt
    /// was rejected, an earlier one may still have been executed.
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.context.outcome_unknown
    }

    /// The pause before the retry that [`Retries::UnlessInDoubt`](crate::client::Retries::UnlessInDoubt) suppressed.
    pub fn repeat_after(&self) -> Option<Duration> {
        self.0.context.repeat_after
    }

    /// The transport failure, if there was no complete response.
    pub fn transport_error(&self) -> Option<&TransportError> {
        match &self.0.cause {
            Cause::Transport(error) => Some(error),
            _ => None,
        }
    }

    /// All wrong or missing checksums, each with the id of its batch entry or received message.
    pub fn checksum_mismatches(&self) -> &[ChecksumMismatch] {
        match &self.0.cause {
            Cause::Checksum(damaged) => &damaged.mismatches,
            _ => &[],
        }
    }

    /// The output of a call that failed with a checksum mismatch. For a receive, that is a
    /// [`ReceiveMessageOutput`](crate::operation::receive_message::ReceiveMessageOutput) with the intact messages in
    /// `messages()` and the others in `damaged_messages()`.
    pub fn output<T: 'static>(&self) -> Option<&T> {
        match &self.0.cause {
            Cause::Checksum(damaged) => damaged.output.downcast_ref(),
            _ => None,
        }
    }

    /// The same error with another output, for layers that rewrite outputs. Returns a clone if the error has no output.
    // For sqs-extended.
    #[doc(hidden)]
    pub fn with_output<T: Any + Send + Sync>(&self, output: T) -> Self {
        let Cause::Checksum(damaged) = &self.0.cause else { return self.clone() };
        let damaged = Damaged { mismatches: damaged.mismatches.clone(), output: Box::new(output) };
        Self::new(Cause::Checksum(Arc::new(damaged)), self.0.context.clone())
    }

    /// The retry classification of the error.
    pub(crate) fn failure(&self) -> Failure {
        Failure::of(&self.0.cause, self.0.context.status)
    }
}

/// Adds one method per error of the service model, for error types with `error_code()`: this one and those of layers.
#[doc(hidden)]
#[macro_export]
macro_rules! shape_checks {
    ($error:ty) => { $crate::shape_checks! { $error:
        BatchEntryIdsNotDistinct BatchRequestTooLong EmptyBatchRequest InvalidAddress InvalidAttributeName
        InvalidAttributeValue InvalidBatchEntryId InvalidIdFormat InvalidMessageContents InvalidSecurity
        KmsAccessDenied KmsDisabled KmsInvalidKeyUsage KmsInvalidState KmsNotFound KmsOptInRequired KmsThrottled
        MessageNotInflight OverLimit PurgeQueueInProgress QueueDeletedRecently QueueDoesNotExist QueueNameExists
        ReceiptHandleIsInvalid RequestThrottled ResourceNotFoundException TooManyEntriesInBatchRequest
        UnsupportedOperation InvalidParameterValue MissingParameter AccessDenied
    } };
    ($error:ty: $($variant:ident)*) => { ::pastey::paste! {
        /// One method per error of the service model, as in the AWS SDK.
        impl $error {
            $(
                #[doc = concat!("Whether the service returned the error `", stringify!($variant), "`.")]
                pub fn [<is_ $variant:snake>](&self) -> bool {
                    self.error_code() == Some(&$crate::wire::service_error::ErrorCode::$variant)
                }
            )*
        }
    } };
}

crate::shape_checks!(Error);

/// The text of `Display` followed by the sources, because `main` prints `Debug` when it returns an error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.to_string();
        f.write_str(&shown)?;
        let mut source = self.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // The text of a `CredentialsError` only names its kind, and `Display` already shows its source.
            if !shown.contains(&text) && !cause.is::<CredentialsError>() {
                write!(f, ": {text}")?;
            }
            source = cause.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.cause {
            Cause::Build(error) => Some(&**error),
            Cause::Encode(error) => Some(error),
            Cause::Sign(error) => Some(error),
            Cause::Credentials(error) => Some(&**error),
            #[cfg(feature = "aws-sdk-sqs")]
            Cause::AwsSdk(error) => Some(&**error),
            // `Display` already shows the text of the transport error, so the source is its cause.
            Cause::Transport(error) => error.source(),
            _ => None,
        }
    }
}

/// The error for one damaged message of a receive with other, intact messages.
impl From<&DamagedMessage> for Error {
    fn from(damaged: &DamagedMessage) -> Self {
        let DamagedMessage { message, mismatches } = damaged.clone();
        let context = Context { action: Some(Action::ReceiveMessage), ..Context::default() };
        Self::new(Cause::Checksum(Arc::new(Damaged { mismatches, output: Box::new(message) })), context)
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::new(Cause::Build(Arc::new(error)), Context::default())
    }
}

/// The context of a failed call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    pub(crate) action: Option<Action>,
    pub(crate) attempts: u32,
    /// When the first attempt started; the operation timeout counts from here.
    pub(crate) begun: Option<Instant>,
    /// Of the latest attempt.
    pub(crate) request_id: Option<String>,
    /// Of the latest attempt.
    pub(crate) status: Option<u16>,
    /// The response to the latest attempt, if it had no output.
    #[cfg(feature = "aws-config")]
    pub(crate) response: Option<http::Response<bytes::Bytes>>,
    /// Whether the service may have executed any attempt without a response that confirms it.
    pub(crate) outcome_unknown: bool,
    /// The pause of a retry that `Retries::UnlessInDoubt` suppressed.
    pub(crate) repeat_after: Option<Duration>,
}

/// The cause of an error.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    Build(Arc<BuildError>),
    Invalid(ServiceError),
    Endpoint(EndpointError),
    NoTransport,
    NoTls,
    Encode(EncodeError),
    Sign(SignError),
    Credentials(Arc<CredentialsError>),
    NoCredentials,
    Transport(TransportError),
    /// With the timeout, if it is known.
    AttemptTimeout(Option<Duration>),
    OperationTimeout(Duration),
    Service(ServiceError),
    Unreadable(DecodeError),
    Checksum(Arc<Damaged>),
    /// The AWS SDK failed before it sent a request.
    #[cfg(feature = "aws-sdk-sqs")]
    AwsSdk(Arc<dyn std::error::Error + Send + Sync>),
}

/// An output whose checksums do not match.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) mismatches: Vec<ChecksumMismatch>,
    pub(crate) output: Box<dyn Any + Send + Sync>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Context { action, attempts, request_id, status, .. } = &self.0.context;
        if let Some(action) = action {
            write!(f, "{action}: ")?;
        }
        match &self.0.cause {
            Cause::Build(_) | Cause::Encode(_) => f.write_str("the input cannot be built")?,
            Cause::Invalid(error) => write!(f, "{error} (checked before sending)")?,
            Cause::Service(error) => write!(f, "{error}")?,
            Cause::Endpoint(error) => write!(f, "{error}")?,
            Cause::NoTransport => f.write_str(
                "no transport: enable the feature `reqwest` or `hyper`, or call transport(..) on the config builder",
            )?,
            Cause::NoTls => f.write_str(
                "no TLS for the https endpoint URL: enable the feature `rustls` or `aws-lc`, or use an http URL",
            )?,
            Cause::Sign(_) => f.write_str("the request cannot be signed")?,
            // The text of a `CredentialsError` only names its kind. The reason is in its source.
            Cause::Credentials(error) => match error.source() {
                Some(source) => write!(f, "no credentials: {source}")?,
                None => write!(f, "no credentials: {error}")?,
            },
            Cause::NoCredentials => f.write_str(
                "no credentials provider: use Builder::from_env(), which reads AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, \
                 profiles and metadata services, or call credentials_provider(..) on the config builder",
            )?,
            Cause::Transport(error) => write!(f, "{error}")?,
            Cause::AttemptTimeout(Some(limit)) => write!(f, "attempt timeout: no response within {limit:?}")?,
            Cause::AttemptTimeout(None) => f.write_str("attempt timeout: no response in time")?,
            Cause::OperationTimeout(limit) => write!(f, "operation timeout: not finished within {limit:?}")?,
            Cause::Unreadable(error) => write!(f, "the response is not from SQS: {error}")?,
            #[cfg(feature = "aws-sdk-sqs")]
            Cause::AwsSdk(_) => f.write_str("the AWS SDK failed before sending the request")?,
            Cause::Checksum(damaged) => {
                let mut separator = "";
                for mismatch in &damaged.mismatches {
                    write!(f, "{separator}{mismatch}")?;
                    separator = "; ";
                }
            }
        }
        let mut separator = " (";
        let mut note = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            let result = write!(f, "{separator}{text}");
            separator = ", ";
            result
        };
        if let Some(status) = status {
            note(f, format_args!("status {status}"))?;
        }
        if let Some(request_id) = request_id {
            note(f, format_args!("request id {request_id}"))?;
        }
        if *attempts > 0 {
            note(f, format_args!("attempts {attempts}"))?;
        }
        if separator == ", " { f.write_str(")") } else { Ok(()) }
    }
}
