//! What a handler may take: the context of its message, and the types that are extracted from it.

use std::any::type_name;
use std::collections::HashMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use sqs_client::types::{Message, MessageAttributeValue, MessageSystemAttributeName as Name};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::consume::envelope::{InvalidBody, found};
use crate::consume::handler::Attempt;
use crate::consume::settle::HandlerError;
use crate::receive::delivery::{Claim, Delivery};
use crate::receive::lease::Lease;

/// A message and its delivery. [Extractors](FromMessage) read from it.
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
    /// How many times the handler has failed since the message was received.
    failures: u32,
    cancellation: CancellationToken,
    /// Keeps other consumers of the client from handling the message.
    claim: Option<Arc<Claim>>,
}

impl MessageContext {
    /// A message without a lease and without a deadline.
    pub fn new(message: impl Into<Arc<Message>>) -> Self {
        Self {
            message: message.into(),
            lease: None,
            deadline: None,
            attempt: None,
            failures: 0,
            cancellation: CancellationToken::new(),
            claim: None,
        }
    }

    /// Sets the time at which the handler must have ended. A lease takes precedence.
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Sets the attempt that handlers can take as a parameter.
    pub(crate) fn with_attempt(self, attempt: Attempt) -> Self {
        Self { attempt: Some(attempt), ..self }
    }

    pub(crate) fn of(delivery: &Delivery, cancellation: CancellationToken) -> Self {
        let (lease, failures) = (Some(delivery.lease.clone()), delivery.failures);
        Self { lease, failures, cancellation, ..Self::new(Arc::clone(&delivery.message)) }
    }

    /// Keeps the message claimed until this context and its clones are dropped.
    pub(crate) fn with_claim(self, claim: Arc<Claim>) -> Self {
        Self { claim: Some(claim), ..self }
    }

    /// What keeps the message claimed.
    pub(crate) fn claim(&self) -> Option<Arc<Claim>> {
        self.claim.clone()
    }

    /// The same delivery of what an envelope contains.
    pub(crate) fn with_content(
        &self,
        body: String,
        attributes: Option<HashMap<String, MessageAttributeValue>>,
    ) -> Self {
        let mut message = Message::clone(&self.message);
        (message.body, message.message_attributes) = (Some(body), attributes);
        Self { message: message.into(), ..self.clone() }
    }

    /// The message, with all its attributes.
    pub fn message(&self) -> &Arc<Message> {
        &self.message
    }

    /// The lease of the message. `None` in AWS Lambda, which keeps the message hidden itself.
    pub fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// Is cancelled when the handler should end: a tenth of the [`handler_timeout`](crate::consume::builder::ConsumerBuilder::handler_timeout)
    /// before it is over, when the lease is lost, and when the consumer shuts down. In AWS Lambda, it is never cancelled.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// The attempt, within [`Idempotent`](crate::consume::idempotent::Idempotent).
    pub fn attempt(&self) -> Option<&Attempt> {
        self.attempt.as_ref()
    }

    /// When the current lease ends; renewals extend it. In AWS Lambda, when the invocation ends. `None` if the lease is lost,
    /// or if there is neither a lease nor a deadline.
    pub fn deadline(&self) -> Option<Instant> {
        self.lease.as_ref().map_or(self.deadline, Lease::deadline)
    }

    /// The message group id and the deduplication id, as a [key](crate::consume::idempotent::Idempotent::key) of [`Idempotent`](crate::consume::idempotent::Idempotent) on
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
    /// [batch handler](crate::consume::batch::BatchHandler). See [`trace_context`](crate::trace_context).
    #[cfg(feature = "opentelemetry")]
    pub fn trace_context(&self) -> opentelemetry::Context {
        crate::trace_context::extract(&self.message)
    }

    /// The value of a system attribute.
    pub fn attribute(&self, name: &Name) -> Option<&str> {
        self.message.attributes()?.get(name).map(String::as_str)
    }
}

/// A type that a [handler](crate::consume::handler::Handler) may have as a parameter. `S` is the state of the handler.
///
/// | Parameter | Value |
/// |---|---|
/// | [`Json<T>`](Json) | the body, deserialized |
/// | `String` | the body |
/// | [`Sns<T>`](crate::consume::envelope::Sns), [`EventBridge<T>`](crate::consume::envelope::EventBridge) | what is in the envelope, read by the extractor `T` |
/// | [`S3Event`](crate::consume::envelope::S3Event) | what happened to objects of a bucket |
/// | [`State<T>`] | a clone of the state, or of a part of it |
/// | `Arc<Message>` | the message with all its attributes |
/// | [`MessageAttributes`] | the message attributes; empty if there are none |
/// | [`GroupId`], `Option<GroupId>` | the message group id |
/// | [`ReceiveCount`] | how often the message was received or run again, including this time |
/// | [`Lease`], `Option<Lease>` | the lease; there is none in AWS Lambda |
/// | [`CancellationToken`] | is cancelled when the handler should end |
/// | [`Attempt`] | the attempt, within [`Idempotent`](crate::consume::idempotent::Idempotent) |
/// | [`MessageContext`] | all of the above |
/// | `(A, B)` | both; useful in [batch handlers](crate::consume::batch::BatchHandler) |
///
/// An error fails the handler: the message is delivered again after the [back-off](crate::receive::back_off::BackOff), until the redrive policy of
/// the queue moves it to the dead-letter queue.
///
/// Implement it for parameters of your own:
///
/// ```
/// use sqs_buffered::{FromMessage, HandlerError, MessageContext};
///
/// struct Tenant(String);
///
/// impl<S: Sync> FromMessage<S> for Tenant {
///     async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
///         let attributes = context.message().message_attributes();
///         let tenant = attributes.and_then(|all| all.get("tenant")?.string_value());
///         Ok(Self(tenant.ok_or("the message attribute `tenant` is missing")?.to_owned()))
///     }
/// }
///
/// async fn bill(Tenant(tenant): Tenant, body: String) {
///     println!("{tenant}: {body}");
/// }
/// # let _ = bill;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a message handler with the state `{S}`",
    label = "not an extractor",
    note = "parameters are `Json<T>`, `String`, `State<T>`, `Arc<Message>`, `Lease` and other types that implement \
            `FromMessage`",
    note = "`State<T>` needs `.state(value)` before `.handler(..)`, with a value of type `T`"
)]
pub trait FromMessage<S>: Sized + Send {
    /// Reads the parameter from a message.
    ///
    /// # Errors
    /// The message lacks the value, or the value is invalid.
    fn from_message(
        context: &MessageContext,
        state: &S,
    ) -> impl Future<Output = Result<Self, HandlerError>> + Send;
}

/// A part of the state that a handler can take as [`State`]. Each type is a part of itself.
///
/// ```
/// use sqs_buffered::{FromRef, State};
///
/// #[derive(Clone)]
/// struct Pool;
///
/// #[derive(Clone)]
/// struct App {
///     pool: Pool,
/// }
///
/// impl FromRef<App> for Pool {
///     fn from_ref(app: &App) -> Self {
///         app.pool.clone()
///     }
/// }
///
/// async fn store(body: String, State(pool): State<Pool>) {}
/// # let _ = store;
/// ```
pub trait FromRef<S> {
    /// Clones the part.
    fn from_ref(state: &S) -> Self;
}

impl<T: Clone> FromRef<T> for T {
    fn from_ref(state: &T) -> Self {
        state.clone()
    }
}

/// A clone of the value that [`ConsumerBuilder::state`](crate::consume::builder::ConsumerBuilder::state) sets, or of a
/// [part](FromRef) of it. Put values that are expensive to clone behind an `Arc`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct State<T>(pub T);

impl<S: Sync, T: FromRef<S> + Send> FromMessage<S> for State<T> {
    async fn from_message(_: &MessageContext, state: &S) -> Result<Self, HandlerError> {
        Ok(Self(T::from_ref(state)))
    }
}

/// The message attributes by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageAttributes(pub HashMap<String, MessageAttributeValue>);

impl<S: Sync> FromMessage<S> for MessageAttributes {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        Ok(Self(context.message().message_attributes().cloned().unwrap_or_default()))
    }
}

/// The message group id. All messages of FIFO queues have one; messages of standard queues can have one.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct GroupId(pub String);

impl<S: Sync> FromMessage<S> for Option<GroupId> {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        Ok(context.attribute(&Name::MessageGroupId).map(|id| GroupId(id.to_owned())))
    }
}

impl<S: Sync> FromMessage<S> for GroupId {
    async fn from_message(context: &MessageContext, state: &S) -> Result<Self, HandlerError> {
        let id = Option::<Self>::from_message(context, state).await?;
        id.ok_or_else(|| "the message has no message group id".into())
    }
}

/// How often the message was handled or received, including this time, at least 1: its `ApproximateReceiveCount`, and how often its
/// handler has failed since then, if it [runs again in place](crate::consume::settle::Poison::InPlace).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ReceiveCount(pub u32);

impl<S: Sync> FromMessage<S> for ReceiveCount {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        let count = context.attribute(&Name::ApproximateReceiveCount).and_then(|count| count.parse().ok());
        Ok(Self(count.unwrap_or(1_u32).saturating_add(context.failures)))
    }
}

/// Extracts both values.
impl<S: Sync, A: FromMessage<S>, B: FromMessage<S>> FromMessage<S> for (A, B) {
    async fn from_message(context: &MessageContext, state: &S) -> Result<Self, HandlerError> {
        Ok((A::from_message(context, state).await?, B::from_message(context, state).await?))
    }
}

impl<S: Sync> FromMessage<S> for String {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        context.message().body().map(Self::from).ok_or_else(|| "the message has no body".into())
    }
}

impl<S: Sync> FromMessage<S> for Arc<Message> {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        Ok(Self::clone(context.message()))
    }
}

impl<S: Sync> FromMessage<S> for MessageContext {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        // The handler may keep it for longer than it runs.
        Ok(Self { claim: None, ..context.clone() })
    }
}

impl<S: Sync> FromMessage<S> for Option<Lease> {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        Ok(context.lease().cloned())
    }
}

impl<S: Sync> FromMessage<S> for Lease {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        let lease = context.lease().cloned();
        lease.ok_or_else(|| "there is no lease outside of a consumer; use `Option<Lease>`".into())
    }
}

impl<S: Sync> FromMessage<S> for CancellationToken {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        Ok(context.cancellation.clone())
    }
}

impl<S: Sync> FromMessage<S> for Attempt {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        let attempt = context.attempt().cloned();
        attempt.ok_or_else(|| "there is no attempt; wrap the handler in `Idempotent`".into())
    }
}

/// The body of a message, deserialized from JSON.
///
/// If the body is not valid JSON for `T`, the handler fails with an error such as
/// ``the JSON of the body does not fit Order: missing field `id` at line 1 column 2``. If the body is an envelope of SNS, EventBridge or S3, the error
/// says so.
///
/// ```
/// use sqs_buffered::Json;
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     id: u64,
/// }
///
/// async fn cook(Json(order): Json<Order>) {
///     println!("order {}", order.id);
/// }
/// # let _ = cook;
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Json<T>(pub T);

impl<S: Sync, T: DeserializeOwned + Send> FromMessage<S> for Json<T> {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        let body = context.message().body().ok_or("the message has no body")?;
        let value = serde_json::from_str(body);
        value.map(Self).map_err(|error| {
            let name = without_paths(type_name::<T>());
            let problem = if error.is_data() {
                "the JSON of the body does not fit"
            } else {
                "the body is not JSON for"
            };
            InvalidBody(format!("{problem} {name}: {error}{}", found(body))).into()
        })
    }
}

/// Removes module paths from a type name: `Vec<Order>` for `alloc::vec::Vec<shop::Order>`.
fn without_paths(name: &str) -> String {
    let parts = name.split_inclusive(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | ':'));
    parts.map(|part| part.rsplit_once("::").map_or(part, |(_, last)| last)).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use sqs_client::types::Message;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Order {
        x: u32,
    }

    async fn read<T: DeserializeOwned + Send>(body: Option<&str>) -> Result<T, String> {
        let mut message = Message::default();
        message.body = body.map(str::to_owned);
        let read = Json::from_message(&MessageContext::new(message), &()).await;
        read.map(|Json(value)| value).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn error_of_invalid_json_names_the_type_and_the_position() {
        assert_eq!(read(Some(r#"{"x":7}"#)).await, Ok(Order { x: 7 }));
        let text = read::<Order>(Some("{}")).await.unwrap_err();
        assert_eq!(text, "the JSON of the body does not fit Order: missing field `x` at line 1 column 2");
        let text = read::<Vec<Order>>(Some("tea")).await.unwrap_err();
        assert_eq!(text, "the body is not JSON for Vec<Order>: expected ident at line 1 column 2");
        assert_eq!(read::<Order>(None).await.unwrap_err(), "the message has no body");
        // serde_json limits its recursion. This body is as deep as its size allows.
        let deep = "[".repeat(1_000_000);
        assert!(read::<serde_json::Value>(Some(&deep)).await.unwrap_err().contains("recursion limit"));
    }

    #[test]
    fn type_names_are_shown_without_paths() {
        let name = "core::result::Result<alloc::vec::Vec<a::b_c::Order<'_>>, (u8, &x::Y)>";
        assert_eq!(without_paths(name), "Result<Vec<Order<'_>>, (u8, &Y)>");
    }
}
