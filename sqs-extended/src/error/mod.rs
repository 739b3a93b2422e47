//! The one error of this crate: one word wide, cheap to clone.

mod kind;
mod service;

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use sqs_client::client::OperationError;

use crate::payload::PayloadError;
use crate::pointer::{BadPointer, Pointer};
use crate::store::StoreError;

pub use kind::ErrorKind;

/// Why something failed: an operation, or the loading of one payload.
///
/// It shows what was tried and what came of it; the cause is in [`source`](StdError::source). What the client below says
/// is shown in its own words.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let url = server.client().create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_extended::{ErrorKind, ExtendedClient, MemoryStore, StoreCall, StoreErrorKind, StoreFault};
///
/// let store = MemoryStore::new("payloads");
/// let client = ExtendedClient::new(server.client(), store.clone());
/// store.fail_next(StoreCall::Put, StoreFault::Refuse(StoreErrorKind::Forbidden));
///
/// let error = client.send_message().queue_url(&url).message_body("x".repeat(300_000)).send().await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Upload); // nothing was sent
/// assert!(!error.is_retryable());
/// println!("{error}: {:?}", error.store_error());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    pointer: Option<Pointer>,
    source: Source,
}

enum Source {
    None,
    Client { error: Arc<dyn StdError + Send + Sync>, client: Option<sqs_client::Error>, hints: Hints },
    Store(StoreError),
    Pointer(BadPointer),
    Payload(PayloadError),
}

/// What an error of the client below says about trying again.
#[derive(Clone, Copy)]
struct Hints {
    is_retryable: bool,
    is_throttle: bool,
    is_outcome_unknown: bool,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::make(kind, message.into(), None, Source::None)
    }

    fn make(kind: ErrorKind, message: String, pointer: Option<Pointer>, source: Source) -> Self {
        Self(Arc::new(Inner { kind, message, pointer, source }))
    }

    /// About the object at `pointer`.
    pub(crate) fn about(kind: ErrorKind, pointer: &Pointer, message: impl Into<String>) -> Self {
        Self::make(kind, message.into(), Some(pointer.clone()), Source::None)
    }

    pub(crate) fn unreadable(bad: BadPointer) -> Self {
        Self::make(ErrorKind::BadPointer, bad.to_string(), None, Source::Pointer(bad))
    }

    pub(crate) fn upload(pointer: &Pointer, error: StoreError) -> Self {
        let message = format!("storing the payload at {pointer} failed, the message was not sent");
        Self::make(ErrorKind::Upload, message, Some(pointer.clone()), Source::Store(error))
    }

    pub(crate) fn listing(bucket: &str, prefix: &str, error: StoreError) -> Self {
        let kind = ErrorKind::of_download(error.kind());
        let message = format!("listing the objects of {bucket:?} that begin with {prefix:?} failed");
        Self::make(kind, message, None, Source::Store(error))
    }

    /// Uploads that never ended could not be listed.
    pub(crate) fn listing_unfinished(bucket: &str, prefix: &str, error: StoreError) -> Self {
        let kind = ErrorKind::of_download(error.kind());
        let message = format!(
            "listing the unfinished uploads to {bucket:?} that begin with {prefix:?} failed (objects_only() does without)"
        );
        Self::make(kind, message, None, Source::Store(error))
    }

    /// A payload that was streamed into the store.
    pub(crate) fn streaming_up(pointer: &Pointer, error: PayloadError) -> Self {
        let kind = ErrorKind::of_payload(&error).unwrap_or(ErrorKind::Upload);
        let message = format!("streaming the payload to {pointer} failed, the message was not sent");
        Self::make(kind, message, Some(pointer.clone()), Source::Payload(error))
    }

    /// A payload that was to be read from the store.
    pub(crate) fn reading(pointer: &Pointer, error: PayloadError) -> Self {
        let store =
            error.store_error().map_or(ErrorKind::Download, |error| ErrorKind::of_download(error.kind()));
        let kind = ErrorKind::of_payload(&error).unwrap_or(store);
        let message = format!("reading the payload at {pointer} failed");
        Self::make(kind, message, Some(pointer.clone()), Source::Payload(error))
    }

    /// What the client below says.
    pub(crate) fn below<E: OperationError>(error: E) -> Self {
        let hints = Hints {
            is_retryable: error.is_retryable(),
            is_throttle: error.is_throttle(),
            is_outcome_unknown: error.is_outcome_unknown(),
        };
        let client = error.client_error().cloned();
        let source = Source::Client { error: Arc::new(error), client, hints };
        Self::make(ErrorKind::Client, String::new(), None, source)
    }

    /// The same error of a call whose earlier requests the service may have acted on.
    pub(crate) fn outcome_unknown(self) -> Self {
        let Source::Client { error, client, hints } = &self.0.source else { return self };
        let hints = Hints { is_outcome_unknown: true, ..*hints };
        let source = Source::Client { error: Arc::clone(error), client: client.clone(), hints };
        Self::make(self.kind(), self.0.message.clone(), self.0.pointer.clone(), source)
    }

    /// What went wrong, in broad terms.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The object that it is about.
    pub fn pointer(&self) -> Option<&Pointer> {
        self.0.pointer.as_ref()
    }

    /// Why a body is no pointer.
    pub fn bad_pointer(&self) -> Option<&BadPointer> {
        match &self.0.source {
            Source::Pointer(bad) => Some(bad),
            _ => None,
        }
    }

    /// What the store said.
    pub fn store_error(&self) -> Option<&StoreError> {
        match &self.0.source {
            Source::Store(error) => Some(error),
            Source::Payload(error) => error.store_error(),
            _ => None,
        }
    }

    /// The error of the plain client, when it is one: code, request id and more.
    pub fn client_error(&self) -> Option<&sqs_client::Error> {
        match &self.0.source {
            Source::Client { client, .. } => client.as_ref(),
            _ => None,
        }
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        match &self.0.source {
            Source::Client { hints, .. } => hints.is_retryable,
            Source::Store(error) => error.is_retryable(),
            Source::Payload(error) => error.is_retryable(),
            _ => false,
        }
    }

    /// Whether the service may have acted on the request although no answer says so.
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(&self.0.source, Source::Client { hints: Hints { is_outcome_unknown: true, .. }, .. })
    }
}

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
}

impl From<sqs_client::Error> for Error {
    fn from(error: sqs_client::Error) -> Self {
        Self::below(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.source {
            Source::Client { error, .. } => fmt::Display::fmt(error, f),
            Source::Payload(error) => write!(f, "{}: {error}", self.0.message),
            _ => f.write_str(&self.0.message),
        }
    }
}

/// The sentence of `Display` with the sources, since this is what `main` prints when it returns an error.
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
        match &self.0.source {
            // Its own text is shown already; what is new is why.
            Source::Client { error, .. } => error.source(),
            Source::Store(error) => Some(error),
            // As of the client.
            Source::Payload(error) => error.source(),
            // Its own text is shown already.
            Source::None | Source::Pointer(_) => None,
        }
    }
}
