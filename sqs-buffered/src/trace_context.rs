//! Trace context that travels with messages: from the span that sends to the handler that processes.
//!
//! Set up once, before the first message: a global propagator and, if the application uses `tracing`, the layer of
//! `tracing-opentelemetry`.
//!
//! ```ignore
//! use opentelemetry::trace::TracerProvider as _;
//! use opentelemetry_sdk::propagation::TraceContextPropagator;
//! use tracing_subscriber::layer::SubscriberExt as _;
//!
//! opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
//! let tracer = tracer_provider.tracer("orders"); // of `opentelemetry_sdk`, with an exporter
//! let layer = tracing_opentelemetry::layer().with_tracer(tracer);
//! tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))?;
//! ```
//!
//! The layer activates the OpenTelemetry context of a span when the span is entered; that is its default
//! (`with_context_activation`), and needed here. Applications without `tracing` activate contexts themselves, with
//! [`Context::attach`] or [`FutureExt::with_context`](opentelemetry::context::FutureExt::with_context).
//!
//! # Sending
//!
//! A [`BufferedClient`](crate::BufferedClient) injects the context that is current when a message is enqueued, not that of the
//! task which sends the batch later. Without a propagator, or outside of a span, messages stay as they are.
//!
//! | Field of the propagator | Where it goes |
//! |---|---|
//! | `x-amzn-trace-id` (AWS X-Ray) | the system attribute `AWSTraceHeader`, which costs neither an attribute nor size |
//! | any other: `traceparent`, `tracestate`, `baggage` | a message attribute of that name and of type `String` |
//!
//! These message attributes are injected together or not at all. None is injected if
//!
//! - the message already has one of them, for example because it is forwarded: that one stays;
//! - the message would have more than 9 attributes: SQS takes 10, and a client below that keeps large bodies elsewhere needs one;
//! - the message would exceed [`max_message_bytes`](crate::BufferedClientBuilder::max_message_bytes). Set
//!   that to what the queue takes, if the queue takes less than 1 MiB;
//! - SQS would refuse a name or value.
//!
//! If [`enqueue`](crate::BufferedClient::enqueue) returns a message with an error, the message keeps the injected
//! fields.
//!
//! # Processing
//!
//! A handler of a [`Consumer`](crate::Consumer) or of a [`LambdaHandler`](crate::LambdaHandler) runs in the context
//! that its message carries. That context is the parent of the span `sqs.process`, so the spans of the handler are in
//! the trace of the sender. A span can have only one parent: the span of a [batch handler](crate::BatchHandler) has a
//! link to the sender of each message instead. This follows OpenTelemetry's [conventions for
//! messaging](https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/). A message without context is
//! processed in the context of the consumer's run.
//!
//! Handlers that take a [`MessageContext`](crate::MessageContext), and users of a [`Receiver`](crate::Receiver), get
//! the context with the method `trace_context`. [`extract`] reads it from any message.

use std::collections::HashMap;

use opentelemetry::context::{FutureExt as _, WithContext};
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::TraceContextExt as _;
use opentelemetry::{Context, KeyValue, global};
use sqs_client::types::{
    Message, MessageAttributeValue, MessageSystemAttributeName, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, SendMessageBatchRequestEntry,
};
use sqs_client::wire::checksum::message_size;
use sqs_client::wire::limits::MAX_MESSAGE_ATTRIBUTES;
use sqs_client::wire::validate::attribute;
use tracing::Span;

/// The context that a message carries, as the global propagator reads it. Without one, an empty context.
///
/// The message must have been received with the attributes that the propagator reads, such as `traceparent`.
/// [`Receiver`](crate::Receiver) and [`Consumer`](crate::Consumer) ask for all attributes.
///
/// ```
/// use opentelemetry::trace::TraceContextExt as _;
/// use sqs_client::types::Message;
///
/// let context = sqs_buffered::trace_context::extract(&Message::default());
/// assert!(!context.span().span_context().is_valid());
/// ```
pub fn extract(message: &Message) -> Context {
    extract_onto(&Context::new(), &Fields::of_message(message))
}

/// The same, on top of `context`.
fn extract_onto(context: &Context, fields: &Fields<'_>) -> Context {
    global::get_text_map_propagator(|propagator| propagator.extract_with_context(context, fields))
}

/// The context in which a handler runs.
pub(crate) struct SenderContext(Context);

impl SenderContext {
    /// The current context, with what the message carries in place of its own.
    pub(crate) fn of(message: &Message) -> Self {
        Self(extract_onto(&Context::current(), &Fields::of_message(message)))
    }

    pub(crate) fn current() -> Self {
        Self(Context::current())
    }

    /// Runs `act` with this as the current context, which becomes the parent of spans that `act` creates.
    pub(crate) fn scope<T>(&self, act: impl FnOnce() -> T) -> T {
        let _guard = self.0.clone().attach();
        act()
    }

    /// Makes this the current context while the future is polled, unless an inner span has another one.
    pub(crate) fn run<F: Future>(self, future: F) -> WithContext<F> {
        future.with_context(self.0)
    }
}

/// Links a span to the senders of messages.
pub(crate) fn link<'m>(span: &Span, messages: impl Iterator<Item = &'m Message>) {
    let outer = Context::current().span().span_context().clone();
    span.in_scope(|| {
        let context = Context::current();
        let own = context.span();
        // Without an OpenTelemetry layer, the current context belongs to another span.
        if *own.span_context() == outer {
            return;
        }
        for message in messages {
            let sender = extract(message).span().span_context().clone();
            if sender.is_valid() {
                let id = message.message_id().unwrap_or_default().to_owned();
                own.add_link(sender, vec![KeyValue::new("messaging.message.id", id)]);
            }
        }
    });
}

/// The field of the propagator for AWS X-Ray, which SQS has a system attribute for.
const XRAY: &str = "x-amzn-trace-id";

/// The fields that a propagator reads.
struct Fields<'m>(Vec<(&'m str, &'m str)>);

impl<'m> Fields<'m> {
    fn of_message(message: &'m Message) -> Self {
        let header =
            message.attributes().and_then(|all| all.get(&MessageSystemAttributeName::AwsTraceHeader));
        let attributes = message.message_attributes().into_iter().flatten();
        let texts = attributes.filter_map(|(name, value)| Some((name.as_str(), value.string_value()?)));
        Self::new(header.map(String::as_str), texts)
    }

    /// `header` is the system attribute `AWSTraceHeader`.
    pub(crate) fn new(header: Option<&'m str>, texts: impl Iterator<Item = (&'m str, &'m str)>) -> Self {
        Self(header.map(|header| (XRAY, header)).into_iter().chain(texts).collect())
    }
}

impl Extractor for Fields<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| *value)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }
}

/// The fields that a propagator writes.
#[derive(Default)]
struct Injected {
    header: Option<String>,
    attributes: HashMap<String, MessageAttributeValue>,
}

impl Injector for Injected {
    fn set(&mut self, key: &str, value: String) {
        if value.is_empty() {
            // For example a `tracestate` without members, which SQS would refuse.
        } else if key.eq_ignore_ascii_case(XRAY) {
            self.header = Some(value);
        } else {
            self.attributes.insert(key.to_owned(), MessageAttributeValue::string(value));
        }
    }
}

/// Injects the current context into a message of at most this many bytes.
pub(crate) fn inject(message: &mut SendMessageBatchRequestEntry, max_bytes: usize) {
    global::get_text_map_propagator(|propagator| {
        inject_context(propagator, &Context::current(), message, max_bytes);
    });
}

fn inject_context(
    propagator: &dyn TextMapPropagator,
    context: &Context,
    message: &mut SendMessageBatchRequestEntry,
    max_bytes: usize,
) {
    let mut injected = Injected::default();
    propagator.inject_context(context, &mut injected);
    if let Some(header) = injected.header {
        let mut value = MessageSystemAttributeValue::default();
        value.data_type.push_str("String");
        value.string_value = Some(header);
        let system = message.message_system_attributes.get_or_insert_default();
        system.entry(MessageSystemAttributeNameForSends::AwsTraceHeader).or_insert(value);
    }
    if injected.attributes.is_empty() {
        return;
    }
    if let Some(reason) = obstacle(propagator, message, &injected.attributes, max_bytes) {
        return tracing::debug!(reason, "a message is sent without trace context");
    }
    message.message_attributes.get_or_insert_default().extend(injected.attributes);
}

/// Why a message cannot have these additional attributes.
fn obstacle(
    propagator: &dyn TextMapPropagator,
    message: &SendMessageBatchRequestEntry,
    injected: &HashMap<String, MessageAttributeValue>,
    max_bytes: usize,
) -> Option<&'static str> {
    let own = message.message_attributes.as_ref();
    let has = |field: &str| own.is_some_and(|own| own.keys().any(|name| name.eq_ignore_ascii_case(field)));
    // If the body is stored elsewhere, the client below adds one.
    let most = MAX_MESSAGE_ATTRIBUTES - 1;
    let attributes = own.map_or(0, HashMap::len) + injected.len();
    let size = message_size(&message.message_body, own) + message_size("", Some(injected));
    if propagator.fields().any(has) || injected.keys().any(|name| has(name)) {
        Some("it has some already")
    } else if attributes > most {
        Some("it would have too many attributes")
    } else if size > max_bytes {
        Some("it would be too large")
    } else if attribute::message_attributes(injected).is_err() {
        Some("SQS would refuse an attribute")
    } else {
        None
    }
}

#[cfg(test)]
#[path = "trace_context_tests.rs"]
mod tests;
