//! The one error of this crate: one word wide, cheap to clone.
//!
//! Every call fails with an [`Error`]. Ask it first what you want to know: `is_queue_does_not_exist()` and its thirty
//! relatives for the codes that SQS answers with, [`kind`](Error::kind) for everything else,
//! [`is_outcome_unknown`](Error::is_outcome_unknown) before you repeat what must not happen twice.

mod cause;
mod class;
mod display;

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
pub use aws_smithy_types::error::display::DisplayErrorContext;
pub use aws_smithy_types::error::operation::BuildError;

use crate::retry::Failure;
use crate::transport::TransportError;
use crate::wire::checksum::ChecksumMismatch;
use crate::wire::model::Action;

use crate::types::DamagedMessage;
pub use crate::types::UnknownVariantError;
pub use crate::wire::service_error::{ErrorCode, ServiceError};
pub(crate) use cause::{Cause, Context, Damaged};
pub(crate) use class::{classify, may_have_acted};

/// Why an operation failed.
///
/// It shows operation, code, text, request id and number of attempts; the cause is in
/// [`source`](StdError::source). Cloning is cheap, since one failed batch reports to many callers.
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

/// What went wrong, in broad terms.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input is incomplete or invalid; nothing was sent.
    Input,
    /// The client is configured in a way that no request can be made with; nothing was sent.
    Config,
    /// There are no credentials, or getting them failed; nothing was sent.
    Credentials,
    /// No whole answer came. Whether the service acted on the request is unknown, unless no connection was made.
    Transport,
    /// The answer took too long. Whether the service acted on the request is unknown.
    Timeout,
    /// The service refused.
    Service,
    /// Something answered that is not the service: a proxy, perhaps.
    Unreadable,
    /// A checksum is wrong: a message was damaged on its way. Of a send, the service *has* stored the message.
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

    /// What went wrong, in broad terms.
    pub fn kind(&self) -> ErrorKind {
        match &self.0.cause {
            Cause::Build(_) | Cause::Invalid(_) | Cause::Encode(_) => ErrorKind::Input,
            Cause::Endpoint(_) | Cause::NoTransport | Cause::NoTls => ErrorKind::Config,
            #[cfg(feature = "aws-sdk-sqs")]
            Cause::AwsSdk(_) => ErrorKind::Config,
            Cause::Credentials(_) | Cause::NoCredentials | Cause::Sign(_) => ErrorKind::Credentials,
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

    /// The refusal, also when it was this client that checked the rule before sending.
    pub fn service_error(&self) -> Option<&ServiceError> {
        match &self.0.cause {
            Cause::Service(error) | Cause::Invalid(error) => Some(error),
            _ => None,
        }
    }

    /// The code of the refusal, typed.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        self.service_error().map(|error| &error.code)
    }

    /// The code of the refusal as the Query protocol writes it, such as
    /// `AWS.SimpleQueueService.NonExistentQueue`; the same through both protocols.
    pub fn code(&self) -> Option<&str> {
        self.error_code().map(ErrorCode::query_code)
    }

    /// The text of the refusal.
    pub fn message(&self) -> Option<&str> {
        self.service_error()?.message.as_deref()
    }

    /// The id that the service gave to the last attempt; quote it to AWS support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.context.request_id.as_deref()
    }

    /// What went wrong.
    #[cfg(feature = "sdk")]
    pub(crate) fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// The answer to the last attempt, when it gave no output.
    #[cfg(feature = "sdk")]
    pub(crate) fn response(&self) -> Option<&http::Response<bytes::Bytes>> {
        self.0.context.response.as_ref()
    }

    /// The HTTP status of the last attempt.
    pub fn status(&self) -> Option<u16> {
        self.0.context.status
    }

    /// How many requests were sent.
    pub fn attempts(&self) -> u32 {
        self.0.context.attempts
    }

    /// When the first of them began.
    pub(crate) fn begun(&self) -> Option<std::time::Instant> {
        self.0.context.begun
    }

    /// Whether the same call may succeed later. The client has repeated it as often as it is configured to.
    pub fn is_retryable(&self) -> bool {
        matches!(self.failure(), Failure::Throttle | Failure::Transient | Failure::Timeout)
    }

    /// Whether the service asked for fewer requests.
    pub fn is_throttle(&self) -> bool {
        self.failure() == Failure::Throttle
    }

    /// Whether an attempt, or the whole operation, took too long.
    pub fn is_timeout(&self) -> bool {
        self.kind() == ErrorKind::Timeout
    }

    /// Whether the service may have acted on the request although no answer says so: on any of the attempts, since
    /// a clear refusal of the last one says nothing about those before it.
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.context.maybe_acted
    }

    /// The pause after which the client would have sent the request again, had it not been told to
    /// [retry only](crate::client::Retries::UnlessInDoubt) what the service has certainly not acted on.
    pub fn repeat_after(&self) -> Option<Duration> {
        self.0.context.repeat_after
    }

    /// How the exchange failed, when no whole answer came.
    pub fn transport_error(&self) -> Option<&TransportError> {
        match &self.0.cause {
            Cause::Transport(error) => Some(error),
            _ => None,
        }
    }

    /// Every checksum that is wrong or missing, with the id of the batch entry or of the received message.
    pub fn checksum_mismatches(&self) -> &[ChecksumMismatch] {
        match &self.0.cause {
            Cause::Checksum(damaged) => &damaged.mismatches,
            _ => &[],
        }
    }

    /// What the service answered although a checksum is wrong, such as a
    /// [`ReceiveMessageOutput`](crate::operation::receive_message::ReceiveMessageOutput) with the intact messages in
    /// `messages()` and the others in `damaged_messages()`.
    pub fn output<T: 'static>(&self) -> Option<&T> {
        match &self.0.cause {
            Cause::Checksum(damaged) => damaged.output.downcast_ref(),
            _ => None,
        }
    }

    /// The same error with another answer in it, for layers that change what answers hold. An error without an answer
    /// stays as it is.
    pub fn with_output<T: Any + Send + Sync>(&self, output: T) -> Self {
        let Cause::Checksum(damaged) = &self.0.cause else { return self.clone() };
        let damaged = Damaged { mismatches: damaged.mismatches.clone(), output: Box::new(output) };
        Self::new(Cause::Checksum(Arc::new(damaged)), self.0.context.clone())
    }

    /// What it means for the next attempt.
    pub(crate) fn failure(&self) -> Failure {
        classify(&self.0.cause, self.0.context.status)
    }
}

/// One check for each error of the service model, for an error that has an `error_code()`: this one, and those of layers.
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
        /// One check for each error of the service model, as in the AWS SDK.
        impl $error {
            $(
                #[doc = concat!("Whether the service answered `", stringify!($variant), "`.")]
                pub fn [<is_ $variant:snake>](&self) -> bool {
                    self.error_code() == Some(&$crate::wire::service_error::ErrorCode::$variant)
                }
            )*
        }
    } };
}

crate::shape_checks!(Error);

/// The sentence of `Display` with the sources, since this is what `main` prints when it returns an error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.to_string();
        f.write_str(&shown)?;
        let mut source = self.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // Of these, `Display` shows the source already, and their own text only names a kind.
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
            // Its own text is shown already; what is new is why.
            Cause::Transport(error) => error.source(),
            _ => None,
        }
    }
}

/// The error of one damaged message of a receive that succeeded for the others.
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
