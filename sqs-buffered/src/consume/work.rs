//! Runs the handler of a message, or of a batch: claim, open, call, verdict.

use std::collections::HashMap;
use std::iter::repeat_with;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use sqs_client::client::{Execute, Unopened};
use sqs_client::types::MessageSystemAttributeName as Name;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::consume::adaptive::HandlerEnd;
use crate::consume::batch::{AnyBatchHandler, Behind};
use crate::consume::consumer::Shared;
use crate::consume::extract::MessageContext;
use crate::consume::handler::{AnyHandler, Failure, HandlerTask};
use crate::consume::lines::{Arrived, Key};
use crate::consume::settle::{HandlerError, Outcome};
use crate::observe::receives::{Event, Observer};
use crate::receive::delivery::{Claim, Delivery};
use crate::receive::opening::NotOpened;
use crate::span::messaging_span;
use crate::trace_context::{SenderContext, link};

/// The handler of a consumer.
#[derive(Clone, Debug)]
pub(crate) enum Handling {
    Each(AnyHandler),
    Batches(AnyBatchHandler),
}

/// How a handler ended.
#[derive(Debug)]
pub(crate) enum Verdict {
    Outcome(Outcome),
    /// The handler returned an error or panicked.
    Failed {
        reason: String,
        panic: Option<String>,
    },
    /// Not started: another consumer or receiver of the client is handling the message.
    Busy,
    /// Not started: the message could not be opened.
    Unopened(Unopened, String),
    /// Not run: in its batch, an earlier message of its group did not run.
    Behind,
    /// The handler was stopped, or still runs although it was told to stop.
    Aborted,
}

impl Verdict {
    /// The result for the adaptive concurrency.
    pub(crate) fn end(&self) -> HandlerEnd {
        match self {
            Self::Busy
            | Self::Behind
            | Self::Aborted
            | Self::Unopened(..)
            | Self::Outcome(Outcome::Retry(_)) => HandlerEnd::Stopped,
            Self::Outcome(Outcome::Overloaded) => HandlerEnd::Overloaded,
            Self::Outcome(_) => HandlerEnd::Succeeded,
            Self::Failed { .. } => HandlerEnd::Failed,
        }
    }
}

/// Opens a message under its lease. An error is the verdict about it: it could not be opened, or must not run.
async fn open<H: Execute>(
    shared: &Shared<H>,
    delivery: &mut Delivery,
    mut stop: watch::Receiver<Option<Instant>>,
) -> Result<(), Verdict> {
    let opened = tokio::select! {
        biased;
        opened = shared.opener.open(&shared.source, &shared.observer, delivery) => opened,
        _ = stop.wait_for(Option::is_some) => return Err(Verdict::Aborted),
    };
    opened.map_err(|failure| match failure {
        NotOpened::Failed(policy, reason) => Verdict::Unopened(policy, reason),
        NotOpened::LeaseEnds => Verdict::Aborted,
    })
}

/// Runs a handler in a task of its own. Returns how it ended, and how long it ran.
pub(crate) async fn handle<H: Execute>(
    handler: &AnyHandler,
    shared: &Shared<H>,
    delivery: &mut Delivery,
    stop: watch::Receiver<Option<Instant>>,
) -> (Verdict, Duration) {
    let (source, observer) = (&shared.source, &*shared.observer);
    let queue_url = &source.url;
    let Some(claim) = source.client.claims().claim(queue_url, delivery.id()) else {
        return (Verdict::Busy, Duration::ZERO);
    };
    if let Err(verdict) = open(shared, delivery, stop.clone()).await {
        return (verdict, Duration::ZERO);
    }
    let delivery = &*delivery;
    observer.tally.started.one();
    let (began, message_id) = (Instant::now(), &**delivery.id());
    let context = MessageContext::of(delivery);
    let handler = handler.clone();
    let sender = SenderContext::of(&delivery.message);
    let span = sender.scope(|| handler_span(queue_url, delivery));
    let mut task = HandlerTask::spawn(sender, span, move || async move {
        // The claim ends with the task, also when the task is stopped.
        let _claim = claim;
        handler.call(context).await
    });
    let Some(ended) = ended(&mut task, stop).await else {
        observer.tally.aborted.one();
        return (Verdict::Aborted, began.elapsed());
    };
    (verdict(ended, message_id, began, observer), began.elapsed())
}

/// Waits until a handler has ended. `None` if it was stopped.
async fn ended<T>(
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
fn verdict(
    ended: Result<Outcome, Failure>,
    message_id: &str,
    began: Instant,
    observer: &Observer,
) -> Verdict {
    let verdict = match ended {
        Ok(outcome) => Verdict::Outcome(outcome),
        Err(Failure::Error(error)) if error.is::<Behind>() => return Verdict::Behind,
        Err(Failure::Error(error)) => {
            observer.report(&Event::HandlerFailed { message_id, error: &*error });
            Verdict::Failed { reason: error.to_string(), panic: None }
        }
        Err(Failure::Panic(text)) => {
            observer.report(&Event::HandlerPanicked { message_id, text: &text });
            Verdict::Failed { reason: format!("the handler panicked: {text}"), panic: Some(text) }
        }
    };
    let outcome = if let Verdict::Outcome(outcome) = &verdict { Some(outcome) } else { None };
    observer.report(&Event::Handled { message_id, outcome, elapsed: began.elapsed() });
    verdict
}

/// The span of a handler. It follows from the receive. Without OpenTelemetry, subscribers can link it to the sender by
/// the trace header of X-Ray.
fn handler_span(queue_url: &str, delivery: &Delivery) -> tracing::Span {
    let span = messaging_span!(INFO "sqs.process", "consumer", "process", "process", queue_url,
        messaging.message.id = &**delivery.id(),
        aws.xray.trace_header = delivery.attribute(&Name::AwsTraceHeader));
    span.follows_from(&delivery.span);
    span
}

/// The messages of a batch by their lines, each in order.
pub(crate) type ByLine<T> = Vec<(Key, Vec<T>)>;

/// Runs a batch handler in its own task. If a message cannot be opened, or another consumer or receiver is handling it, that
/// message and the later ones of its line do not run.
pub(crate) async fn handle_batch<H: Execute>(
    handler: &AnyBatchHandler,
    shared: &Shared<H>,
    mut lines: ByLine<Arrived<Delivery>>,
    stop: watch::Receiver<Option<Instant>>,
) -> (ByLine<(Arrived<Delivery>, Verdict)>, Duration) {
    let (source, observer) = (&shared.source, &*shared.observer);
    let (claims, queue_url) = (source.client.claims(), &source.url);
    // Of each line, up to the first message that another consumer handles. A message is claimed before it is opened: its payload may be
    // deleted by the one that handles it.
    let claim = |(_, entries): &(Key, Vec<Arrived<Delivery>>)| -> Vec<Claim> {
        entries.iter().map_while(|entry| claims.claim(queue_url, entry.latest.id())).collect()
    };
    let mut claimed: Vec<Vec<Claim>> = lines.iter().map(claim).collect();
    let all = lines.iter_mut().zip(&claimed);
    let all = all.flat_map(|((_, entries), claimed)| entries.iter_mut().take(claimed.len()));
    let opening = all.map(|entry| open(shared, &mut entry.latest, stop.clone()));
    let mut opened = join_all(opening).await.into_iter();
    // While others were opened, a lease may have ended, or a shutdown may have begun.
    let is_stopped = stop.borrow().is_some();
    let mut unopened: HashMap<Arc<str>, Verdict> = HashMap::new();
    for ((_, entries), claimed) in lines.iter().zip(&mut claimed) {
        let mut runs = None;
        for (place, (entry, opened)) in entries.iter().zip(opened.by_ref().take(claimed.len())).enumerate() {
            let is_over = is_stopped || entry.latest.lease.is_lost();
            if let Some(verdict) = opened.err().or_else(|| is_over.then_some(Verdict::Aborted)) {
                runs = runs.or(Some(place));
                unopened.insert(Arc::clone(entry.latest.id()), verdict);
            }
        }
        claimed.truncate(runs.unwrap_or(claimed.len()));
    }
    let runs: Vec<usize> = claimed.iter().map(Vec::len).collect();
    let deliveries: Vec<&Delivery> = lines
        .iter()
        .zip(&runs)
        .flat_map(|((_, entries), runs)| entries.iter().take(*runs).map(|entry| &entry.latest))
        .collect();
    let context = |delivery: &&Delivery| {
        observer.tally.started.one();
        MessageContext::of(delivery)
    };
    let contexts: Vec<_> = deliveries.iter().map(context).collect();
    let (mut verdicts, mut elapsed) = (Vec::new(), Duration::ZERO);
    if !contexts.is_empty() {
        let (began, handler, span) = (Instant::now(), handler.clone(), batch_span(queue_url, &deliveries));
        let mut task = HandlerTask::spawn(SenderContext::current(), span, move || async move {
            // The claims end with the task, also when the task is stopped.
            let _claimed = claimed;
            Ok(handler.call(contexts).await)
        });
        let ended = ended(&mut task, stop).await;
        elapsed = began.elapsed();
        verdicts = verdicts_of(ended, &deliveries, began, observer);
    }
    let mut verdicts = verdicts.into_iter();
    let decide = |((key, entries), runs): ((Key, Vec<Arrived<Delivery>>), usize)| {
        let mut ran = verdicts.by_ref().take(runs);
        // The first that did not run is being handled by another consumer. Those behind it only wait for it.
        let mut left = Some(Verdict::Busy);
        let mut verdict = |entry: &Arrived<Delivery>| {
            let ended = ran.next().or_else(|| {
                let unopened = unopened.remove(entry.latest.id());
                left.take().map(|busy| unopened.unwrap_or(busy))
            });
            ended.unwrap_or(Verdict::Behind)
        };
        let decided = entries.into_iter().map(|entry| (verdict(&entry), entry));
        (key, decided.map(|(verdict, entry)| (entry, verdict)).collect())
    };
    (lines.into_iter().zip(runs).map(decide).collect(), elapsed)
}

type Ended = Option<Result<Vec<Result<Outcome, HandlerError>>, Failure>>;

fn verdicts_of(ended: Ended, deliveries: &[&Delivery], began: Instant, observer: &Observer) -> Vec<Verdict> {
    let each = |results: &mut dyn Iterator<Item = Result<Outcome, Failure>>| {
        deliveries
            .iter()
            .zip(results)
            .map(|(delivery, ended)| verdict(ended, delivery.id(), began, observer))
            .collect()
    };
    match ended {
        Some(Ok(results)) => each(&mut results.into_iter().map(|result| result.map_err(Failure::Error))),
        Some(Err(failure)) => {
            let text = match failure {
                Failure::Panic(text) => text,
                Failure::Error(error) => error.to_string(),
            };
            let mut verdicts: Vec<_> = each(&mut repeat_with(|| Err(Failure::Panic(text.clone()))));
            // Only the first message reports the panic.
            for verdict in verdicts.iter_mut().skip(1) {
                if let Verdict::Failed { panic, .. } = verdict {
                    *panic = None;
                }
            }
            verdicts
        }
        None => {
            let aborted = |_: &&Delivery| {
                observer.tally.aborted.one();
                Verdict::Aborted
            };
            deliveries.iter().map(aborted).collect()
        }
    }
}

/// The span of a batch. It follows from the receives, and links to the senders.
fn batch_span(queue_url: &str, deliveries: &[&Delivery]) -> tracing::Span {
    let span = messaging_span!(INFO "sqs.process", "consumer", "process", "process", queue_url,
        messaging.batch.message_count = deliveries.len());
    for delivery in deliveries {
        span.follows_from(&delivery.span);
    }
    link(&span, deliveries.iter().map(|delivery| &*delivery.message));
    span
}
