//! Several types of messages in one queue: a handler for each.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::consume::envelope::Envelope;
use crate::consume::extract::MessageContext;
use crate::consume::handler::Handler;
use crate::consume::settle::{HandlerError, Outcome};
use crate::error::BuildError;

/// A [handler](Handler) that passes each message on to the handler of its type. The type is a message attribute, or a text in the JSON
/// body.
///
/// A message without a type, or with one that has no route, becomes a dead letter whose reason names the type and the routes. Set
/// [`unknown`](Self::unknown) or [`fallback`](Self::fallback) for something else.
///
/// ```
/// use sqs_buffered::{Consumer, Json, Router};
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     id: u64,
/// }
///
/// async fn cook(Json(order): Json<Order>) {
///     println!("order {}", order.id);
/// }
///
/// async fn cancel(Json(order): Json<Order>) {
///     println!("no order {}", order.id);
/// }
///
/// # fn example(client: sqs_client::Client, url: &str) {
/// let router = Router::by_attribute("type").route("order.created", cook).route("order.cancelled", cancel);
/// let consumer = Consumer::builder(client, url).handler(router);
/// # }
/// ```
pub struct Router<S = ()> {
    key: Key,
    routes: BTreeMap<String, AnyRoute<S>>,
    unknown: Unknown<S>,
    invalid: Option<BuildError>,
}

/// Where the type of a message is.
#[derive(Debug)]
enum Key {
    Attribute(String),
    /// RFC 6901.
    Pointer(String),
}

enum Unknown<S> {
    DeadLetter,
    Outcome(Outcome),
    Fallback(AnyRoute<S>),
}

type AnyRoute<S> = Box<dyn Route<S>>;

/// A handler of any parameters.
trait Route<S>: Send + Sync {
    fn call<'a>(
        &'a self,
        context: MessageContext,
        state: &'a S,
    ) -> BoxFuture<'a, Result<Outcome, HandlerError>>;
}

struct Typed<F, A>(F, PhantomData<fn(A)>);

impl<A, S: Sync, F: Handler<A, S>> Route<S> for Typed<F, A> {
    fn call<'a>(
        &'a self,
        context: MessageContext,
        state: &'a S,
    ) -> BoxFuture<'a, Result<Outcome, HandlerError>> {
        Box::pin(self.0.call(context, state))
    }
}

/// The parameters of a [`Router`], which takes the whole message.
#[derive(Debug)]
pub struct Routed(());

impl<S: Send + Sync + 'static> Router<S> {
    /// Reads the type from the message attribute with this name.
    pub fn by_attribute(name: impl Into<String>) -> Self {
        let name = name.into();
        let invalid = name.is_empty().then(|| BuildError::new("Router::by_attribute", "\"\"", "a name"));
        Self::new(Key::Attribute(name), invalid)
    }

    /// Reads the type from the body, which is JSON, at this pointer (RFC 6901), such as `/type` or `/detail-type`.
    pub fn by_pointer(pointer: impl Into<String>) -> Self {
        let pointer = pointer.into();
        let allowed = "a JSON pointer such as /type";
        let invalid = !pointer.starts_with('/');
        let invalid =
            invalid.then(|| BuildError::new("Router::by_pointer", format_args!("{pointer:?}"), allowed));
        Self::new(Key::Pointer(pointer), invalid)
    }

    fn new(key: Key, invalid: Option<BuildError>) -> Self {
        Self { key, routes: BTreeMap::new(), unknown: Unknown::DeadLetter, invalid }
    }

    /// Adds the handler of messages of this type. The same type twice is an error of
    /// [`build`](crate::consume::builder::ConsumerBuilder::build).
    pub fn route<A: 'static, F: Handler<A, S>>(mut self, kind: impl Into<String>, handler: F) -> Self {
        let kind = kind.into();
        self.check_inner(&handler);
        if self.routes.contains_key(&kind) {
            let error = BuildError::new("Router::route", format_args!("{kind:?}"), "each type once");
            self.invalid.get_or_insert(error);
        }
        self.routes.insert(kind, Box::new(Typed(handler, PhantomData)));
        self
    }

    /// Sets the outcome of messages that have no route.
    pub fn unknown(mut self, outcome: Outcome) -> Self {
        self.unknown = Unknown::Outcome(outcome);
        self
    }

    /// Sets the handler of messages that have no route.
    pub fn fallback<A: 'static, F: Handler<A, S>>(mut self, handler: F) -> Self {
        self.check_inner(&handler);
        self.unknown = Unknown::Fallback(Box::new(Typed(handler, PhantomData)));
        self
    }

    fn check_inner<A, F: Handler<A, S>>(&mut self, handler: &F) {
        if let Err(error) = handler.check() {
            self.invalid.get_or_insert(error);
        }
    }

    fn invalid(&self) -> Option<BuildError> {
        let no_routes = || BuildError::new("Router::route", "missing", "at least one route");
        self.invalid.clone().or_else(|| self.routes.is_empty().then(no_routes))
    }

    /// Why a message with this body has no route.
    fn reason(&self, kind: Option<&str>, body: &str) -> String {
        let known = self.routes.keys().map(|kind| format!("{kind:?}")).collect::<Vec<_>>().join(", ");
        let place = match &self.key {
            Key::Attribute(name) => format!("the message attribute {name}"),
            Key::Pointer(pointer) => format!("{pointer} in the body"),
        };
        if let Some(kind) = kind {
            return format!("no route for the type {kind:?} ({place}); routes are {known}");
        }
        let hint = self.key.hint(body);
        format!("{place} is missing or no text, or the body is not JSON; allowed are {known}{hint}")
    }
}

impl Key {
    /// Where the type is if the body is an envelope.
    fn hint(&self, body: &str) -> String {
        match (self, Envelope::of(body)) {
            (Self::Attribute(name), Some(Envelope::Sns)) => format!(
                "; the body is an SNS notification, which has the message attributes: route with \
                 Router::by_pointer(\"/MessageAttributes/{name}/Value\") to handlers of `Sns<..>`, or enable raw message delivery"
            ),
            // SNS with raw message delivery.
            (Self::Pointer(pointer), None) if pointer.starts_with("/MessageAttributes/") => {
                "; the body is no SNS notification: with raw message delivery, route with Router::by_attribute".to_owned()
            }
            (Self::Attribute(_), Some(Envelope::EventBridge)) => {
                "; the body is an event of EventBridge: route with \
                 Router::by_pointer(\"/detail-type\") to handlers of `EventBridge<..>`"
                    .to_owned()
            }
            _ => String::new(),
        }
    }

    fn of(&self, context: &MessageContext) -> Option<String> {
        match self {
            Self::Attribute(name) => {
                let attributes = context.message().message_attributes()?;
                attributes.get(name)?.string_value().map(str::to_owned)
            }
            Self::Pointer(pointer) => {
                let body: Value = serde_json::from_str(context.message().body()?).ok()?;
                body.pointer(pointer)?.as_str().map(str::to_owned)
            }
        }
    }
}

impl<S: Send + Sync + 'static> Handler<Routed, S> for Router<S> {
    async fn call(&self, context: MessageContext, state: &S) -> Result<Outcome, HandlerError> {
        if let Some(invalid) = self.invalid() {
            return Err(invalid.into());
        }
        let kind = self.key.of(&context);
        let route = kind.as_ref().and_then(|kind| self.routes.get(kind));
        match (route, &self.unknown) {
            (Some(route), _) | (None, Unknown::Fallback(route)) => route.call(context, state).await,
            (None, Unknown::Outcome(outcome)) => Ok(outcome.clone()),
            (None, Unknown::DeadLetter) => {
                let body = context.message().body().unwrap_or_default();
                Ok(Outcome::DeadLetter(self.reason(kind.as_deref(), body)))
            }
        }
    }

    fn check(&self) -> Result<(), BuildError> {
        self.invalid().map_or(Ok(()), Err)
    }
}

impl<S> fmt::Debug for Router<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let routes: Vec<_> = self.routes.keys().collect();
        f.debug_struct("Router").field("key", &self.key).field("routes", &routes).finish_non_exhaustive()
    }
}

/// A shared router is a router.
impl<S: Send + Sync + 'static> Handler<Routed, S> for Arc<Router<S>> {
    async fn call(&self, context: MessageContext, state: &S) -> Result<Outcome, HandlerError> {
        Router::call(self, context, state).await
    }

    fn check(&self) -> Result<(), BuildError> {
        Router::check(self)
    }
}

#[cfg(test)]
mod tests {
    use sqs_client::types::{Message, MessageAttributeValue};

    use super::*;

    async fn created() {}

    async fn cancelled() -> Outcome {
        Outcome::Release
    }

    async fn outcome(router: &Router, kind: Option<&str>, body: &str) -> Outcome {
        let mut message = Message::default();
        message.body = Some(body.to_owned());
        message.message_attributes =
            kind.map(|kind| [("type".to_owned(), MessageAttributeValue::string(kind))].into());
        router.call(MessageContext::new(message), &()).await.unwrap()
    }

    #[tokio::test]
    async fn message_goes_to_the_handler_of_its_type_and_others_become_dead_letters() {
        let router = Router::by_attribute("type").route("created", created).route("cancelled", cancelled);
        assert_eq!(outcome(&router, Some("created"), "").await, Outcome::Ack);
        assert_eq!(outcome(&router, Some("cancelled"), "").await, Outcome::Release);
        let Outcome::DeadLetter(reason) = outcome(&router, Some("lost"), "").await else { panic!() };
        let expected = "no route for the type \"lost\" (the message attribute type); routes are \"cancelled\", \"created\"";
        assert_eq!(reason, expected);
        let Outcome::DeadLetter(reason) = outcome(&router, None, "").await else { panic!() };
        assert!(reason.starts_with("the message attribute type is missing"), "{reason}");
        let router = router.unknown(Outcome::Ack);
        assert_eq!(outcome(&router, Some("lost"), "").await, Outcome::Ack);
        let router = router.fallback(cancelled);
        assert_eq!(outcome(&router, Some("lost"), "").await, Outcome::Release);
    }

    #[tokio::test]
    async fn reason_tells_where_the_type_of_an_enveloped_message_is() {
        let router = Router::by_attribute("type").route("created", created);
        let sns = r#"{"Type":"Notification","TopicArn":"arn","Message":"tea"}"#;
        let event = r#"{"detail-type":"created","source":"shop","detail":{}}"#;
        for (body, pointer) in [(sns, "/MessageAttributes/type/Value"), (event, "/detail-type")] {
            let Outcome::DeadLetter(reason) = outcome(&router, None, body).await else { panic!() };
            assert!(reason.contains(&format!("Router::by_pointer({pointer:?})")), "{reason}");
        }
        let raw = Router::by_pointer("/MessageAttributes/type/Value").route("created", created);
        let Outcome::DeadLetter(reason) = outcome(&raw, Some("created"), "{}").await else { panic!() };
        assert!(reason.ends_with("with raw message delivery, route with Router::by_attribute"), "{reason}");
    }

    #[tokio::test]
    async fn type_in_the_body_is_found_by_its_pointer() {
        let router = Router::by_pointer("/event/type").route("created", created);
        assert_eq!(outcome(&router, None, r#"{"event":{"type":"created"}}"#).await, Outcome::Ack);
        for body in [r#"{"event":{"type":7}}"#, "{}", "tea"] {
            let Outcome::DeadLetter(reason) = outcome(&router, None, body).await else { panic!() };
            assert_eq!(
                reason,
                "/event/type in the body is missing or no text, or the body is not JSON; allowed are \"created\""
            );
        }
    }

    #[test]
    fn invalid_routers_are_named_with_what_is_allowed() {
        let text = |router: Router| router.check().unwrap_err().to_string();
        let twice = Router::by_attribute("type").route("a", created).route("a", cancelled);
        assert_eq!(text(twice), "Router::route is \"a\", allowed is each type once");
        assert_eq!(text(Router::by_attribute("")), "Router::by_attribute is \"\", allowed is a name");
        let pointer = text(Router::by_pointer("type").route("a", created));
        assert_eq!(pointer, "Router::by_pointer is \"type\", allowed is a JSON pointer such as /type");
        let nested = Router::<()>::by_attribute("type").route("a", Router::by_pointer("b"));
        assert!(nested.check().is_err());
        let empty = text(Router::by_attribute("type"));
        assert_eq!(empty, "Router::route is missing, allowed is at least one route");
        assert_eq!(Router::<()>::by_attribute("type").route("a", created).check(), Ok(()));
    }
}
