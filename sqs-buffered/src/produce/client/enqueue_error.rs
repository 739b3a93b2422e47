//! The error of an entry that was not admitted.

use std::error::Error as StdError;
use std::fmt;

use crate::produce::entry::Entry;
use crate::produce::error::{SendError, SendErrorKind};

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
    pub(super) fn new(entry: E, error: SendError) -> Self {
        Self { entry: Box::new(entry), error }
    }

    pub(super) fn of_kind(entry: E, kind: SendErrorKind) -> Self {
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
