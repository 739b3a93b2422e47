//! Runs the handler of a message, or of a batch: claim, open, call, verdict.

use std::collections::HashMap;
use std::future::pending;
use std::iter::repeat_with;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use sqs_client::client::{Execute, Unopened};
use sqs_client::types::MessageSystemAttributeName as Name;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::consume::adaptive::HandlerEnd;
use crate::consume::batch::{AnyBatchHandler, Behind};
use crate::consume::consumer::Shared;
use crate::consume::extract::MessageContext;
use crate::consume::gate::Place;
use crate::consume::group::Work;
use crate::consume::handler::{AnyHandler, HandlerFailure, HandlerTask};
use crate::consume::lines::{Arrived, Key};
use crate::consume::settle::{Failure, HandlerError, Outcome};
use crate::observe::receives::ReceiveEvent;
use crate::receive::delivery::{Claim, Delivery};
use crate::receive::opening::NotOpened;
use crate::span::messaging_span;
use crate::time::after;
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
    /// The handler returned an error, panicked, or took too long.
    Failed {
        reason: String,
        panic: Option<String>,
        /// What the policy for failures says.
        outcome: Option<Outcome>,
    },
    /// Not started: another consumer or receiver of the client is handling the message.
    Busy,
    /// Not started: the message could not be opened.
    Unopened(Unopened, String),
    /// Not run, but soon in another batch: an earlier message of its group did not run in this one, or it was not ready when the batch
    /// started.
    NotYet,
    /// The handler was stopped, or still runs although it was told to stop.
    Aborted,
}

impl Verdict {
    /// The result for the adaptive concurrency.
    pub(crate) fn end(&self) -> HandlerEnd {
        match self {
            Self::Busy
            | Self::NotYet
            | Self::Aborted
            | Self::Unopened(..)
            | Self::Outcome(Outcome::Retry(_)) => HandlerEnd::Stopped,
            Self::Outcome(Outcome::Overloaded) | Self::Failed { outcome: Some(Outcome::Overloaded), .. } => {
                HandlerEnd::Overloaded
            }
            Self::Outcome(_) => HandlerEnd::Succeeded,
            Self::Failed { .. } => HandlerEnd::Failed,
        }
    }
}

/// Opens a message under its lease. An error is the verdict about it: it could not be opened, or must not run. If it hangs, `hangs` is
/// called, and others are received meanwhile.
async fn open<H: Execute>(
    work: &Work<H>,
    delivery: &mut Delivery,
    hangs: impl FnOnce(),
) -> Result<(), Verdict> {
    let shared = &work.shared;
    let hangs = || {
        hangs();
        work.count_hanging()
    };
    let opened = tokio::select! {
        biased;
        opened = shared.opener.open(&shared.source, &shared.observer, delivery, hangs) => opened,
        // A message whose handler has not started is given back.
        () = shared.stop.finishing() => return Err(Verdict::Aborted),
    };
    opened.map_err(|failure| match failure {
        NotOpened::Failed(policy, reason) => Verdict::Unopened(policy, reason),
        NotOpened::LeaseEnds => Verdict::Aborted,
    })
}

/// Claims and opens a message, before its handler starts. If it hangs, its place is free for others.
async fn admit<H: Execute>(
    work: &Work<H>,
    delivery: &mut Delivery,
    place: &mut Option<Place>,
) -> Result<Claim, Verdict> {
    let source = &work.shared.source;
    // Before it is opened: its payload may be deleted by the one that handles it.
    let claim = source.client.claims().claim(&source.url, delivery.id()).ok_or(Verdict::Busy)?;
    let leave = || {
        *place = None;
        work.gate.not_started(1);
    };
    open(work, delivery, leave).await?;
    if place.is_some() { Ok(claim) } else { Err(Verdict::NotYet) }
}

/// Runs a handler in a task of its own. Returns how it ended, and how long it ran.
///
/// A message that hangs while it is opened leaves its place to others. It gets another one when it is open.
pub(crate) async fn handle<H: Execute>(
    handler: &AnyHandler,
    work: &Work<H>,
    delivery: &mut Delivery,
    place: &mut Option<Place>,
    stop: watch::Receiver<Option<Instant>>,
) -> (Verdict, Duration) {
    let (source, observer) = (&work.shared.source, &*work.shared.observer);
    let claim = match admit(work, delivery, place).await {
        Ok(claim) => claim,
        Err(verdict) => {
            if place.is_some() {
                work.gate.not_started(1);
            }
            return (verdict, Duration::ZERO);
        }
    };
    let delivery = &*delivery;
    observer.tally.started.one();
    let (began, cancellation) = (Instant::now(), work.shared.cancellation());
    let claim = Arc::new(claim);
    let context = MessageContext::of(delivery, cancellation.clone()).with_claim(Arc::clone(&claim));
    let handler = handler.clone();
    let sender = SenderContext::of(&delivery.message);
    let span = sender.scope(|| handler_span(&source.url, delivery));
    let mut task = HandlerTask::spawn(sender, span, move || async move {
        // The claim ends with the task, also when the task is stopped.
        let _claim = claim;
        handler.call(context).await
    });
    let (timeout, mut stopped) = (work.shared.options.limits.handler_timeout, stop.clone());
    let ends = Ends { timeout, cancellation: &cancellation, stop };
    let Some(ended) = ended(&mut task, ends, delivery.lease.lost()).await else {
        observer.tally.aborted.one();
        return (Verdict::Aborted, began.elapsed());
    };
    if matches!(ended, Err(HandlerFailure::TimedOut(_))) {
        // The function of a blocking handler may still run. If its lease is lost, later deliveries of its message wait in its line.
        tokio::select! {
            biased;
            () = source.client.claims().released(&source.url, delivery.id()) => {}
            _ = stopped.wait_for(Option::is_some) => {}
        }
    }
    (verdict(&ended, delivery, began, &work.shared), began.elapsed())
}

/// A handler that blocks its thread and does not stop within this time is reported.
const STOPS_WITHIN: Duration = Duration::from_secs(1);

/// What tells a handler to end.
struct Ends<'c> {
    timeout: Option<Duration>,
    cancellation: &'c CancellationToken,
    stop: watch::Receiver<Option<Instant>>,
}

/// Waits until a handler has ended. `None` if it was stopped by a shutdown. `lost` is ready when its lease is lost.
async fn ended<T>(
    task: &mut HandlerTask<T>,
    Ends { timeout, cancellation, mut stop }: Ends<'_>,
    lost: impl Future<Output = ()>,
) -> Option<Result<T, HandlerFailure>> {
    let mut stopped = pin!(async { stop.wait_for(Option::is_some).await.ok().and_then(|until| *until) });
    let timed_out = async {
        let Some(timeout) = timeout else { return pending().await };
        sleep(timeout * 9 / 10).await;
        cancellation.cancel();
        sleep(timeout / 10).await;
        timeout
    };
    let told = async {
        lost.await;
        cancellation.cancel();
        pending::<()>().await;
    };
    let timeout = tokio::select! {
        biased;
        ended = &mut *task => return Some(ended),
        until = &mut stopped => return task.stop(until.unwrap_or_else(Instant::now)).await,
        timeout = timed_out => timeout,
        () = told => return None,
    };
    let ended = task.stop(after(Instant::now(), STOPS_WITHIN)).await;
    if ended.is_none() && !task.has_ended() {
        // Given back, its message would be received again and again, and in the end be a dead letter.
        tokio::select! {
            biased;
            _ = &mut *task => {}
            _ = &mut stopped => {}
        }
    }
    Some(ended.unwrap_or(Err(HandlerFailure::TimedOut(timeout))))
}

/// Reports how the handler of a message ended.
fn verdict<H: Execute>(
    ended: &Result<Outcome, HandlerFailure>,
    delivery: &Delivery,
    began: Instant,
    shared: &Shared<H>,
) -> Verdict {
    let (observer, message_id) = (&*shared.observer, &**delivery.id());
    let (event, verdict) = match ended {
        Ok(outcome) => (None, Verdict::Outcome(outcome.clone())),
        Err(HandlerFailure::Error(error)) if error.is::<Behind>() => return Verdict::NotYet,
        Err(failure) => {
            let told = Failure::new(failure, delivery);
            let panic = if let HandlerFailure::Panic(text) = failure { Some(text.clone()) } else { None };
            // A policy that panics must not end the run.
            let decide = || shared.options.on_error.as_ref().and_then(|policy| policy(&told));
            let outcome = catch_unwind(AssertUnwindSafe(decide)).unwrap_or_else(|_| {
                tracing::error!(message_id, "the policy for failures panicked");
                None
            });
            (Some(told.event()), Verdict::Failed { reason: told.to_string(), panic, outcome })
        }
    };
    if let Some(event) = event {
        observer.report(&event);
    }
    let outcome = if let Verdict::Outcome(outcome) = &verdict { Some(outcome) } else { None };
    observer.report(&ReceiveEvent::Handled { message_id, outcome, elapsed: began.elapsed() });
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

/// A message of a batch: it may run, or has its verdict. Those behind one with a verdict in their line have one, too.
type Opened<C> = (Arrived<Delivery>, Result<C, Verdict>);

/// Opens lines, each with its place in the batch.
pub(crate) type OpeningLines = FuturesUnordered<BoxFuture<'static, (usize, (Key, Vec<Opened<Claim>>))>>;

/// Messages of a batch are waited for, after the first one is open, for as long as that one took, and at least this long.
const MIN_WAIT: Duration = Duration::from_secs(1);

/// Opens the messages of a batch. Returns the lines that are ready in time, and those whose first message still loads: payloads that hang
/// must not delay the others, and must not hold the place of the batch.
pub(crate) async fn open_batch<H: Execute>(
    work: &Arc<Work<H>>,
    lines: ByLine<Arrived<Delivery>>,
) -> (ByLine<Opened<Claim>>, OpeningLines) {
    let open = |(place, (key, entries)): (usize, (Key, Vec<Arrived<Delivery>>))| {
        let work = Arc::clone(work);
        async move { (place, (key, open_line(&work, entries).await)) }.boxed()
    };
    let mut opening: OpeningLines = lines.into_iter().enumerate().map(open).collect();
    let is_open = |(_, (_, entries)): &(usize, (Key, Vec<Opened<Claim>>))| {
        entries.first().is_some_and(|(_, ready)| ready.is_ok())
    };
    let mut opened = in_time(&mut opening, work.shared.opener.patience(), is_open).await;
    opened.sort_unstable_by_key(|(place, _)| *place);
    (opened.into_iter().map(|(_, line)| line).collect(), opening)
}

/// Opens messages of a line. Waits for the first one however long it takes, so that it gets ready at last.
async fn open_line<H: Execute>(work: &Work<H>, mut entries: Vec<Arrived<Delivery>>) -> Vec<Opened<Claim>> {
    let shared = &work.shared;
    let (claims, queue_url) = (shared.source.client.claims(), &shared.source.url);
    // Up to the first message that another consumer handles. A message is claimed before it is opened: its payload may be deleted by the
    // one that handles it.
    let claimed: Vec<Claim> =
        entries.iter().map_while(|entry| claims.claim(queue_url, entry.latest.id())).collect();
    let mut verdicts = HashMap::from([(claimed.len(), Err(Verdict::Busy))]);
    let open = |(place, entry): (usize, _)| async move {
        let entry: &mut Arrived<Delivery> = entry;
        (place, open(work, &mut entry.latest, || {}).await)
    };
    let mut opening: FuturesUnordered<_> =
        entries.iter_mut().take(claimed.len()).enumerate().map(open).collect();
    verdicts.extend(in_time(&mut opening, Duration::MAX, |(place, _)| *place == 0).await);
    drop(opening);
    let mut claimed = claimed.into_iter();
    let mut is_behind = false;
    let decide = |(place, entry)| {
        let (claim, verdict) = (claimed.next(), verdicts.remove(&place).filter(|_| !is_behind));
        let ready = verdict.unwrap_or(Err(Verdict::NotYet)).and_then(|()| claim.ok_or(Verdict::NotYet));
        is_behind = ready.is_err();
        (entry, ready)
    };
    entries.into_iter().enumerate().map(decide).collect()
}

/// The results of futures, until all have ended or the others take too long: `patience`, and twice as long as the first one that starts the
/// clock.
async fn in_time<F: Future>(
    running: &mut FuturesUnordered<F>,
    patience: Duration,
    starts_clock: impl Fn(&F::Output) -> bool,
) -> Vec<F::Output> {
    let (began, mut ended) = (Instant::now(), Vec::new());
    let (mut due, mut is_started) = (after(began, patience), false);
    loop {
        let next = tokio::select! {
            biased;
            next = running.next() => next,
            () = sleep_until(due) => None,
        };
        let Some(one) = next else { return ended };
        if !is_started && starts_clock(&one) {
            (due, is_started) = (after(Instant::now(), began.elapsed().max(MIN_WAIT)), true);
        }
        ended.push(one);
    }
}

/// Runs a batch handler in its own task.
pub(crate) async fn handle_batch<H: Execute>(
    handler: &AnyBatchHandler,
    shared: &Shared<H>,
    (lines, claimed): (ByLine<Opened<()>>, Vec<Claim>),
    stop: watch::Receiver<Option<Instant>>,
) -> (ByLine<(Arrived<Delivery>, Verdict)>, Duration) {
    let observer = &*shared.observer;
    let deliveries: Vec<&Delivery> = lines
        .iter()
        .flat_map(|(_, entries)| entries)
        .filter_map(|(entry, ready)| ready.is_ok().then_some(&entry.latest))
        .collect();
    let cancellation = shared.cancellation();
    let context = |delivery: &&Delivery| {
        observer.tally.started.one();
        MessageContext::of(delivery, cancellation.clone())
    };
    let contexts: Vec<_> = deliveries.iter().map(context).collect();
    let (mut verdicts, mut elapsed) = (Vec::new(), Duration::ZERO);
    if !contexts.is_empty() {
        let (began, handler) = (Instant::now(), handler.clone());
        let span = batch_span(&shared.source.url, &deliveries);
        let mut task = HandlerTask::spawn(SenderContext::current(), span, move || async move {
            // The claims end with the task, also when the task is stopped.
            let _claimed = claimed;
            Ok(handler.call(contexts).await)
        });
        let ends = Ends { timeout: shared.options.limits.handler_timeout, cancellation: &cancellation, stop };
        let lost = join_all(deliveries.iter().map(|delivery| delivery.lease.lost()));
        let ended = ended(&mut task, ends, lost.map(drop)).await;
        elapsed = began.elapsed();
        verdicts = verdicts_of(ended, &deliveries, began, shared);
    }
    let mut verdicts = verdicts.into_iter();
    let mut decide = |(entry, ready): Opened<()>| {
        let ran = ready.map(|()| verdicts.next().unwrap_or(Verdict::NotYet));
        (entry, ran.unwrap_or_else(|verdict| verdict))
    };
    let decided =
        lines.into_iter().map(|(key, entries)| (key, entries.into_iter().map(&mut decide).collect()));
    (decided.collect(), elapsed)
}

/// Which messages run now, with their claims: while others were opened, a lease may have come near its end, or a shutdown may have begun.
pub(crate) fn ready(lines: ByLine<Opened<Claim>>, is_stopped: bool) -> (ByLine<Opened<()>>, Vec<Claim>) {
    let mut claimed = Vec::new();
    let of_line = |(key, entries): (Key, Vec<Opened<Claim>>)| {
        let mut is_behind = false;
        let ready = |(entry, opened): Opened<Claim>| {
            let lease = &entry.latest.lease;
            let ready = opened.and_then(|claim| match () {
                () if is_behind => Err(Verdict::NotYet),
                () if is_stopped || lease.is_lost() => Err(Verdict::Aborted),
                () if !lease.is_fresh() => Err(Verdict::NotYet),
                () => Ok(claim),
            });
            is_behind = ready.is_err();
            (entry, ready.map(|claim| claimed.push(claim)))
        };
        (key, entries.into_iter().map(ready).collect())
    };
    (lines.into_iter().map(of_line).collect(), claimed)
}

type Ended = Option<Result<Vec<Result<Outcome, HandlerError>>, HandlerFailure>>;

fn verdicts_of<H: Execute>(
    ended: Ended,
    deliveries: &[&Delivery],
    began: Instant,
    shared: &Shared<H>,
) -> Vec<Verdict> {
    let each = |results: &mut dyn Iterator<Item = Result<Outcome, HandlerFailure>>| {
        deliveries
            .iter()
            .zip(results)
            .map(|(delivery, ended)| verdict(&ended, delivery, began, shared))
            .collect()
    };
    match ended {
        Some(Ok(results)) => {
            each(&mut results.into_iter().map(|result| result.map_err(HandlerFailure::Error)))
        }
        Some(Err(HandlerFailure::TimedOut(timeout))) => {
            each(&mut repeat_with(|| Err(HandlerFailure::TimedOut(timeout))))
        }
        Some(Err(failure)) => {
            let text = match failure {
                HandlerFailure::Panic(text) => text,
                other => other.to_string(),
            };
            let mut verdicts: Vec<_> = each(&mut repeat_with(|| Err(HandlerFailure::Panic(text.clone()))));
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
                shared.observer.tally.aborted.one();
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
