//! Without the feature `opentelemetry`, messages carry no trace context.

use sqs_client::types::{Message, SendMessageBatchRequestEntry};

pub(crate) struct SenderContext;

impl SenderContext {
    pub(crate) fn of(_: &Message) -> Self {
        Self
    }

    pub(crate) fn current() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "with the feature, it has a context")]
    pub(crate) fn scope<T>(&self, act: impl FnOnce() -> T) -> T {
        act()
    }

    #[expect(clippy::unused_self, reason = "with the feature, it has a context")]
    pub(crate) fn run<F: Future>(self, future: F) -> F {
        future
    }
}

pub(crate) fn link<'m>(_: &tracing::Span, _: impl Iterator<Item = &'m Message>) {}

pub(crate) fn inject(_: &mut SendMessageBatchRequestEntry, _: usize) {}
