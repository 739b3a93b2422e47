//! Why an entry was not done, or not even taken.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use sqs_client::client::OperationError;
use sqs_client::wire::service_error::ErrorCode;

use crate::passing::is_passing;

/// Why an entry ended without success, or was not even taken. One word wide and cheap to clone, since one failed request reports to
/// ten callers.
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
/// assert!(!error.is_retryable() && !error.is_maybe_sent());
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
    /// The entry of the group that was accepted although this one was not.
    accepted_after: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// How an entry ended without success, or why it was not taken.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum SendErrorKind {
    /// The service refused it, for a reason that trying again does not change.
    Rejected,
    /// It is too large for the service.
    TooLarge,
    /// The request failed as a whole, and trying again could not help or did not.
    Request,
    /// It could not be done within the delivery timeout. Code, message and source are those of the last attempt, if there was
    /// one that failed.
    Timeout,
    /// The answers did not mention it, however often it was tried.
    Unaccounted,
    /// The service has stored it, but what it answered about it has the wrong checksum.
    ChecksumMismatch,
    /// An entry of the same group that was admitted before it failed, so that it was not sent.
    PrecedingFailed,
    /// It was refused while a later entry of its group was accepted: sending it now would break the order.
    OrderGap,
    /// It was accepted, but not at its place among the entries of its group.
    OutOfOrder,
    /// The receipt handle has expired: the message may be another's by now.
    LeaseLost,
    /// A delete of the same message made a change of its visibility pointless.
    Superseded,
    /// The client was closed and its grace is over, or the runtime has ended.
    Aborted,
    /// It was not taken: the client is closed.
    Closed,
    /// It was not taken: there was no room for it in time.
    Full,
    /// It was not taken: it could not be sent as it is.
    Invalid,
    /// It was not taken: there is no tokio runtime here that could send it.
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
            Self::Rejected => "the service refused it",
            Self::TooLarge => "it is too large",
            Self::Request => "the request failed",
            Self::Timeout => "it could not be done within the delivery timeout",
            Self::Unaccounted => "the answers of the service did not mention it",
            Self::ChecksumMismatch => "the service stored it, but its checksum is wrong",
            Self::PrecedingFailed => "an earlier entry of its group failed",
            Self::OrderGap => "it was refused while a later entry of its group was accepted",
            Self::OutOfOrder => "it was stored, but not at its place in its group",
            Self::LeaseLost => "the receipt handle has expired",
            Self::Superseded => "the message was deleted meanwhile",
            Self::Aborted => "the client was closed or its runtime ended before it was done",
            Self::Closed => "the client is closed",
            Self::Full => "there is no room for it",
            Self::Invalid => "it cannot be sent as it is",
            Self::NoRuntime => "there is no tokio runtime here that could send it",
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
            accepted_after: None,
            source: None,
        }))
    }

    /// No answer mentions the entry.
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

    /// Of a request that failed as a whole.
    pub(crate) fn of_request(self, error: &impl OperationError) -> Self {
        self.with(|inner| {
            (inner.is_retryable, inner.is_throttle) = (is_passing(error), error.is_throttle());
            inner.request_id = error.client_error().and_then(|error| error.request_id()).map(str::to_owned);
        })
    }

    /// Of a refusal of one entry.
    pub(crate) fn of_entry(self, is_retryable: bool, is_throttle: bool) -> Self {
        self.with(|inner| (inner.is_retryable, inner.is_throttle) = (is_retryable, is_throttle))
    }

    pub(crate) fn explained(self, text: String) -> Self {
        self.with(|inner| inner.message = Some(text))
    }

    pub(crate) fn maybe_sent(self, maybe_sent: bool) -> Self {
        if self.0.maybe_sent == maybe_sent { self } else { self.with(|inner| inner.maybe_sent = maybe_sent) }
    }

    pub(crate) fn after(self, accepted: Option<&str>) -> Self {
        self.with(|inner| inner.accepted_after = accepted.map(str::to_owned))
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

    /// How it ended.
    pub fn kind(&self) -> SendErrorKind {
        self.0.kind
    }

    /// The code of the service's refusal.
    pub fn error_code(&self) -> Option<&ErrorCode> {
        self.0.code.as_ref()
    }

    /// The code of the service's refusal as the Query protocol writes it.
    pub fn code(&self) -> Option<&str> {
        self.error_code().map(ErrorCode::query_code)
    }

    /// The text of the service's refusal, or what is wrong with an entry that was not taken.
    pub fn message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    /// The id that the service gave to the request, when it failed as a whole; quote it to AWS support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Whether the same entry may succeed if you enqueue it again. True for failures of the service or the network, and for
    /// entries that were given up for another reason than themselves: no room or time, a failed predecessor in the group, a
    /// client that was closed before it had sent them.
    ///
    /// If [`is_maybe_sent`](Self::is_maybe_sent) is true as well, a standard queue may then contain the message twice.
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

    /// Whether the service or the network failed in a way that may pass: an error, a timeout, throttling, expired
    /// credentials. For alarms and circuit breakers; to decide about the entry, use [`is_retryable`](Self::is_retryable).
    pub fn is_transient(&self) -> bool {
        match self.kind() {
            SendErrorKind::Timeout | SendErrorKind::Unaccounted => true,
            SendErrorKind::Rejected | SendErrorKind::Request | SendErrorKind::OrderGap => self.0.is_retryable,
            _ => false,
        }
    }

    /// Whether the service asked for fewer requests.
    pub fn is_throttle(&self) -> bool {
        self.0.is_throttle
    }

    /// Whether the service may have done it although this says that it failed: an answer was lost, or is wrong.
    pub fn is_maybe_sent(&self) -> bool {
        self.0.maybe_sent
    }

    /// Of an [`OutOfOrder`](SendErrorKind::OutOfOrder) or a [`ChecksumMismatch`](SendErrorKind::ChecksumMismatch): the
    /// id under which the service has stored the message.
    pub fn message_id(&self) -> Option<&str> {
        self.0.message_id.as_deref()
    }

    /// Of an [`OrderGap`](SendErrorKind::OrderGap): the id of the message that was accepted instead.
    pub fn accepted_after(&self) -> Option<&str> {
        self.0.accepted_after.as_deref()
    }

    /// Whether the receipt handle has expired.
    pub fn is_lease_lost(&self) -> bool {
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
        if self.is_maybe_sent() {
            f.write_str(" (the service may have it all the same)")?;
        }
        Ok(())
    }
}

/// The sentence of `Display` with the causes, since this is what `main` prints when it returns an error.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_were_given_up_for_no_fault_of_theirs_can_be_enqueued_again() {
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
