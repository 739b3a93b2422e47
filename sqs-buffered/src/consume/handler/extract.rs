//! Extractors: the types that a handler may have as parameters.

use std::collections::HashMap;
use std::sync::Arc;

use sqs_client::types::{Message, MessageAttributeValue, MessageSystemAttributeName as Name};

use super::attempt::Attempt;
use super::context::MessageContext;
use crate::consume::lease::Lease;
use crate::consume::outcome::HandlerError;

/// A type that a [handler](crate::Handler) may have as a parameter. `S` is the state of the handler.
///
/// | Parameter | Value |
/// |---|---|
/// | [`Json<T>`](crate::Json) | the body, deserialized |
/// | `String` | the body |
/// | [`State<T>`] | a clone of the state, or of a part of it |
/// | `Arc<Message>` | the message with all its attributes |
/// | [`MessageAttributes`] | the message attributes; empty if there are none |
/// | [`GroupId`], `Option<GroupId>` | the message group id |
/// | [`ReceiveCount`] | how often the message was received, including this time |
/// | [`Lease`], `Option<Lease>` | the lease; there is none in AWS Lambda |
/// | [`Attempt`] | the attempt, within [`Idempotent`](crate::Idempotent) |
/// | [`MessageContext`] | all of the above |
/// | `(A, B)` | both; useful in [batch handlers](crate::BatchHandler) |
///
/// An error fails the handler: the message is delivered again after the [back-off](crate::BackOff), until the redrive policy of
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

/// A clone of the value that [`ConsumerBuilder::state`](crate::ConsumerBuilder::state) sets, or of a
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

/// How often SQS has delivered the message, including this time: its `ApproximateReceiveCount`, at least 1.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ReceiveCount(pub u32);

impl<S: Sync> FromMessage<S> for ReceiveCount {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        let count = context.attribute(&Name::ApproximateReceiveCount).and_then(|count| count.parse().ok());
        Ok(Self(count.unwrap_or(1)))
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
        Ok(context.clone())
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

impl<S: Sync> FromMessage<S> for Attempt {
    async fn from_message(context: &MessageContext, _: &S) -> Result<Self, HandlerError> {
        let attempt = context.attempt().cloned();
        attempt.ok_or_else(|| "there is no attempt; wrap the handler in `Idempotent`".into())
    }
}
