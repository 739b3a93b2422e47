//! The context of the sender of a message, for its handler.

use opentelemetry::context::{FutureExt as _, WithContext};
use opentelemetry::trace::TraceContextExt as _;
use opentelemetry::{Context, KeyValue};
use sqs_client::types::Message;
use tracing::Span;

use super::{Fields, extract, extract_onto};

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
