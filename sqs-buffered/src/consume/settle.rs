//! From a delivery to its outcome: its handler runs, and the outcome becomes a delete, a delay or a dead letter.

use std::collections::HashMap;
use std::error::Error;
use std::iter::repeat_with;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::future::join_all;
use sqs_client::client::{CallOptions, Execute, OperationError as _, Unopened};
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::operation::get_queue_url::{GetQueueUrl, GetQueueUrlInput};
use sqs_client::types::{
    MessageAttributeValue, MessageSystemAttributeName as Name, MessageSystemAttributeNameForSends,
    MessageSystemAttributeValue, QueueAttributeName,
};
use sqs_client::wire::limits::{MAX_MESSAGE_ATTRIBUTES, MAX_MESSAGE_BYTES};
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use crate::attempt::{ATTEMPT_TIMEOUT, attempt};
use crate::consume::adaptive::HandlerEnd;
use crate::consume::batch::AnyBatchHandler;
use crate::consume::consumer::Shared;
use crate::consume::extract::MessageContext;
use crate::consume::group::{Arrived, Key};
use crate::consume::handler::{AnyHandler, Failure, HandlerTask};
use crate::entry::{Entry, is_fifo};
use crate::observe::receives::{Event, Observer, Settled};
use crate::receive::delivery::Delivery;
use crate::receive::pump::Source;
use crate::span::messaging_span;
use crate::trace_context::{SenderContext, link};

/// The error of a handler: any error converts into it with `?`.
pub type HandlerError = Box<dyn Error + Send + Sync>;

/// What happens to a message after its handler. After an error or a panic, the message becomes visible again after the
/// [back-off](BackOff).
///
/// ```
/// use std::time::Duration;
///
/// use sqs_buffered::{HandlerError, Outcome};
///
/// fn handle(body: &str) -> Result<Outcome, HandlerError> {
///     Ok(match body {
///         "" => Outcome::DeadLetter("nothing ordered".into()), // retries cannot help
///         "soup" => Outcome::Nack(Duration::from_secs(60)),    // not ready yet
///         order => {
///             let number: u32 = order.parse()?; // an error: retried after the back-off
///             println!("order {number}");
///             Outcome::Ack
///         }
///     })
/// }
/// # assert_eq!(handle("7").unwrap(), Outcome::Ack);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// Done: deletes the message.
    Ack,
    /// Makes the message visible again after this delay. Fractions of a second are rounded up. No message stays hidden for
    /// more than 12 hours after its receive.
    Nack(Duration),
    /// Makes the message visible at once.
    Release,
    /// Leaves the message hidden, without further renewals. It becomes visible when its visibility timeout is over, unless it
    /// is deleted by its receipt handle. On FIFO queues, its group waits until then.
    Keep,
    /// Runs the handler again after this pause, at least 100 ms. The consumer keeps the message and renews its lease. Unlike
    /// [`Nack`](Self::Nack), this does not count as another receive, so no redrive policy moves the message to a dead-letter
    /// queue. When the longest lease is over, the lease is lost, and the message is received again. On FIFO queues, its group
    /// waits; if the handler ran for a batch, the messages behind it in the group run again. A shutdown makes the message visible at
    /// once.
    ///
    /// A waiting message occupies a place of the consumer. If half of the places are occupied like this, this is a
    /// `Nack`.
    Retry(Duration),
    /// Something that the handler needs is overloaded: it throttles, or is too slow. Like [`Retry`](Self::Retry), but messages may
    /// occupy all places, and the pause grows each time in a row, from 100 ms to 5 seconds. With
    /// [`Concurrency::Adaptive`](crate::consume::pool::Concurrency::Adaptive), fewer handlers run.
    Overloaded,
    /// Retries cannot help: sends the message to the dead-letter queue of the queue, with this reason as the message attribute
    /// `DeadLetterReason`, and deletes it. If there is no dead-letter queue, the message is retried after the
    /// [back-off](BackOff).
    DeadLetter(String),
}

/// SQS hides no message for longer.
const MAX_DELAY: Duration = Duration::from_hours(12);

/// How long a message stays hidden after its handler failed or panicked, by its receive count. Fractions of a second are rounded
/// up. On FIFO queues, the messages behind it in its group are given back too: each receive counts for them.
///
/// ```
/// use std::time::Duration;
///
/// use sqs_buffered::BackOff;
///
/// // Up to 5 s after the first receive, up to 10 s after the second, and so on up to 10 minutes.
/// let back_off = BackOff::Exponential { first: Duration::from_secs(5), max: Duration::from_secs(600) };
/// # let _ = back_off;
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BackOff {
    /// Random between zero and `first`, doubled with each further receive up to `max` ("full jitter"):
    /// <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>.
    Exponential {
        /// The longest delay after the first receive.
        first: Duration,
        /// The longest delay, at most 12 hours.
        max: Duration,
    },
    /// Always this delay, at most 12 hours.
    Fixed(Duration),
    /// No delay: the message is visible again at once.
    None,
}

impl Default for BackOff {
    /// Exponential, from 2 seconds to 15 minutes.
    fn default() -> Self {
        Self::Exponential { first: Duration::from_secs(2), max: Duration::from_secs(900) }
    }
}

impl BackOff {
    /// The delay. `receives` is the message's `ApproximateReceiveCount`, `chance` is from 0 to 1.
    pub(crate) fn delay(&self, receives: u32, chance: f64) -> Duration {
        match *self {
            Self::Exponential { first, max } => {
                let doublings = receives.saturating_sub(1).min(31);
                let longest = first.saturating_mul(1 << doublings).min(max).min(MAX_DELAY);
                longest.mul_f64(chance.clamp(0.0, 1.0))
            }
            Self::Fixed(delay) => delay,
            Self::None => Duration::ZERO,
        }
    }
}

/// What happens on FIFO queues when the handler of a message fails again and again.
///
/// SQS counts a receive of each message of the group when one of them is received again. So when SQS moves the failing message to the
/// dead-letter queue, it moves those behind it soon after, although they were never handled.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Poison {
    /// The consumer keeps the group, and runs the handler of the message again after the [back-off](BackOff). A run counts as a
    /// receive. When the `maxReceiveCount` of the redrive policy is reached, the consumer sends this message alone to the dead-letter
    /// queue, with the error as the message attribute `DeadLetterReason`, deletes it, and goes on with the group.
    ///
    /// Needs a redrive policy, and the permissions `sqs:GetQueueAttributes` and `sqs:GetQueueUrl`, and `sqs:SendMessage` on the
    /// dead-letter queue. Without them, while half of the places are occupied by such messages, and at a shutdown: as
    /// [`LeaveToSqs`](Self::LeaveToSqs).
    #[default]
    InPlace,
    /// The consumer gives the group back: the message becomes visible after the back-off, and SQS decides.
    LeaveToSqs,
}

/// A piece of work that has ended.
pub(crate) enum Step {
    /// A lease was renewed so that a handler can start, or could not be renewed.
    Refreshed {
        key: Key,
        entry: Arrived<Delivery>,
        is_fresh: bool,
    },
    Handled {
        key: Key,
        entry: Arrived<Delivery>,
        verdict: Verdict,
        elapsed: Duration,
    },
    /// The redrive policy is known, for a message whose handler failed: how many attempts it allows, or `None`.
    Consulted {
        key: Key,
        entry: Arrived<Delivery>,
        reason: String,
        allowed: Option<u32>,
    },
    /// The pause before the next run of a handler is over.
    Rested {
        key: Key,
        entry: Arrived<Delivery>,
    },
    HandledBatch {
        lines: Lines<(Arrived<Delivery>, Verdict)>,
        elapsed: Duration,
    },
    /// The previous message of its line is done. Both ran in the same batch.
    Decided {
        key: Key,
        entry: Arrived<Delivery>,
        verdict: Verdict,
    },
    /// Sending a dead letter has ended: its deliveries, the latest first, and the error if it failed.
    Sent {
        key: Key,
        deliveries: Vec<Delivery>,
        result: Result<(), String>,
    },
    Deleted {
        key: Option<Key>,
        is_done: bool,
        deliveries: Vec<Delivery>,
    },
    GivenBack {
        key: Option<Key>,
    },
}

/// How a message is given back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Return {
    /// Hidden for a while.
    After(Duration),
    /// Visible at once, by its outcome.
    Released,
    /// Visible at once or after a while, without an outcome.
    Returned(Duration),
    /// Left hidden.
    Kept,
}

/// Deletes all deliveries of a message. One success is enough: on FIFO queues, the handles of earlier deliveries have expired.
pub(crate) async fn delete<H: Execute>(
    shared: Arc<Shared<H>>,
    key: Option<Key>,
    mut deliveries: Vec<Delivery>,
    how: Settled,
) -> Step {
    let source = &shared.source;
    let deletes = deliveries.iter_mut().map(|delivery| delivery.delete(source, how));
    let is_done = join_all(deletes).await.iter().any(Result::is_ok);
    Step::Deleted { key, is_done, deliveries }
}

/// Sends the message to the dead-letter queue. A copy of an opened delivery has its own payload. The copy of one that is not opened
/// shares it, so no delivery may delete it.
pub(crate) async fn send<H: Execute>(
    shared: Arc<Shared<H>>,
    key: Key,
    mut deliveries: Vec<Delivery>,
    reason: String,
) -> Step {
    let opened = deliveries.iter().position(Delivery::is_open);
    if opened.is_none() {
        deliveries.iter_mut().for_each(Delivery::leave_payload);
    }
    let result = match deliveries.get(opened.unwrap_or_default()) {
        Some(delivery) => shared.dead_letters.send(&shared.source, delivery, &reason).await,
        None => Ok(()),
    };
    Step::Sent { key, deliveries, result }
}

/// Gives back the messages of a group that have not started, the last one first, and then the message before them. So
/// the next receive starts with that message.
pub(crate) async fn give_back<H: Execute>(
    shared: Arc<Shared<H>>,
    key: Option<Key>,
    rest: Vec<Arrived<Delivery>>,
    (head, how): (Vec<Delivery>, Return),
) -> Step {
    let rest = rest.into_iter().rev().flat_map(Arrived::into_deliveries);
    all_back(&shared.source, rest, Return::Returned(Duration::ZERO)).await;
    all_back(&shared.source, head, how).await;
    Step::GivenBack { key }
}

/// Errors are counted and reported where they happen.
async fn all_back<H: Execute>(
    source: &Source<H>,
    deliveries: impl IntoIterator<Item = Delivery>,
    how: Return,
) {
    let back = async |delivery: Delivery| match how {
        Return::After(delay) => drop(delivery.hide(source, delay, Settled::Nacked).await),
        Return::Released => drop(delivery.hide(source, Duration::ZERO, Settled::Released).await),
        Return::Returned(delay) => drop(delivery.hide(source, delay, Settled::Returned).await),
        Return::Kept => delivery.keep(),
    };
    join_all(deliveries.into_iter().map(back)).await;
}

pub(crate) fn settle_span(queue_url: &str, operation: &'static str, messages: usize) -> tracing::Span {
    messaging_span!(DEBUG "sqs.settle", "client", operation, "settle", queue_url,
        messaging.batch.message_count = messages)
}

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
    /// The handler was stopped, or still runs although it was told to stop.
    Aborted,
}

impl Verdict {
    /// The result for the adaptive concurrency.
    pub(crate) fn end(&self) -> HandlerEnd {
        match self {
            Self::Busy | Self::Aborted | Self::Unopened(..) | Self::Outcome(Outcome::Retry(_)) => {
                HandlerEnd::Stopped
            }
            Self::Outcome(Outcome::Overloaded) => HandlerEnd::Overloaded,
            Self::Outcome(_) => HandlerEnd::Succeeded,
            Self::Failed { .. } => HandlerEnd::Failed,
        }
    }
}

/// Opens a message under its lease. An error is the verdict about it: it could not be opened, or must not run.
pub(crate) async fn open<H: Execute>(
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
pub(crate) async fn handle<H: Execute>(
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
        return Verdict::Aborted;
    };
    verdict(ended, message_id, began, observer)
}

/// Waits until a handler has ended. `None` if it was stopped.
pub(crate) async fn ended<T>(
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
pub(crate) fn verdict(
    ended: Result<Outcome, Failure>,
    message_id: &str,
    began: Instant,
    observer: &Observer,
) -> Verdict {
    let verdict = match ended {
        Ok(outcome) => Verdict::Outcome(outcome),
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
pub(crate) type Lines<T> = Vec<(Key, Vec<T>)>;

/// Runs a batch handler in its own task. If a message cannot be opened, or another consumer or receiver is handling it, that
/// message and the later ones of its line do not run.
pub(crate) async fn handle_batch<H: Execute>(
    handler: &AnyBatchHandler,
    source: &Source<H>,
    mut lines: Lines<Arrived<Delivery>>,
    observer: &Observer,
    stop: watch::Receiver<Option<Instant>>,
) -> Lines<(Arrived<Delivery>, Verdict)> {
    let (claims, queue_url) = (source.client.claims(), &source.url);
    let all = lines.iter_mut().flat_map(|(_, entries)| entries);
    let opening = all.map(|entry| open(source, &mut entry.latest, observer, stop.clone()));
    let mut unopened: HashMap<Arc<str>, Verdict> = HashMap::new();
    let opened = join_all(opening).await;
    // While others were opened, a lease may have ended, or a shutdown may have begun.
    let is_stopped = stop.borrow().is_some();
    for (entry, opened) in lines.iter().flat_map(|(_, entries)| entries).zip(opened) {
        let is_over = is_stopped || entry.latest.lease.is_lost();
        let verdict = opened.err().or_else(|| is_over.then_some(Verdict::Aborted));
        unopened.extend(verdict.map(|verdict| (Arc::clone(entry.latest.id()), verdict)));
    }
    let mut claimed = Vec::new();
    let mut claim = |entry: &Arrived<Delivery>| {
        let claim = claims.claim(queue_url, entry.latest.id());
        let claim = claim.filter(|_| !unopened.contains_key(entry.latest.id()));
        claim.map(|claim| claimed.push(claim)).is_some()
    };
    let run = |(_, entries): &(Key, Vec<Arrived<Delivery>>)| {
        entries.iter().take_while(|entry| claim(entry)).count()
    };
    let runs: Vec<usize> = lines.iter().map(run).collect();
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
    let mut verdicts = Vec::new();
    if !contexts.is_empty() {
        let (began, handler, span) = (Instant::now(), handler.clone(), batch_span(queue_url, &deliveries));
        let mut task = HandlerTask::spawn(SenderContext::current(), span, move || async move {
            // The claims end with the task, also when the task is stopped.
            let _claimed = claimed;
            Ok(handler.call(contexts).await)
        });
        let ended = ended(&mut task, stop).await;
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
            ended.unwrap_or(Verdict::Aborted)
        };
        let decided = entries.into_iter().map(|entry| (verdict(&entry), entry));
        (key, decided.map(|(verdict, entry)| (entry, verdict)).collect())
    };
    lines.into_iter().zip(runs).map(decide).collect()
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

/// The message attribute with the reason.
const REASON: &str = "DeadLetterReason";

/// Longer reasons are truncated to this number of characters.
const MAX_REASON_CHARS: usize = 1_024;

/// How long the URL of the dead-letter queue is cached: the redrive policy can be changed.
const FRESH: Duration = Duration::from_mins(5);

/// How long other letters rely on a lookup that failed.
const FAILED: Duration = Duration::from_secs(10);

/// The redrive policy of a queue.
#[derive(Clone, Debug)]
struct Redrive {
    /// The URL of the dead-letter queue.
    url: Arc<str>,
    /// How many times SQS delivers a message.
    max_receives: Option<u32>,
}

/// A lookup, and until when it counts.
type Known = (Result<Redrive, String>, Instant);

/// The dead-letter queue of a queue.
#[derive(Debug, Default)]
pub(crate) struct DeadLetters {
    /// Locked during a lookup; other letters wait for the result.
    known: Mutex<Option<Known>>,
    /// Whether it was logged that there is no policy.
    has_warned: AtomicBool,
}

impl DeadLetters {
    /// Sends a copy of the message to the dead-letter queue: the same body, attributes and group. The error is a text
    /// for events.
    pub(crate) async fn send<H: Execute>(
        &self,
        source: &Source<H>,
        delivery: &Delivery,
        reason: &str,
    ) -> Result<(), String> {
        let url = self.redrive(source).await?.url;
        let sent = source.client.send_letter(letter(&url, delivery, reason)).await;
        if sent.is_err() {
            // It may have been deleted, or replaced by another one.
            *self.known.lock().await = None;
        }
        sent.map(drop).map_err(|error| error.to_string())
    }

    /// How many attempts the redrive policy allows; `None` without a policy that can be read and followed.
    pub(crate) async fn allowed_attempts<H: Execute>(&self, source: &Source<H>) -> Option<u32> {
        match self.redrive(source).await {
            Ok(redrive) => redrive.max_receives,
            Err(reason) => {
                if !self.has_warned.swap(true, Relaxed) {
                    let queue_url = &*source.url;
                    tracing::warn!(reason, queue_url, "failed messages are left to SQS, with their groups");
                }
                None
            }
        }
    }

    async fn redrive<H: Execute>(&self, source: &Source<H>) -> Result<Redrive, String> {
        let mut known = self.known.lock().await;
        if let Some((redrive, _)) = known.as_ref().filter(|(_, until)| Instant::now() < *until) {
            return redrive.clone();
        }
        let redrive = find(source).await;
        let fresh = if redrive.is_ok() { FRESH } else { FAILED };
        *known = Some((redrive.clone(), Instant::now() + fresh));
        redrive
    }
}

async fn find<H: Execute>(source: &Source<H>) -> Result<Redrive, String> {
    let handle = source.client.handle();
    let mut input = GetQueueAttributesInput::default();
    input.queue_url = Some(source.url.as_ref().to_owned());
    input.attribute_names = Some(vec![QueueAttributeName::RedrivePolicy]);
    let asked = handle.execute::<GetQueueAttributes>(&input, CallOptions::default());
    let output = attempt(ATTEMPT_TIMEOUT, asked).await.map_err(|error| error.to_string())?;
    let attributes = output.attributes.unwrap_or_default();
    let policy = attributes.get(&QueueAttributeName::RedrivePolicy);
    let (arn, max_receives) =
        policy.and_then(|policy| target(policy)).ok_or("the queue has no dead-letter queue")?;
    let mut parts = arn.split(':').skip(4);
    let mut input = GetQueueUrlInput::default();
    input.queue_owner_aws_account_id = parts.next().map(str::to_owned);
    input.queue_name = parts.next().map(str::to_owned);
    let asked = handle.execute::<GetQueueUrl>(&input, CallOptions::default());
    let output = attempt(ATTEMPT_TIMEOUT, asked).await.map_err(|error| format!("{arn}: {error}"))?;
    let url = output.queue_url.map(Arc::from).ok_or_else(|| format!("{arn} has no URL"))?;
    Ok(Redrive { url, max_receives })
}

/// The ARN and the count of a redrive policy, such as `{"deadLetterTargetArn":"arn:aws:sqs:..","maxReceiveCount":"3"}`. SQS takes the
/// count as a number or as text.
fn target(policy: &str) -> Option<(String, Option<u32>)> {
    let policy: serde_json::Value = serde_json::from_str(policy).ok()?;
    let arn = policy.get("deadLetterTargetArn")?.as_str().map(str::to_owned)?;
    let count = policy.get("maxReceiveCount");
    let number = count.and_then(serde_json::Value::as_u64).and_then(|count| u32::try_from(count).ok());
    Some((arn, number.or_else(|| count?.as_str()?.parse().ok())))
}

/// The copy. On FIFO queues, its deduplication id is the message id: if the original is not deleted, a second copy is dropped.
fn letter(url: &str, delivery: &Delivery, reason: &str) -> Entry {
    let message = &delivery.message;
    let mut entry = Entry::new(url, message.body().unwrap_or_default());
    for (name, value) in message.message_attributes().into_iter().flatten() {
        entry = entry.message_attributes(name, value.clone());
    }
    if let Some(header) = delivery.attribute(&Name::AwsTraceHeader) {
        let mut value = MessageSystemAttributeValue::default();
        (value.data_type, value.string_value) = ("String".to_owned(), Some(header.to_owned()));
        entry = entry.message_system_attributes(MessageSystemAttributeNameForSends::AwsTraceHeader, value);
    }
    if let Some(group) = delivery.attribute(&Name::MessageGroupId) {
        entry = entry.message_group_id(group);
    }
    if is_fifo(url) {
        entry = entry.message_deduplication_id(&**delivery.id());
    }
    with_reason(entry, reason)
}

/// Adds the reason, unless the message would become too large or have too many attributes: the message matters more. A message
/// that is too large for SQS without it goes to a store, with the reason.
fn with_reason(entry: Entry, reason: &str) -> Entry {
    let clean = |char: char| if is_xml(char) { char } else { char::REPLACEMENT_CHARACTER };
    let reason: String = reason.chars().map(clean).take(MAX_REASON_CHARS).collect();
    let attributes = entry.message().message_attributes();
    let is_full =
        attributes.is_some_and(|all| all.len() >= MAX_MESSAGE_ATTRIBUTES && !all.contains_key(REASON));
    if reason.is_empty() || is_full {
        return entry;
    }
    let with = entry.clone().message_attributes(REASON, MessageAttributeValue::string(reason));
    let is_stored = entry.size() > MAX_MESSAGE_BYTES;
    if is_stored || with.size() <= MAX_MESSAGE_BYTES { with } else { entry }
}

/// Whether a message may contain the character: <https://www.w3.org/TR/REC-xml/#charsets>.
fn is_xml(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

#[cfg(test)]
mod back_off_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn delays_double_with_each_receive() {
        let back_off = BackOff::default();
        let longest: Vec<_> = (0..=12).map(|receives| back_off.delay(receives, 1.0).as_secs()).collect();
        assert_eq!(longest, [2, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
        assert_eq!(back_off.delay(3, 0.5), Duration::from_secs(4));
        assert_eq!(back_off.delay(u32::MAX, 1.0), Duration::from_secs(900));
    }

    #[test]
    fn other_policies_do_not_look_at_the_count() {
        assert_eq!(BackOff::Fixed(Duration::from_secs(7)).delay(9, 0.1), Duration::from_secs(7));
        assert_eq!(BackOff::None.delay(9, 0.9), Duration::ZERO);
    }

    #[test]
    fn maximum_delays_are_capped() {
        let endless = BackOff::Exponential { first: Duration::MAX, max: Duration::MAX };
        assert_eq!(endless.delay(u32::MAX, 1.0), MAX_DELAY);
    }

    proptest! {
        #[test]
        fn delays_stay_within_their_bounds(
            receives: u32,
            chance in 0.0_f64..=1.0,
            first in 0_u64..100_000,
            max in 0_u64..100_000,
        ) {
            let (first, max) = (Duration::from_millis(first), Duration::from_millis(max));
            let back_off = BackOff::Exponential { first, max };
            let delay = back_off.delay(receives, chance);
            prop_assert!(delay <= max);
            prop_assert!(delay <= back_off.delay(receives, 1.0));
            prop_assert!(back_off.delay(receives, 1.0) <= back_off.delay(receives.saturating_add(1), 1.0));
        }
    }
}

#[cfg(test)]
mod dead_letter_tests {
    use super::*;

    fn reason_of(entry: &Entry) -> Option<&str> {
        entry.message().message_attributes()?.get(REASON)?.string_value()
    }

    #[test]
    fn target_is_read_from_the_policy() {
        let policy = r#"{"maxReceiveCount":"3", "deadLetterTargetArn":"arn:aws:sqs:us-east-1:1:dead"}"#;
        let arn = || "arn:aws:sqs:us-east-1:1:dead".to_owned();
        assert_eq!(target(policy), Some((arn(), Some(3))));
        assert_eq!(target(&policy.replace(r#""3""#, "7")), Some((arn(), Some(7))));
        assert_eq!((target("{}"), target("no JSON")), (None, None));
    }

    #[test]
    fn reason_never_makes_a_message_that_cannot_be_sent() {
        let entry = Entry::new("http://h/0/dead", "body");
        assert_eq!(reason_of(&with_reason(entry.clone(), "why\0not")), Some("why\u{FFFD}not"));
        assert_eq!(reason_of(&with_reason(entry.clone(), "")), None);
        let long = "x".repeat(2 * MAX_REASON_CHARS);
        assert_eq!(reason_of(&with_reason(entry.clone(), &long)).map(str::len), Some(MAX_REASON_CHARS));
        let huge = Entry::new("http://h/0/dead", "x".repeat(MAX_MESSAGE_BYTES));
        assert_eq!(reason_of(&with_reason(huge, "why")), None);
        let stored = Entry::new("http://h/0/dead", "x".repeat(2 * MAX_MESSAGE_BYTES));
        assert_eq!(reason_of(&with_reason(stored, "why")), Some("why"));
        let full = (0..10).fold(entry, |entry, number| {
            entry.message_attributes(format!("a{number}"), MessageAttributeValue::string("v"))
        });
        assert_eq!(reason_of(&with_reason(full, "why")), None);
    }
}
