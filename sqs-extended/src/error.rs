//! The error type of this crate: one word wide and cheap to clone.

use std::error::Error as StdError;
use std::sync::Arc;
use std::{fmt, io};

use sqs_client::ErrorKind as ClientErrorKind;
use sqs_client::client::{OperationError, Unopened};
use sqs_client::wire::service_error::ErrorCode;

use crate::format::pointer::Pointer;

/// Why a call, a payload or a store failed.
///
/// `Display` says what was tried and why it failed. An error of the client below keeps its own text.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_client::types::MessageAttributeValue;
/// use sqs_extended::{ErrorKind, ExtendedClient, MemoryStore};
///
/// let client = ExtendedClient::new(server.client(), MemoryStore::new("payloads"));
/// let send = client.send_message().queue_url(&url).message_body("x".repeat(300_000));
/// let error = send.message_attributes("ExtendedPayloadSize", MessageAttributeValue::number(1)).send().await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::ReservedAttribute); // nothing was stored or sent
/// assert!(!error.is_retryable());
/// println!("{error}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    pointer: Option<Pointer>,
    is_retryable: bool,
    is_outcome_unknown: bool,
    source: Option<Arc<dyn StdError + Send + Sync>>,
    client: Option<Client>,
    /// Set if a message could not be opened.
    unopened: Option<Unopened>,
}

/// The error of the client below.
#[derive(Clone)]
struct Client {
    /// `None` for an error of a layer over the plain client.
    error: Option<sqs_client::Error>,
    is_throttle: bool,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// SQS or the client below failed; see [`client_error`](Error::client_error).
    Client,
    /// Invalid configuration.
    Config,
    /// The message has more than nine attributes, so the pointer's attribute does not fit. Nothing was stored or sent.
    TooManyAttributes,
    /// The message has an attribute with a reserved name. Nothing was stored or sent.
    ReservedAttribute,
    /// The pointer attribute is present, but the body is not a valid pointer.
    BadPointer,
    /// The pointer names a bucket that is not allowed. No request was made.
    ForeignBucket,
    /// The object does not exist (404).
    NotFound,
    /// Access to the object or the bucket is denied (403).
    Forbidden,
    /// The store is busy or failed, or the connection broke: 5xx, throttling, timeouts, expired credentials. Or there is no memory for
    /// the payload now. Retryable.
    Unavailable,
    /// The store rejected the request for another reason.
    Rejected,
    /// The object is not the one that was stored: its length, hash or version differs.
    Damaged,
    /// The payload is larger than allowed.
    TooLarge,
    /// The payload is not UTF-8.
    NotText,
    /// The payload to send could not be read: the file, reader or stream failed or has a different length than was set.
    Source,
    /// The file for a received payload could not be written.
    File,
}

impl ErrorKind {
    /// A short name for logs and metrics, such as `foreign_bucket`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Config => "config",
            Self::TooManyAttributes => "too_many_attributes",
            Self::ReservedAttribute => "reserved_attribute",
            Self::BadPointer => "bad_pointer",
            Self::ForeignBucket => "foreign_bucket",
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::Unavailable => "unavailable",
            Self::Rejected => "rejected",
            Self::Damaged => "damaged",
            Self::TooLarge => "too_large",
            Self::NotText => "not_text",
            Self::Source => "source",
            Self::File => "file",
        }
    }
}

/// For implementations of [`PayloadStore`](crate::store::PayloadStore).
impl Error {
    /// An error with a text that says what was tried and why it failed. [`ErrorKind::Unavailable`] is retryable.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            pointer: None,
            is_retryable: kind == ErrorKind::Unavailable,
            is_outcome_unknown: false,
            source: None,
            client: None,
            unopened: None,
        }))
    }

    /// Sets the cause.
    pub fn caused_by(self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.with(|inner| inner.source = Some(Arc::from(source.into())))
    }

    /// States that the store may have executed the call.
    pub fn outcome_unknown(self) -> Self {
        self.with(|inner| inner.is_outcome_unknown = true)
    }
}

impl Error {
    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// Sets the object that the error is about.
    pub(crate) fn at(self, pointer: &Pointer) -> Self {
        self.with(|inner| inner.pointer = Some(pointer.clone()))
    }

    /// The payload of a message could not be stored, so the message was not sent.
    pub(crate) fn not_sent(self, pointer: &Pointer) -> Self {
        self.at(pointer).with(|inner| {
            inner.message = format!("the message was not sent: {}", inner.message);
            inner.is_outcome_unknown = false;
        })
    }

    /// States what to do with the message that could not be opened.
    pub(crate) fn leaves_unopened(self, unopened: Unopened) -> Self {
        self.with(|inner| inner.unopened = Some(unopened))
    }

    /// Wraps an error of the client below.
    pub(crate) fn below<E: OperationError>(error: E) -> Self {
        let client = Client { error: error.client_error().cloned(), is_throttle: error.is_throttle() };
        Self::new(ErrorKind::Client, String::new()).with(|inner| {
            (inner.is_retryable, inner.is_outcome_unknown) =
                (error.is_retryable(), error.is_outcome_unknown());
            inner.client = Some(client);
            inner.unopened = error.unopened();
            inner.source = Some(Arc::new(error));
        })
    }

    /// The output of a call that failed because of a wrong checksum.
    pub(crate) fn output<T: 'static>(&self) -> Option<&T> {
        self.client_error()?.output()
    }

    /// Whether SQS certainly did not execute the request. After a wrong checksum, SQS has the message.
    pub(crate) fn is_refusal(&self) -> bool {
        let is_damaged = self.client_error().is_some_and(|error| error.kind() == ClientErrorKind::Checksum);
        !is_damaged && !self.is_outcome_unknown()
    }

    /// Converts into an `io::Error`, for streams and readers.
    pub(crate) fn into_io(self) -> io::Error {
        let kind = match self.kind() {
            ErrorKind::Damaged | ErrorKind::NotText => io::ErrorKind::InvalidData,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self)
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The object that the error is about, if any.
    pub fn pointer(&self) -> Option<&Pointer> {
        self.0.pointer.as_ref()
    }

    /// The error of the plain client with code and request id; `None` if something else failed.
    pub fn client_error(&self) -> Option<&sqs_client::Error> {
        self.0.client.as_ref()?.error.as_ref()
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }

    /// Whether the service or the store may have executed the call although it failed. If a payload could not be stored, its message
    /// was not sent, and this is false.
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.is_outcome_unknown
    }

    /// Whether SQS throttled the request.
    pub fn is_throttle(&self) -> bool {
        self.0.client.as_ref().is_some_and(|client| client.is_throttle)
    }

    /// The error code of SQS; `None` if SQS did not respond.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        self.client_error()?.error_code()
    }

    /// The error code of SQS as text, such as `QueueDoesNotExist`; `None` if SQS did not respond.
    pub fn code(&self) -> Option<&str> {
        self.client_error()?.code()
    }

    /// The error message of SQS, without code and request id.
    pub fn message(&self) -> Option<&str> {
        self.client_error()?.message()
    }

    /// The id of the last request to SQS.
    pub fn request_id(&self) -> Option<&str> {
        self.client_error()?.request_id()
    }
}

sqs_client::shape_checks!(Error);

impl OperationError for Error {
    fn client_error(&self) -> Option<&sqs_client::Error> {
        self.client_error()
    }

    fn is_retryable(&self) -> bool {
        self.is_retryable()
    }

    fn is_throttle(&self) -> bool {
        self.is_throttle()
    }

    fn is_outcome_unknown(&self) -> bool {
        self.is_outcome_unknown()
    }

    fn unopened(&self) -> Option<Unopened> {
        self.0.unopened
    }
}

impl From<sqs_client::Error> for Error {
    fn from(error: sqs_client::Error) -> Self {
        Self::below(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.client, &self.0.source) {
            (Some(_), Some(error)) => fmt::Display::fmt(error, f),
            _ => f.write_str(&self.0.message),
        }
    }
}

/// `Display` with the causes: what `main` prints when it returns an error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut source = self.source();
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source = self.0.source.as_deref()?;
        // The text of an error of the client is shown already.
        if self.0.client.is_some() { source.source() } else { Some(source) }
    }
}
