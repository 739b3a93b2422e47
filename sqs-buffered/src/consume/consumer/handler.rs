//! Running the handler, whatever it does.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use sqs_client::types::{Message, MessageSystemAttributeName as Name};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;

use crate::claims::Claims;
use crate::consume::lease::Lease;
use crate::consume::observe::{Event, Observer};
use crate::consume::outcome::{HandlerError, Outcome};
use crate::consume::receive::Delivery;
use crate::panicked;
use crate::span::messaging_span;

type Handling = Pin<Box<dyn Future<Output = Result<Outcome, HandlerError>> + Send>>;

/// What the user gave to handle messages with.
#[derive(Clone)]
pub(crate) struct Handler(Arc<dyn Fn(Arc<Message>, Lease) -> Handling + Send + Sync>);

/// How a handler ended.
#[derive(Debug)]
pub(super) enum Verdict {
    Outcome(Outcome),
    /// It returned an error or panicked; the text is that of a panic.
    Failed(Option<String>),
    /// It was not started: somebody else who uses the same client is handling the message.
    Busy,
    /// It was stopped, or it still runs although it was told to stop.
    Aborted,
}

impl Handler {
    pub(crate) fn new<F, R>(handler: F) -> Self
    where
        F: Fn(Arc<Message>, Lease) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Outcome, HandlerError>> + Send + 'static,
    {
        Self(Arc::new(move |message, lease| Box::pin(handler(message, lease))))
    }

    /// Runs it in a task of its own, which contains its panics and lets handlers run side by side.
    pub(super) async fn run(
        &self,
        (claims, queue_url): (&Arc<Claims>, &Arc<str>),
        delivery: &Delivery,
        observer: &Observer,
        mut stop: watch::Receiver<Option<Instant>>,
    ) -> Verdict {
        let Some(claim) = claims.claim(queue_url, delivery.id()) else { return Verdict::Busy };
        observer.tally.started.one();
        let (began, message_id) = (Instant::now(), &**delivery.id());
        let handler = self.clone();
        let (message, lease) = (Arc::clone(&delivery.message), delivery.lease.clone());
        // The closure is called within the task too: it may panic before it returns a future.
        let handling = async move {
            // The claim ends with the task, also when the task is stopped.
            let _claim = claim;
            (handler.0)(message, lease).await
        };
        let mut task = Task(tokio::spawn(handling.instrument(span(queue_url, delivery))));
        let stopped = async { stop.wait_for(Option::is_some).await.ok().and_then(|until| *until) };
        let ended = tokio::select! {
            biased;
            ended = &mut task => Some(ended),
            until = stopped => task.stop(until.unwrap_or_else(Instant::now)).await,
        };
        let Some(ended) = ended else {
            observer.tally.aborted.one();
            return Verdict::Aborted;
        };
        let verdict = match ended {
            Ok(Ok(outcome)) => Verdict::Outcome(outcome),
            Ok(Err(error)) => {
                observer.report(&Event::HandlerFailed { message_id, error: &*error });
                Verdict::Failed(None)
            }
            Err(error) => {
                let text = panic_text(error);
                observer.report(&Event::HandlerPanicked { message_id, text: &text });
                Verdict::Failed(Some(text))
            }
        };
        let outcome = if let Verdict::Outcome(outcome) = &verdict { Some(outcome) } else { None };
        observer.report(&Event::Handled { message_id, outcome, elapsed: began.elapsed() });
        verdict
    }
}

/// A task that is stopped when this is dropped.
struct Task<T>(JoinHandle<T>);

impl<T> Task<T> {
    /// Stops the task and waits until it has ended: a message must not be visible to others while its handler still runs.
    /// A handler that does not yield keeps running; it is waited for until then. `None` unless the task ended by itself.
    async fn stop(&mut self, until: Instant) -> Option<Result<T, JoinError>> {
        self.0.abort();
        let Ok(ended) = timeout_at(until, &mut *self).await else {
            tracing::warn!("a stopped handler still runs: it does not yield; its message is given back");
            return None;
        };
        Some(ended).filter(|ended| !ended.as_ref().is_err_and(JoinError::is_cancelled))
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn panic_text(error: JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else { return "the runtime has ended".to_owned() };
    panicked::text(&*payload)
}

/// It follows from the receive. The trace of the sender, as X-Ray writes it, is for subscribers that can link to it.
fn span(queue_url: &str, delivery: &Delivery) -> tracing::Span {
    let span = messaging_span!(INFO "sqs.process", "consumer", "process", "process", queue_url,
        messaging.message.id = &**delivery.id(),
        aws.xray.trace_header = delivery.attribute(&Name::AwsTraceHeader));
    span.follows_from(&delivery.span);
    span
}
