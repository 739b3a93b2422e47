//! The context of a message: its content and delivery.

use std::sync::Arc;

use sqs_client::types::{Message, MessageSystemAttributeName as Name};
use tokio::time::Instant;

use super::attempt::Attempt;
use crate::consume::lease::Lease;
use crate::consume::outcome::HandlerError;

/// A message and its delivery. [Extractors](crate::FromMessage) read from it.
///
/// ```
/// use sqs_buffered::{FromMessage, HandlerError, MessageContext};
/// use sqs_client::types::Message;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), HandlerError> {
/// // In a unit test of a handler or extractor.
/// let mut message = Message::default();
/// message.body = Some("tea".to_owned());
/// let body = String::from_message(&MessageContext::new(message), &()).await?;
/// assert_eq!(body, "tea");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MessageContext {
    message: Arc<Message>,
    lease: Option<Lease>,
    deadline: Option<Instant>,
    attempt: Option<Attempt>,
}

impl MessageContext {
    /// A message without a lease and without a deadline.
    pub fn new(message: impl Into<Arc<Message>>) -> Self {
        Self { message: message.into(), lease: None, deadline: None, attempt: None }
    }

    /// Sets the time at which the handler must have ended. A lease takes precedence.
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Sets the attempt that handlers can take as a parameter.
    pub fn with_attempt(self, attempt: Attempt) -> Self {
        Self { attempt: Some(attempt), ..self }
    }

    pub(crate) fn leased(message: Arc<Message>, lease: Lease) -> Self {
        Self { lease: Some(lease), ..Self::new(message) }
    }

    /// The message, with all its attributes.
    pub fn message(&self) -> &Arc<Message> {
        &self.message
    }

    /// The lease of the message. `None` in AWS Lambda, which keeps the message hidden itself.
    pub fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// The attempt, within [`Idempotent`](crate::Idempotent).
    pub fn attempt(&self) -> Option<&Attempt> {
        self.attempt.as_ref()
    }

    /// When the current lease ends; renewals extend it. In AWS Lambda, when the invocation ends. `None` if the lease is lost,
    /// or if there is neither a lease nor a deadline.
    pub fn deadline(&self) -> Option<Instant> {
        self.lease.as_ref().map_or(self.deadline, Lease::deadline)
    }

    /// The message group id and the deduplication id, as a [key](crate::Idempotent::key) of [`Idempotent`](crate::Idempotent) on
    /// FIFO queues. SQS forgets deduplication ids after five minutes; the store remembers them. With content-based
    /// deduplication, the same body a day later has the same key. So do equal ids in two queues that share a store.
    ///
    /// ```
    /// use sqs_buffered::{Idempotent, MemoryStore, MessageContext};
    ///
    /// async fn charge(body: String) {
    ///     println!("{body}");
    /// }
    ///
    /// let handler = Idempotent::new(charge, MemoryStore::default()).key(MessageContext::deduplication_key);
    /// ```
    ///
    /// # Errors
    /// The message has no deduplication id: the queue is a standard queue.
    pub fn deduplication_key(&self) -> Result<String, HandlerError> {
        let id =
            self.attribute(&Name::MessageDeduplicationId).ok_or("the message has no deduplication id")?;
        // With deduplication per group, one id in two groups means two messages. No id contains a space.
        let group = self.attribute(&Name::MessageGroupId).unwrap_or_default();
        Ok(format!("{group} {id}"))
    }

    /// The trace context that the message carries. The handler runs in it already, unless it is a
    /// [batch handler](crate::BatchHandler). See [`trace_context`](crate::trace_context).
    #[cfg(feature = "opentelemetry")]
    pub fn trace_context(&self) -> opentelemetry::Context {
        crate::trace_context::extract(&self.message)
    }

    /// The value of a system attribute.
    pub fn attribute(&self, name: &Name) -> Option<&str> {
        self.message.attributes()?.get(name).map(String::as_str)
    }
}
