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

    /// Lets it be the current context for a moment: of a span that is made then, it is the parent.
    pub(crate) fn scope<T>(&self, act: impl FnOnce() -> T) -> T {
        let _guard = self.0.clone().attach();
        act()
    }

    /// Lets it be the current context while the future is polled, unless a span within has another.
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
        // No layer has made the span one of OpenTelemetry: the current one is somebody else's.
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
