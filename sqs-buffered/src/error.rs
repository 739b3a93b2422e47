//! Errors: why an entry was not admitted or not sent, why a receive failed, and which failures pass.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use sqs_client::ErrorKind;
use sqs_client::client::OperationError;
use sqs_client::wire::service_error::{ErrorCode, RetryClass, ServiceError};
use tokio::task::JoinError;

use crate::entry::Entry;

/// Why an entry failed or was not admitted. It is one word wide and cheap to clone: one failed request reports to ten callers.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_buffered::{BufferedClient, SendErrorKind};
///
/// let buffered = BufferedClient::new(client);
/// let error = buffered.send(&url, "not in XML 1.0: \u{1}").await.unwrap_err();
/// assert_eq!(error.kind(), SendErrorKind::Rejected);
/// assert_eq!(error.code(), Some("InvalidMessageContents"));
/// assert!(!error.is_retryable() && !error.is_outcome_unknown());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SendError(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: SendErrorKind,
    code: Option<ErrorCode>,
    message: Option<String>,
    request_id: Option<String>,
    is_retryable: bool,
    is_throttle: bool,
    maybe_sent: bool,
    message_id: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// The kind of a [`SendError`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum SendErrorKind {
    /// SQS, or the client below, refused the entry: permanently, or until the retries ended.
    Rejected,
    /// The entry is larger than [`max_message_bytes`](crate::settings::BufferedClientBuilder::max_message_bytes) or than SQS accepts.
    TooLarge,
    /// The whole request failed: permanently, or until the retries ended.
    Request,
    /// SQS had not accepted the entry when the delivery timeout was over. Code, message and source are those of the
    /// last failed attempt, if any.
    Timeout,
    /// The responses of all attempts did not mention the entry.
    Unaccounted,
    /// SQS has stored the message, but the checksum in its response is wrong.
    ChecksumMismatch,
    /// The message was not sent, because a message that was admitted before it in its group failed.
    PrecedingFailed,
    /// The message was refused while a later one of its group was accepted: a retry would break the order.
    OrderGap,
    /// The message was stored, but not at its place in its group.
    OutOfOrder,
    /// The receipt handle has expired: another consumer may have the message.
    LeaseLost,
    /// The message was deleted before its visibility was changed.
    Superseded,
    /// The grace of `close` was over, or the runtime ended, before the entry was done.
    Aborted,
    /// Not admitted: the client is closed.
    Closed,
    /// Not admitted: there was no room in time.
    Full,
    /// Not admitted: the entry is invalid.
    Invalid,
    /// Not admitted: there is no tokio runtime.
    NoRuntime,
}

impl SendErrorKind {
    /// A short name for metrics, such as `rejected`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::TooLarge => "too_large",
            Self::Request => "request",
            Self::Timeout => "timeout",
            Self::Unaccounted => "unaccounted",
            Self::ChecksumMismatch => "checksum_mismatch",
            Self::PrecedingFailed => "preceding_failed",
            Self::OrderGap => "order_gap",
            Self::OutOfOrder => "out_of_order",
            Self::LeaseLost => "lease_lost",
            Self::Superseded => "superseded",
            Self::Aborted => "aborted",
            Self::Closed => "closed",
            Self::Full => "full",
            Self::Invalid => "invalid",
            Self::NoRuntime => "no_runtime",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::Rejected => "SQS refused the entry",
            Self::TooLarge => "the entry is too large",
            Self::Request => "the request failed",
            Self::Timeout => "the entry was not done within the delivery timeout",
            Self::Unaccounted => "the responses of SQS did not mention the entry",
            Self::ChecksumMismatch => "SQS stored the message, but the checksum in its response is wrong",
            Self::PrecedingFailed => "an earlier message of the group failed",
            Self::OrderGap => "SQS refused the message, but accepted a later one of its group",
            Self::OutOfOrder => "SQS stored the message behind later ones of its group",
            Self::LeaseLost => "the receipt handle has expired",
            Self::Superseded => "the message was deleted before its visibility was changed",
            Self::Aborted => "the client was closed, or its runtime ended, before the entry was done",
            Self::Closed => "the client is closed",
            Self::Full => "the client has no room for the entry",
            Self::Invalid => "the entry is invalid",
            Self::NoRuntime => "there is no tokio runtime",
        }
    }
}

impl SendError {
    pub(crate) fn new(kind: SendErrorKind) -> Self {
        Self(Arc::new(Inner {
            kind,
            code: None,
            message: None,
            request_id: None,
            is_retryable: false,
            is_throttle: false,
            maybe_sent: false,
            message_id: None,
            source: None,
        }))
    }

    /// The entry breaks a rule of SQS and is not admitted.
    pub(crate) fn invalid(refusal: ServiceError) -> Self {
        Self::new(SendErrorKind::Invalid).refused(refusal.code, refusal.message)
    }

    /// The value of a message has no form in JSON.
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub(crate) fn no_json(error: serde_json::Error) -> Self {
        Self::new(SendErrorKind::Invalid).explained(format!("the value has no form in JSON: {error}"))
    }

    /// The response does not mention the entry.
    pub(crate) fn unaccounted() -> Self {
        Self::new(SendErrorKind::Unaccounted).maybe_sent(true)
    }

    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    pub(crate) fn refused(self, code: ErrorCode, message: Option<String>) -> Self {
        self.with(|inner| (inner.code, inner.message) = (Some(code), message))
    }

    /// Adds the facts of a request that failed as a whole.
    pub(crate) fn of_request(self, error: &impl OperationError) -> Self {
        self.with(|inner| {
            (inner.is_retryable, inner.is_throttle) = (is_transient(error), error.is_throttle());
            inner.request_id = error.client_error().and_then(|error| error.request_id()).map(str::to_owned);
        })
    }

    /// Adds the facts of a refusal of one entry.
    pub(crate) fn of_entry(self, is_retryable: bool, is_throttle: bool) -> Self {
        self.with(|inner| (inner.is_retryable, inner.is_throttle) = (is_retryable, is_throttle))
    }

    pub(crate) fn explained(self, text: String) -> Self {
        self.with(|inner| inner.message = Some(text))
    }

    pub(crate) fn maybe_sent(self, maybe_sent: bool) -> Self {
        if self.0.maybe_sent == maybe_sent { self } else { self.with(|inner| inner.maybe_sent = maybe_sent) }
    }

    pub(crate) fn of_kind(self, kind: SendErrorKind) -> Self {
        self.with(|inner| inner.kind = kind)
    }

    pub(crate) fn stored_as(self, message_id: Option<&str>) -> Self {
        self.with(|inner| inner.message_id = message_id.map(str::to_owned))
    }

    pub(crate) fn caused_by(self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.with(|inner| inner.source = Some(Arc::new(source)))
    }

    /// The kind of the error.
    pub fn kind(&self) -> SendErrorKind {
        self.0.kind
    }

    /// The error code of SQS.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        self.0.code.as_ref()
    }

    /// The error code of SQS as the Query protocol writes it, such as `InvalidMessageContents`.
    pub fn code(&self) -> Option<&str> {
        self.error_code().map(ErrorCode::query_code)
    }

    /// The error message of SQS, or what is wrong with an entry that was not admitted.
    pub fn message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    /// The request id, if the whole request failed. Quote it to AWS support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Whether the same entry may succeed if you enqueue it again. True for failures of SQS or the network, and if the entry
    /// was abandoned for a reason outside of it: no room, no time, a failed predecessor in its group, or a closed client.
    ///
    /// If [`is_outcome_unknown`](Self::is_outcome_unknown) is true as well, a standard queue may then contain the message twice.
    pub fn is_retryable(&self) -> bool {
        match self.kind() {
            SendErrorKind::Full
            | SendErrorKind::Timeout
            | SendErrorKind::Unaccounted
            | SendErrorKind::PrecedingFailed
            | SendErrorKind::Aborted => true,
            SendErrorKind::Rejected | SendErrorKind::Request | SendErrorKind::OrderGap => self.0.is_retryable,
            _ => false,
        }
    }

    /// Whether SQS or the network failed, and the failure may clear without a change: a server error, a timeout, throttling,
    /// expired credentials. For alarms and circuit breakers; to decide about the entry, use
    /// [`is_retryable`](Self::is_retryable).
    pub fn is_transient(&self) -> bool {
        match self.kind() {
            SendErrorKind::Timeout | SendErrorKind::Unaccounted => true,
            SendErrorKind::Rejected | SendErrorKind::Request | SendErrorKind::OrderGap => self.0.is_retryable,
            _ => false,
        }
    }

    /// Whether SQS throttled the request.
    pub fn is_throttle(&self) -> bool {
        self.0.is_throttle
    }

    /// Whether SQS may have executed the entry although it failed here: a response was lost, or is wrong.
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.maybe_sent
    }

    /// The id of the stored message, for [`OutOfOrder`](SendErrorKind::OutOfOrder) and
    /// [`ChecksumMismatch`](SendErrorKind::ChecksumMismatch).
    pub fn message_id(&self) -> Option<&str> {
        self.0.message_id.as_deref()
    }

    /// Whether the receipt handle has expired.
    pub(crate) fn is_lease_lost(&self) -> bool {
        self.kind() == SendErrorKind::LeaseLost
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().sentence())?;
        if let Some(code) = self.code() {
            write!(f, ": {code}")?;
        }
        if let Some(message) = self.message() {
            write!(f, ": {message}")?;
        }
        if let Some(id) = self.request_id() {
            write!(f, " (request id {id})")?;
        }
        if self.is_outcome_unknown() {
            f.write_str(" (SQS may have executed it)")?;
        }
        Ok(())
    }
}

/// `Display` with the causes, because `main` prints `Debug` when it returns an error.
impl fmt::Debug for SendError {
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

impl StdError for SendError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source: &(dyn StdError + 'static) = self.0.source.as_deref()?;
        Some(source)
    }
}

/// An entry that was not admitted, with the reason. Nothing was sent.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = sqs_mock_server::MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_buffered::{BufferedClient, Entry};
///
/// let buffered = BufferedClient::builder(client).capacity(1, 1_000).build()?;
/// let ticket = buffered.try_enqueue(Entry::new(&url, "one coffee"))?;
///
/// let refused = buffered.try_enqueue(Entry::new(&url, "two teas")).unwrap_err();
/// assert!(refused.is_full());
/// ticket.await?;
/// buffered.enqueue(refused.into_entry()).await?.await?; // waits for room
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct EnqueueError<E = Entry> {
    entry: Box<E>,
    error: SendError,
}

impl<E> EnqueueError<E> {
    pub(crate) fn new(entry: E, error: SendError) -> Self {
        Self { entry: Box::new(entry), error }
    }

    pub(crate) fn of_kind(entry: E, kind: SendErrorKind) -> Self {
        Self::new(entry, SendError::new(kind))
    }

    /// The reason: `Full`, `TooLarge`, `Invalid`, `Closed` or `NoRuntime`.
    pub fn kind(&self) -> SendErrorKind {
        self.error.kind()
    }

    /// The error code for an invalid entry, as the Query protocol writes it.
    pub fn code(&self) -> Option<&str> {
        self.error.code()
    }

    /// What is wrong with an invalid entry.
    pub fn message(&self) -> Option<&str> {
        self.error.message()
    }

    /// Whether there was no room for the entry.
    pub fn is_full(&self) -> bool {
        self.kind() == SendErrorKind::Full
    }

    /// Returns the entry.
    pub fn into_entry(self) -> E {
        *self.entry
    }
}

impl<E> fmt::Display for EnqueueError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not admitted: {}", self.error)
    }
}

/// The same as `Display`, without the entry, whose body may be confidential.
impl<E> fmt::Debug for EnqueueError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<E> StdError for EnqueueError<E> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.source()
    }
}

impl<E> From<EnqueueError<E>> for SendError {
    fn from(refused: EnqueueError<E>) -> Self {
        refused.error
    }
}

/// A setting is out of range. The text names the setting, its value, and what is allowed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BuildError {
    setting: &'static str,
    value: String,
    allowed: String,
}

/// An error with its causes, as `the price is wrong: invalid digit found in string`.
#[derive(Debug)]
pub(crate) struct Causes<'e>(pub(crate) &'e (dyn StdError + 'e));

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl BuildError {
    pub(crate) fn new(setting: &'static str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self { setting, value: value.to_string(), allowed: allowed.to_string() }
    }

    /// The name of the setting: that of the builder's method, with the name of the value if there are several.
    pub fn setting(&self) -> &str {
        self.setting
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, allowed is {}", self.setting, self.value, self.allowed)
    }
}

impl std::error::Error for BuildError {}

/// Why a receiver or consumer did not start, or ended by itself. It is one word wide and cheap to clone.
#[derive(Clone)]
pub struct ReceiveError(Arc<ReceiveInner>);

struct ReceiveInner {
    kind: ReceiveErrorKind,
    text: String,
    /// The error of SQS, if there is one.
    cause: Option<sqs_client::Error>,
    is_retryable: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kind of a [`ReceiveError`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ReceiveErrorKind {
    /// A setting is out of range. Nothing was sent.
    Invalid,
    /// The first receive failed permanently: the queue does not exist, or access is denied.
    Refused,
    /// The consumer is running or has been run. A consumer runs once.
    Running,
    /// The buffered client was closed: received messages could not be deleted or given back.
    Closed,
    /// There is no tokio runtime.
    NoRuntime,
    /// The operating system does not report the signals that
    /// [`run_until_signal`](crate::consume::consumer::Consumer::run_until_signal) waits for.
    Signals,
    /// The run was dropped, a task panicked, or the runtime has ended.
    Aborted,
}

impl ReceiveError {
    pub(crate) fn new(kind: ReceiveErrorKind, text: impl Into<String>) -> Self {
        Self(Arc::new(ReceiveInner {
            kind,
            text: text.into(),
            cause: None,
            is_retryable: false,
            source: None,
        }))
    }

    /// A setting is out of range.
    pub(crate) fn invalid(error: &BuildError) -> Self {
        Self::new(ReceiveErrorKind::Invalid, error.to_string())
    }

    pub(crate) fn refused(queue_url: &str, error: impl OperationError) -> Self {
        let (kind, cause) = (ReceiveErrorKind::Refused, error.client_error().cloned());
        let text = format!("cannot receive from {queue_url}: {error}");
        let is_retryable = error.is_retryable();
        Self(Arc::new(ReceiveInner { kind, text, cause, is_retryable, source: Some(Box::new(error)) }))
    }

    pub(crate) fn no_queue(name: &str, hint: &str, error: impl OperationError) -> Self {
        let (kind, cause) = (ReceiveErrorKind::Refused, error.client_error().cloned());
        let text = format!("cannot find the queue {name:?}: {error}{hint}");
        let is_retryable = error.is_retryable();
        Self(Arc::new(ReceiveInner { kind, text, cause, is_retryable, source: Some(Box::new(error)) }))
    }

    pub(crate) fn no_runtime() -> Self {
        Self::new(ReceiveErrorKind::NoRuntime, "there is no tokio runtime to receive in")
    }

    pub(crate) fn no_thread(error: &std::io::Error) -> Self {
        Self::new(ReceiveErrorKind::Aborted, format!("the thread that renews leases did not start: {error}"))
    }

    /// A task has panicked, or its runtime has ended.
    pub(crate) fn broken(what: &str, error: &JoinError) -> Self {
        Self::new(ReceiveErrorKind::Aborted, format!("{what} has ended unexpectedly: {error}"))
    }

    /// The kind of the error.
    pub fn kind(&self) -> ReceiveErrorKind {
        self.0.kind
    }

    /// The error code of SQS as the Query protocol writes it, such as
    /// `AWS.SimpleQueueService.NonExistentQueue`.
    pub fn code(&self) -> Option<&str> {
        self.0.cause.as_ref()?.code()
    }

    /// The error message of SQS.
    pub fn message(&self) -> Option<&str> {
        self.0.cause.as_ref()?.message()
    }

    /// The request id of the failed request. Quote it to AWS support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.cause.as_ref()?.request_id()
    }

    /// Whether a later run may succeed. Rarely true: transient failures are retried and do not end a run.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

/// The same as `Display`, because `main` prints `Debug` when it returns an error.
impl fmt::Debug for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl StdError for ReceiveError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // `Display` contains the text of the source itself, so the chain continues with the source of that.
        self.0.source.as_ref()?.source()
    }
}

/// Whether a later request may succeed. This includes more failures than `is_retryable`, which is about an immediate retry: the
/// client corrects expired tokens and clock skew, and credentials providers recover. Missing credentials stay missing.
pub(crate) fn is_transient<E: OperationError>(error: &E) -> bool {
    let Some(client_error) = error.client_error() else { return error.is_retryable() };
    error.is_retryable()
        || client_error.error_code().is_some_and(is_transient_code)
        || (client_error.kind() == ErrorKind::Credentials && client_error.source().is_some())
}

/// The same for the error code of a request or of a batch entry.
pub(crate) fn is_transient_code(code: &ErrorCode) -> bool {
    *code == ErrorCode::OverLimit || code.retry_class().is_some_and(|class| class != RetryClass::Never)
}

/// A panic of the client below.
#[derive(Debug)]
pub(crate) struct Panicked(String);

impl Panicked {
    pub(crate) fn of(panic: &(dyn Any + Send)) -> Self {
        Self(text(panic))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request panicked: {}", self.0)
    }
}

impl StdError for Panicked {}

/// The text of a panic.
pub(crate) fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_failed_for_an_outside_reason_are_retryable() {
        use SendErrorKind as Kind;
        let of = |kind| SendError::new(kind);
        for kind in [Kind::Full, Kind::Timeout, Kind::Unaccounted, Kind::PrecedingFailed, Kind::Aborted] {
            assert!(of(kind).is_retryable(), "{kind:?}");
        }
        for kind in [Kind::Rejected, Kind::Request, Kind::OrderGap] {
            for flag in [false, true] {
                let error = of(kind).of_entry(flag, false);
                assert_eq!((error.is_retryable(), error.is_transient()), (flag, flag), "{kind:?}");
            }
        }
        // Stored already, not possible any more, or not without another client.
        for kind in [
            Kind::ChecksumMismatch,
            Kind::OutOfOrder,
            Kind::LeaseLost,
            Kind::Superseded,
            Kind::TooLarge,
            Kind::Invalid,
            Kind::Closed,
            Kind::NoRuntime,
        ] {
            assert!(!of(kind).is_retryable() && !of(kind).is_transient(), "{kind:?}");
        }
        assert!(!of(Kind::PrecedingFailed).is_transient() && !of(Kind::Aborted).is_transient());
    }
}
