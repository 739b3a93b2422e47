//! Runs the handler of a message, and catches its panics.

use std::sync::Arc;

use sqs_client::client::{Execute, OperationError as _, Unopened};
use sqs_client::types::MessageSystemAttributeName as Name;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::consume::handler::{AnyBatchHandler, AnyHandler, Failure, HandlerTask, MessageContext};
use crate::consume::observe::{Event, Observer};
use crate::consume::outcome::Outcome;
use crate::consume::pool::HandlerEnd;
use crate::consume::receive::Delivery;
use crate::consume::source::Source;
use crate::span::messaging_span;
use crate::trace_context::SenderContext;

/// The handler of a consumer.
#[derive(Clone, Debug)]
pub(crate) enum Handling {
    Each(AnyHandler),
    Batches(AnyBatchHandler),
}

/// How a handler ended.
#[derive(Debug)]
pub(super) enum Verdict {
    Outcome(Outcome),
    /// The handler returned an error or panicked. The text is that of the panic.
    Failed(Option<String>),
    /// Not started: another consumer or receiver of the client is handling the message.
    Busy,
    /// Not started: the message could not be opened.
    Unopened(Unopened, String),
    /// The handler was stopped, or still runs although it was told to stop.
    Aborted,
}

impl Verdict {
    /// The result for the adaptive concurrency.
    pub(super) fn end(&self) -> HandlerEnd {
        match self {
            Self::Busy | Self::Aborted | Self::Unopened(..) | Self::Outcome(Outcome::Retry(_)) => {
                HandlerEnd::Stopped
            }
            Self::Outcome(Outcome::Overloaded) => HandlerEnd::Overloaded,
            Self::Outcome(_) => HandlerEnd::Succeeded,
            Self::Failed(_) => HandlerEnd::Failed,
        }
    }
}

/// Opens a message under its lease. An error is the verdict about it: it could not be opened, or must not run.
pub(super) async fn open<H: Execute>(
    source: &Source<H>,
    delivery: &mut Delivery,
    observer: &Observer,
    mut stop: watch::Receiver<Option<Instant>>,
) -> Result<(), Verdict> {
    let lease = delivery.lease.clone();
    let opened = tokio::select! {
        biased;
        opened = delivery.open(source) => opened,
        () = lease.lost() => return Err(Verdict::Aborted),
        _ = stop.wait_for(Option::is_some) => return Err(Verdict::Aborted),
    };
    opened.map_err(|error| {
        observer.report(&Event::Unopened { message_id: delivery.id(), error: &error });
        Verdict::Unopened(error.unopened().unwrap_or(Unopened::Release), error.to_string())
    })
}

/// Runs a handler in a task of its own.
pub(super) async fn handle<H: Execute>(
    handler: &AnyHandler,
    source: &Source<H>,
    delivery: &mut Delivery,
    observer: &Observer,
    stop: watch::Receiver<Option<Instant>>,
) -> Verdict {
    let queue_url = &source.url;
    let Some(claim) = source.client.claims().claim(queue_url, delivery.id()) else { return Verdict::Busy };
    if let Err(verdict) = open(source, delivery, observer, stop.clone()).await {
        return verdict;
    }
    let delivery = &*delivery;
    observer.tally.started.one();
    let (began, message_id) = (Instant::now(), &**delivery.id());
    let context = MessageContext::leased(Arc::clone(&delivery.message), delivery.lease.clone());
    let handler = handler.clone();
    let sender = SenderContext::of(&delivery.message);
    let span = sender.scope(|| span(queue_url, delivery));
    let mut task = HandlerTask::spawn(sender, span, move || async move {
        // The claim ends with the task, also when the task is stopped.
        let _claim = claim;
        handler.call(context).await
    });
    let Some(ended) = ended(&mut task, stop).await else {
        observer.tally.aborted.one();
        return Verdict::Aborted;
    };
    verdict(ended, message_id, began, observer)
}

/// Waits until a handler has ended. `None` if it was stopped.
pub(super) async fn ended<T>(
    task: &mut HandlerTask<T>,
    mut stop: watch::Receiver<Option<Instant>>,
) -> Option<Result<T, Failure>> {
    let stopped = async { stop.wait_for(Option::is_some).await.ok().and_then(|until| *until) };
    tokio::select! {
        biased;
        ended = &mut *task => Some(ended),
        until = stopped => task.stop(until.unwrap_or_else(Instant::now)).await,
    }
}

/// Reports how the handler of a message ended.
pub(super) fn verdict(
    ended: Result<Outcome, Failure>,
    message_id: &str,
    began: Instant,
    observer: &Observer,
) -> Verdict {
    let verdict = match ended {
        Ok(outcome) => Verdict::Outcome(outcome),
        Err(Failure::Error(error)) => {
            observer.report(&Event::HandlerFailed { message_id, error: &*error });
            Verdict::Failed(None)
        }
        Err(Failure::Panic(text)) => {
            observer.report(&Event::HandlerPanicked { message_id, text: &text });
            Verdict::Failed(Some(text))
        }
    };
    let outcome = if let Verdict::Outcome(outcome) = &verdict { Some(outcome) } else { None };
    observer.report(&Event::Handled { message_id, outcome, elapsed: began.elapsed() });
    verdict
}

/// The span of a handler. It follows from the receive. Without OpenTelemetry, subscribers can link it to the sender by
/// the trace header of X-Ray.
fn span(queue_url: &str, delivery: &Delivery) -> tracing::Span {
    let span = messaging_span!(INFO "sqs.process", "consumer", "process", "process", queue_url,
        messaging.message.id = &**delivery.id(),
        aws.xray.trace_header = delivery.attribute(&Name::AwsTraceHeader));
    span.follows_from(&delivery.span);
    span
}
