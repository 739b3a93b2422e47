//! Waits for the state of a queue.

use std::fmt;
use std::time::Duration;

use super::messages::Messages;
use super::queue::QueueView;
use crate::sqs::engine::PeekedMessage;

/// A wait that timed out, or an unexpected message. `Display` and `Debug` list the messages in the queue.
#[derive(Clone)]
pub struct Unmet {
    expected: String,
    seen: Option<Vec<PeekedMessage>>,
}

impl Unmet {
    /// The messages in the queue at the end of the wait, oldest first.
    pub fn messages(&self) -> &[PeekedMessage] {
        self.seen.as_deref().unwrap_or_default()
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.seen {
            None => write!(f, "{}; the queue does not exist", self.expected),
            Some(seen) => write!(f, "{}; it has {}:\n{}", self.expected, seen.len(), Messages(seen)),
        }
    }
}

/// The same as `Display`, so that `unwrap` shows the messages.
impl fmt::Debug for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Unmet {}

impl QueueView<'_> {
    /// Sets the time limit of waits, 5 seconds by default. It is measured in real time, whatever the clock of the
    /// server does. Under tokio's paused clock, a wait that times out takes no real time.
    pub fn within(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Waits until `accept` returns true for the messages of the queue, visible or not and oldest first, and returns
    /// them. Calls `accept` at first, and after each change of the queue or its messages. A queue that does not exist
    /// yet has no messages. Of more than 1,000 messages, some may show as before a change and others as after it, as
    /// with [`messages`](Self::messages).
    ///
    /// # Errors
    /// The wait timed out.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait_for(
        &self,
        accept: impl Fn(&[PeekedMessage]) -> bool,
    ) -> Result<Vec<PeekedMessage>, Unmet> {
        self.wait("to meet the condition", || Some(self.messages()).filter(|messages| accept(messages))).await
    }

    /// Waits until the queue has exactly `count` messages, visible or not, and returns them, oldest first.
    ///
    /// # Errors
    /// The number differed when the wait timed out.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn expect_messages(&self, count: usize) -> Result<Vec<PeekedMessage>, Unmet> {
        let messages = if count == 1 { "message" } else { "messages" };
        let look = || self.service.peek_if(&self.arn, |total| total == count);
        self.wait(&format!("to have {count} {messages}"), look).await
    }

    /// Waits until the queue has no messages: all were deleted, moved or have expired.
    ///
    /// # Errors
    /// There were still messages when the wait timed out.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait_until_empty(&self) -> Result<(), Unmet> {
        let look = || self.service.peek_if(&self.arn, |total| total == 0);
        self.wait("to be empty", look).await.map(drop)
    }

    /// Checks that the queue has no messages during `within`, in real time as with [`within`](Self::within).
    ///
    /// # Errors
    /// The queue has a message, or gets one. Returns immediately then.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
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
        condition: &str,
        look: impl FnMut() -> Option<Vec<PeekedMessage>>,
    ) -> Result<Vec<PeekedMessage>, Unmet> {
        match tokio::time::timeout(self.timeout, self.service.until(&self.arn, look)).await {
            Ok(messages) => Ok(messages),
            Err(_) => Err(Unmet {
                expected: format!("waited {:?} for {} {condition}", self.timeout, self.name()),
                seen: self.service.peek(&self.arn, 0, usize::MAX),
            }),
        }
    }
}
