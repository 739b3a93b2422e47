//! Runs a handler in a separate task, so that its panics are caught and handlers run concurrently.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;

use crate::consume::outcome::HandlerError;
use crate::panicked;
use crate::trace_context::SenderContext;

/// A handler in a separate task. Dropping it stops the handler at its next `.await`.
pub(crate) struct HandlerTask<T>(JoinHandle<Result<T, HandlerError>>);

/// Why a handler returned no outcome.
#[derive(Debug)]
pub(crate) enum Failure {
    Error(HandlerError),
    Panic(String),
}

impl<T: Send + 'static> HandlerTask<T> {
    /// Enters the span within the context. The task also calls the closure, because it may panic before it returns a
    /// future.
    pub(crate) fn spawn<R>(
        context: SenderContext,
        span: tracing::Span,
        handle: impl FnOnce() -> R + Send + 'static,
    ) -> Self
    where
        R: Future<Output = Result<T, HandlerError>> + Send,
    {
        Self(tokio::spawn(context.run(async move { handle().await }.instrument(span))))
    }
}

impl<T> HandlerTask<T> {
    /// Stops the task and waits until it has ended: a message must not be visible to others while its handler still
    /// runs. If the handler does not yield, it keeps running, and this waits until `until`. `None` unless the task
    /// ended by itself.
    pub(crate) async fn stop(&mut self, until: Instant) -> Option<Result<T, Failure>> {
        self.0.abort();
        let Ok(ended) = timeout_at(until, &mut self.0).await else {
            tracing::warn!(
                "a stopped handler still runs because it does not yield; its message becomes visible again"
            );
            return None;
        };
        Some(ended).filter(|ended| !ended.as_ref().is_err_and(JoinError::is_cancelled)).map(result)
    }
}

impl<T> Future for HandlerTask<T> {
    type Output = Result<T, Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(result)
    }
}

impl<T> Drop for HandlerTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn result<T>(ended: Result<Result<T, HandlerError>, JoinError>) -> Result<T, Failure> {
    match ended {
        Ok(returned) => returned.map_err(Failure::Error),
        Err(error) => Err(Failure::Panic(match error.try_into_panic() {
            Ok(payload) => panicked::text(&*payload),
            Err(_) => "the runtime has ended".to_owned(),
        })),
    }
}
