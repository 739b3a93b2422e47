//! Waiting until a queue is as a test wants it.

use std::fmt;
use std::time::Duration;

use super::messages::Messages;
use super::queue::QueueView;
use crate::sqs::engine::PeekedMessage;

/// A queue was not as it was waited for. It shows what is there instead, also by `unwrap`.
#[derive(Clone)]
pub struct Unmet {
    expected: String,
    seen: Option<Vec<PeekedMessage>>,
}

impl Unmet {
    /// What was in the queue when the wait ended, from the oldest message on.
    pub fn messages(&self) -> &[PeekedMessage] {
        self.seen.as_deref().unwrap_or_default()
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.seen {
            None => write!(f, "{}; there is no such queue", self.expected),
            Some(seen) => write!(f, "{}; it has {}:\n{}", self.expected, seen.len(), Messages(seen)),
        }
    }
}

/// As it shows.
impl fmt::Debug for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Unmet {}

impl QueueView<'_> {
    /// How long the waits of this view take at most, in real time whatever the clock of the server does: 5 seconds
    /// by default. It is the time of tokio, so that under its paused clock a wait in vain takes no time.
    pub fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Waits until the messages of the queue, visible or not and from the oldest on, are as `accept` wants them, and
    /// gives them. It is asked at first, and then whenever something was done to the queue or a moment of it has
    /// come; nothing is polled. A queue that does not exist yet has no messages.
    ///
    /// # Errors
    /// They were not so in time.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn wait_for(
        &self,
        accept: impl Fn(&[PeekedMessage]) -> bool,
    ) -> Result<Vec<PeekedMessage>, Unmet> {
        self.wait("to be as wanted", || Some(self.messages()).filter(|messages| accept(messages))).await
    }

    /// Waits until there are exactly `count` messages, visible or not, and gives them, the oldest first.
    ///
    /// # Errors
    /// There were more or fewer when the time was over.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn expect_messages(&self, count: usize) -> Result<Vec<PeekedMessage>, Unmet> {
        let messages = if count == 1 { "message" } else { "messages" };
        let look = || self.service.peek_if(&self.arn, |total| total == count);
        self.wait(&format!("to have {count} {messages}"), look).await
    }

    /// Waits until there are no messages any more: all that came were deleted, or grew too old.
    ///
    /// # Errors
    /// There were still some when the time was over.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn wait_until_empty(&self) -> Result<(), Unmet> {
        let look = || self.service.peek_if(&self.arn, |total| total == 0);
        self.wait("to be empty", look).await.map(drop)
    }

    /// Watches that the queue has no messages for the time of `within`, in real time as with [`within`](Self::within).
    ///
    /// # Errors
    /// There is one, or one came; this is known at once.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn expect_none(&self, within: Duration) -> Result<(), Unmet> {
        let look = || self.service.peek_if(&self.arn, |total| total > 0);
        match self.clone().within(within).wait("", look).await {
            Ok(seen) => {
                let expected = format!("expected no message in {} for {within:?}", self.name());
                Err(Unmet { expected, seen: Some(seen) })
            }
            Err(_) => Ok(()),
        }
    }

    async fn wait(
        &self,
        for_what: &str,
        look: impl FnMut() -> Option<Vec<PeekedMessage>>,
    ) -> Result<Vec<PeekedMessage>, Unmet> {
        match tokio::time::timeout(self.patience, self.service.until(&self.arn, look)).await {
            Ok(messages) => Ok(messages),
            Err(_) => Err(Unmet {
                expected: format!("waited {:?} for {} {for_what}", self.patience, self.name()),
                seen: self.service.peek(&self.arn, 0, usize::MAX),
            }),
        }
    }
}
