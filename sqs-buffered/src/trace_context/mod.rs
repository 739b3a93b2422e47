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
//! - the message would have more than 10 attributes, or more than 9 if
//!   [`max_message_bytes`](crate::Builder::max_message_bytes) exceeds 1 MiB: a client below that keeps large bodies elsewhere
//!   needs an attribute;
//! - the message would exceed `max_message_bytes`. Set that to what the queue takes, if the queue takes less than 1 MiB;
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

mod fields;
mod sender;

use opentelemetry::{Context, global};
use sqs_client::types::{Message, SendMessageBatchRequestEntry};

pub(crate) use fields::Fields;
pub(crate) use sender::{SenderContext, link};

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
pub(crate) fn extract_onto(context: &Context, fields: &Fields<'_>) -> Context {
    global::get_text_map_propagator(|propagator| propagator.extract_with_context(context, fields))
}

/// Injects the current context into a message of at most this many bytes.
pub(crate) fn inject(message: &mut SendMessageBatchRequestEntry, max_bytes: usize) {
    global::get_text_map_propagator(|propagator| {
        fields::inject(propagator, &Context::current(), message, max_bytes);
    });
}
