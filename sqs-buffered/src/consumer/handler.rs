//! Running the handler, whatever it does.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use sqs_client::types::{Message, MessageSystemAttributeName as Name};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;
use tracing::Instrument as _;

use super::busy::Busy;
use super::outcome::{HandlerError, Outcome};
use crate::lease::Lease;
use crate::panicked;
use crate::receive::{Delivery, Event, Monitor};
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
    /// It was stopped.
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
        (busy, queue_url): (&Arc<Busy>, &Arc<str>),
        delivery: &Delivery,
        monitor: &Monitor,
        mut abort: watch::Receiver<bool>,
    ) -> Verdict {
        let Some(turn) = busy.enter(queue_url, delivery.id()) else { return Verdict::Busy };
        monitor.tally.started.one();
        let (began, message_id) = (Instant::now(), &**delivery.id());
        let handler = self.clone();
        let (message, lease) = (Arc::clone(&delivery.message), delivery.lease.clone());
        // The closure is called within the task too: it may panic before it returns a future.
        let handling = async move {
            // Also when it is stopped, its turn ends with the task.
            let _turn = turn;
            (handler.0)(message, lease).await
        };
        let mut task = Task(tokio::spawn(handling.instrument(span(queue_url, delivery))));
        let result = tokio::select! {
            biased;
            result = &mut task => result,
            _ = abort.wait_for(|abort| *abort) => {
                monitor.tally.aborted.one();
                return Verdict::Aborted;
            }
        };
        let verdict = match result {
            Ok(Ok(outcome)) => Verdict::Outcome(outcome),
            Ok(Err(error)) => {
                monitor.tell(&Event::HandlerFailed { message_id, error: &*error });
                Verdict::Failed(None)
            }
            Err(error) => {
                let text = panic_text(error);
                monitor.tell(&Event::HandlerPanicked { message_id, text: &text });
                Verdict::Failed(Some(text))
            }
        };
        let outcome = if let Verdict::Outcome(outcome) = &verdict { Some(outcome) } else { None };
        monitor.tell(&Event::Handled { message_id, outcome, elapsed: began.elapsed() });
        verdict
    }
}

/// A task that is stopped when nobody waits for it any more.
struct Task<T>(JoinHandle<T>);

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
