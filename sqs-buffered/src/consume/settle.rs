//! What becomes of a message: the only place where an outcome becomes a delete, a delay, a dead letter, or another run.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use sqs_client::client::{Execute, Unopened};
use sqs_client::random;
use sqs_client::types::{Message, MessageSystemAttributeName as Name};
use tokio::time::sleep;
use tracing::Instrument as _;

use crate::consume::batch::SharedError;
use crate::consume::group::Work;
use crate::consume::handler::HandlerFailure;
use crate::consume::lines::{Arrived, GroupAdvance, Key};
use crate::consume::work::Verdict;
use crate::observe::receives::{ReceiveEvent, Settled};
use crate::receive::back_off::BackOff;
use crate::receive::delivery::Delivery;
use crate::receive::opening::may_rest;
use crate::receive::pump::pause;
use crate::settings::AfterFailure;
use crate::span::messaging_span;

/// The error of a handler: any error converts into it with `?`.
pub type HandlerError = Box<dyn Error + Send + Sync>;

/// What happens to a message after its handler. After an error, a panic or a timeout, its handler runs again after the [back-off](BackOff).
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

/// A failed run of a handler, for the policy of [`on_error`](crate::consume::builder::ConsumerBuilder::on_error). `Display` shows the error
/// with all its causes.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'f> {
    failure: &'f HandlerFailure,
    delivery: &'f Delivery,
}

/// A policy for failures.
pub(crate) type OnError = Arc<dyn Fn(&Failure<'_>) -> Option<Outcome> + Send + Sync>;

impl<'f> Failure<'f> {
    pub(crate) fn new(failure: &'f HandlerFailure, delivery: &'f Delivery) -> Self {
        Self { failure, delivery }
    }

    /// The error that the handler returned; `None` after a panic and a timeout.
    pub fn error(&self) -> Option<&'f (dyn Error + Send + Sync + 'static)> {
        let HandlerFailure::Error(error) = self.failure else { return None };
        // The error of a whole batch.
        Some(error.downcast_ref::<SharedError>().map_or(&**error, |shared| &*shared.0))
    }

    /// Whether the handler panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.failure, HandlerFailure::Panic(_))
    }

    /// Whether the handler took longer than its [timeout](crate::consume::builder::ConsumerBuilder::handler_timeout).
    pub fn is_timeout(&self) -> bool {
        matches!(self.failure, HandlerFailure::TimedOut(_))
    }

    /// The message.
    pub fn message(&self) -> &'f Arc<Message> {
        &self.delivery.message
    }

    /// How often the message was handled or received, including this time, as in [`ReceiveCount`](crate::consume::extract::ReceiveCount).
    pub fn receive_count(&self) -> u32 {
        self.delivery.attempts()
    }

    /// The time since the message was sent, by the clocks of SQS and of this machine; `None` if the service does not say when.
    #[expect(clippy::disallowed_methods, reason = "it is compared with a time of SQS")]
    pub fn age(&self) -> Option<Duration> {
        let sent = Duration::from_millis(self.delivery.number(&Name::SentTimestamp)?);
        Some(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.saturating_sub(sent))
    }

    pub(crate) fn event(&self) -> ReceiveEvent<'f> {
        let message_id = &**self.delivery.id();
        match self.failure {
            HandlerFailure::Error(error) => ReceiveEvent::HandlerFailed { message_id, error: &**error },
            HandlerFailure::Panic(text) => ReceiveEvent::HandlerPanicked { message_id, text },
            HandlerFailure::TimedOut(timeout) => {
                ReceiveEvent::HandlerTimedOut { message_id, timeout: *timeout }
            }
        }
    }
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

/// A policy for failures: a message whose handler fails becomes a dead letter, with the error as its reason, when its
/// [receive count](Failure::receive_count) has reached this number. 0 counts as 1. Before, it is retried after the [back-off](BackOff). The
/// queue needs a dead-letter queue. A receive that ended without a run, for example at a shutdown, counts, too.
///
/// The `maxReceiveCount` of the queue must be at least this number: otherwise SQS moves the message first, without a reason. A larger one
/// remains the limit for messages whose handlers never end, for example because the process dies.
///
/// ```no_run
/// # async fn handle(_: String) {}
/// # fn example(client: sqs_client::Client, url: &str) {
/// use sqs_buffered::{Consumer, dead_letter_after};
///
/// let consumer = Consumer::builder(client, url).on_error(dead_letter_after(3)).handler(handle);
/// # }
/// ```
pub fn dead_letter_after(attempts: u32) -> impl Fn(&Failure<'_>) -> Option<Outcome> + Send + Sync + 'static {
    move |failure| {
        let is_last = failure.receive_count() >= attempts;
        is_last.then(|| Outcome::DeadLetter(failure.to_string()))
    }
}

/// What happens on FIFO queues when the handler of a message fails, or its payload does not load ([`Unopened::Release`]).
///
/// SQS counts a receive of each message of the group when one of them is received again. So when SQS moves the failing message to the
/// dead-letter queue, it moves those behind it soon after, although they were never handled.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Poison {
    /// The consumer keeps the group, and runs the handler of the message again after the [back-off](BackOff). A run counts as a
    /// receive, and so does an attempt to load the payload. When the `maxReceiveCount` of the redrive policy is reached, the consumer
    /// sends this message alone to the dead-letter queue, with the error as the message attribute `DeadLetterReason`, deletes it, and
    /// goes on with the group. A message whose payload did not load is sent as it was received; its stored payload is not deleted.
    ///
    /// Needs a redrive policy, and the permissions `sqs:GetQueueAttributes` and `sqs:GetQueueUrl`, and `sqs:SendMessage` on the
    /// dead-letter queue. Without them, while half of the places are occupied by messages that wait, at a shutdown, and when the
    /// lease of the message ends: as [`LeaveToSqs`](Self::LeaveToSqs).
    #[default]
    InPlace,
    /// The consumer gives the group back: the message becomes visible after the back-off, and SQS decides.
    LeaveToSqs,
}

/// The longest pause of a message whose handler returned `Overloaded`: it runs again soon after the overload is over.
const MAX_REST: Duration = Duration::from_secs(5);

/// The minimum pause of `Outcome::Retry`.
const MIN_RETRY: Duration = Duration::from_millis(100);

/// The minimum delay of a message whose delete failed: an immediate receive would not help.
const SOON: Duration = Duration::from_secs(1);

/// What happens to a message next.
#[derive(Clone, Debug, PartialEq)]
enum Next {
    /// Its handler runs again after this pause. Its line waits.
    Rest(Duration),
    /// Its handler runs at once.
    Again,
    Settle(End),
}

/// How the delivery of a message ends.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Delete(Settled),
    DeadLetter(String),
    /// It is given back, after all messages of its line that wait behind it.
    GiveBack(Return),
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
    /// Left hidden, by its outcome.
    Kept,
    /// Left hidden, since another consumer handles it: each receive until then would count towards the dead-letter queue.
    Left,
}

/// What the decision depends on, beside the verdict.
#[derive(Clone, Copy, Debug)]
struct Facts {
    back_off: BackOff,
    /// How many times the message was received.
    receives: u32,
    /// The same, with its runs in place.
    attempts: u32,
    /// How many times in a row its handler returned `Overloaded` before, or it could not be opened.
    overloads: u32,
    /// Whether there are places for another message that waits.
    may_rest: bool,
    /// Whether a message that could not be opened may wait.
    may_stay_unopened: bool,
    /// How many attempts the redrive policy allows, if a message that failed or could not be opened may be tried again in place.
    allowed: Option<u32>,
}

/// Decides what happens to a message after its handler. `chance` is from 0 to 1.
fn decide(verdict: Verdict, facts: Facts, chance: f64) -> Next {
    let Facts { back_off, receives, attempts, overloads, may_rest, may_stay_unopened, allowed } = facts;
    let end = match verdict {
        Verdict::Outcome(Outcome::Ack) => End::Delete(Settled::Acked),
        Verdict::Outcome(Outcome::Nack(delay)) => End::GiveBack(Return::After(delay)),
        Verdict::Outcome(Outcome::Release) => End::GiveBack(Return::Released),
        Verdict::Outcome(Outcome::Keep) => End::GiveBack(Return::Kept),
        Verdict::Outcome(Outcome::Retry(wanted)) if may_rest => return Next::Rest(wanted.max(MIN_RETRY)),
        Verdict::Outcome(Outcome::Retry(wanted)) => End::GiveBack(Return::After(wanted.max(SOON))),
        Verdict::Outcome(Outcome::Overloaded) => {
            return Next::Rest(pause(overloads.saturating_add(1), chance).min(MAX_REST));
        }
        Verdict::Outcome(Outcome::DeadLetter(reason)) | Verdict::Unopened(Unopened::DeadLetter, reason) => {
            End::DeadLetter(reason)
        }
        // One that could not be opened is sent as it was received.
        Verdict::Failed { reason, .. } | Verdict::Unopened(Unopened::Release, reason)
            if allowed.is_some_and(|allowed| attempts >= allowed) =>
        {
            End::DeadLetter(reason)
        }
        Verdict::Failed { .. } | Verdict::Unopened(Unopened::Release, _) if allowed.is_some() && may_rest => {
            return Next::Rest(back_off.delay(attempts, chance));
        }
        Verdict::Failed { .. } => End::GiveBack(Return::After(back_off.delay(attempts, chance))),
        Verdict::Unopened(Unopened::Delete, _) => End::Delete(Settled::Discarded),
        Verdict::Unopened(Unopened::Retry, _) if may_stay_unopened => {
            return Next::Rest(pause(overloads.saturating_add(1), chance));
        }
        Verdict::Unopened(Unopened::Release, _) => {
            End::GiveBack(Return::Returned(back_off.delay(attempts, chance)))
        }
        // It did not run: the back-off is that of its receives.
        Verdict::Unopened(..) => End::GiveBack(Return::Returned(back_off.delay(receives, chance))),
        Verdict::Busy => End::GiveBack(Return::Left),
        Verdict::Aborted => End::GiveBack(Return::Returned(Duration::ZERO)),
        Verdict::NotYet => return Next::Again,
    };
    Next::Settle(end)
}

/// Why a message waits for the next run of its handler.
#[derive(Clone, Copy, Debug)]
enum Rest {
    Asked,
    Overloaded,
    Unopened,
    Failed,
}

impl<H: Execute> Work<H> {
    /// Settles the first message of a line. When this returns, the next one may start.
    pub(crate) async fn settle(self: &Arc<Self>, key: &Key, entry: Arrived<Delivery>, verdict: Verdict) {
        let (mut why, mut has_succeeded) = (Rest::Asked, false);
        // The policy for failures decides as the handler does. A retry counts as a failure, so that the policy sees how many there were.
        let verdict = match verdict {
            Verdict::Failed { outcome: Some(outcome), panic, .. } => {
                self.note_panic(panic);
                why = Rest::Failed;
                Verdict::Outcome(outcome)
            }
            verdict => verdict,
        };
        let has_failed = matches!(verdict, Verdict::Failed { .. } | Verdict::Unopened(Unopened::Release, _));
        let is_given_back = has_failed || matches!(verdict, Verdict::Outcome(Outcome::Nack(_)));
        let goes_on = self.shared.options.after_failure == AfterFailure::Continue;
        match &verdict {
            Verdict::Outcome(Outcome::Ack) => has_succeeded = true,
            Verdict::Outcome(Outcome::Overloaded) => why = Rest::Overloaded,
            // The next attempt to open it counts as a receive, as the next run of a handler does.
            Verdict::Unopened(Unopened::Release, _) => why = Rest::Failed,
            Verdict::Unopened(..) => why = Rest::Unopened,
            Verdict::Failed { panic, .. } => {
                why = Rest::Failed;
                self.note_panic(panic.clone());
            }
            Verdict::Busy => self.shared.observer.duplicate(),
            _ => {}
        }
        let facts = self.facts(&entry.latest, has_failed).await;
        let next = match decide(verdict, facts, random::unit()) {
            Next::Rest(pause) => return self.rest(key, entry, pause, why).await,
            Next::Again => return self.run_again(key, entry),
            Next::Settle(next) => next,
        };
        let Some(deliveries) = self.together(key, entry, has_succeeded).await else { return };
        match next {
            End::Delete(how) => self.delete(key, deliveries, how).await,
            End::DeadLetter(reason) => self.send_letter(key, deliveries, &reason, facts).await,
            End::GiveBack(how) if goes_on && is_given_back => self.go_on_without(key, deliveries, how).await,
            End::GiveBack(how) => self.give_back(key, deliveries, how).await,
        }
    }

    async fn facts(&self, latest: &Delivery, has_failed: bool) -> Facts {
        let shared = &self.shared;
        let may_run_in_place = has_failed
            && shared.options.poison == Poison::InPlace
            && shared.options.after_failure == AfterFailure::FailGroup
            && shared.source.is_fifo()
            && !shared.stop.is_finishing()
            && !latest.lease.is_lost();
        let allowed = async {
            tokio::select! {
                biased;
                () = shared.stop.finishing() => None,
                allowed = shared.dead_letters.allowed_attempts(&shared.source) => allowed,
            }
        };
        let allowed = if may_run_in_place { allowed.await } else { None };
        // The lookup takes time.
        let may_wait = !may_run_in_place || !(shared.stop.is_finishing() || latest.lease.is_lost());
        let (resting, places) = (self.resting.load(Relaxed), self.places.load(Relaxed));
        let may_rest = may_wait && may_rest(resting, places);
        let may_stay_unopened = shared.opener.may_keep(latest.lease.received(), resting, places);
        Facts {
            back_off: shared.settings.back_off,
            receives: latest.receive_count(),
            attempts: latest.attempts(),
            overloads: latest.overloads,
            may_rest,
            may_stay_unopened,
            allowed,
        }
    }

    /// Keeps a message for a pause, and puts it back at the front of its line, with later deliveries of it.
    async fn rest(&self, key: &Key, mut entry: Arrived<Delivery>, pause: Duration, why: Rest) {
        let latest = &mut entry.latest;
        let grows = matches!(why, Rest::Overloaded | Rest::Unopened);
        latest.overloads = if grows { latest.overloads.saturating_add(1) } else { 0 };
        let is_failing = matches!(why, Rest::Failed | Rest::Unopened);
        if matches!(why, Rest::Failed) && self.shared.source.is_fifo() {
            let (message_id, attempts, retry_in) = (&**latest.id(), latest.attempts(), pause);
            self.shared.observer.report(&ReceiveEvent::RetriedInPlace { message_id, attempts, retry_in });
        }
        latest.failures += u32::from(matches!(why, Rest::Failed));
        self.resting.fetch_add(1, Relaxed);
        let failing = is_failing.then(|| self.count_failing());
        self.shared.woken.notify_one();
        tokio::select! {
            biased;
            () = self.shared.stop.finishing() => {}
            () = entry.latest.lease.lost() => {}
            () = sleep(pause) => {}
        }
        self.resting.fetch_sub(1, Relaxed);
        drop(failing);
        self.shared.woken.notify_one();
        self.run_again(key, entry);
    }

    /// Puts a message back at the front of its line, with later deliveries of it.
    pub(crate) fn run_again(&self, key: &Key, mut entry: Arrived<Delivery>) {
        let mut lines = self.lines();
        lines.take_more(key).into_iter().for_each(|later| entry.renew(later));
        lines.run_again(key, entry);
        // None is late: they were taken under the same lock.
        let _ = lines.done(key);
    }

    /// All deliveries of a message, the latest first. `None` if its lease is lost: then a later delivery of the message runs, or without
    /// one, the group starts again from the lost message. But if its handler has succeeded, the later delivery deletes it.
    async fn together(
        &self,
        key: &Key,
        entry: Arrived<Delivery>,
        has_succeeded: bool,
    ) -> Option<Vec<Delivery>> {
        let mut more = self.lines().take_more(key);
        if let Some(latest) = more.last_mut() {
            latest.follow(&entry.latest);
        }
        if !entry.latest.lease.is_lost() {
            return Some(more.into_iter().rev().chain(entry.into_deliveries()).collect());
        }
        entry.into_deliveries().for_each(Delivery::forget);
        if has_succeeded && more.last().is_some_and(|latest| !latest.lease.is_lost()) {
            return Some(more.into_iter().rev().collect());
        }
        if let Some(latest) = more.pop() {
            self.run_again(key, Arrived { latest, earlier: more });
        } else {
            self.give_back(key, Vec::new(), Return::Returned(Duration::ZERO)).await;
        }
        None
    }

    /// Deletes all deliveries of a message.
    async fn delete(self: &Arc<Self>, key: &Key, mut deliveries: Vec<Delivery>, how: Settled) {
        deliveries.iter_mut().for_each(Delivery::makes_room);
        if self.shared.options.advance == GroupAdvance::AfterHandler && self.shared.source.is_fifo() {
            deliveries.extend(self.lines().done(key));
            return self.in_background(Arc::clone(self).delete_behind(deliveries, how));
        }
        if self.delete_all(&mut deliveries, how).await {
            // Those whose deletes failed are given back.
            drop(deliveries);
            let late = self.lines().done(key);
            if !late.is_empty() {
                self.in_background(Arc::clone(self).delete_behind(late, Settled::Acked));
            }
        } else {
            let delay = self.delay_after_failed_delete(&deliveries);
            self.give_back(key, deliveries, Return::Returned(delay)).await;
        }
    }

    /// Deletes a message for which its line does not wait.
    async fn delete_behind(self: Arc<Self>, mut deliveries: Vec<Delivery>, how: Settled) {
        if !self.delete_all(&mut deliveries, how).await {
            let delay = self.delay_after_failed_delete(&deliveries);
            for delivery in deliveries {
                delivery.give_back_after(delay);
            }
        }
    }

    /// One success is enough: on FIFO queues, the handles of earlier deliveries have expired.
    async fn delete_all(&self, deliveries: &mut [Delivery], how: Settled) -> bool {
        let source = &self.shared.source;
        let span = settle_span(&source.url, "delete", deliveries.len());
        let deletes = deliveries.iter_mut().map(|delivery| delivery.delete(source, how));
        join_all(deletes).instrument(span).await.iter().any(Result::is_ok)
    }

    /// How long a message stays hidden after its delete failed: its handler will run again, and must not spin.
    fn delay_after_failed_delete(&self, deliveries: &[Delivery]) -> Duration {
        let receives = deliveries.first().map_or(1, Delivery::receive_count);
        self.shared.settings.back_off.delay(receives, random::unit()).max(SOON)
    }

    /// Sends a message to the dead-letter queue, and deletes it. A copy of an opened delivery has its own payload. The copy of one
    /// that is not opened shares it, so no delivery may delete it.
    async fn send_letter(
        self: &Arc<Self>,
        key: &Key,
        mut deliveries: Vec<Delivery>,
        reason: &str,
        facts: Facts,
    ) {
        let shared = &self.shared;
        let opened = deliveries.iter().position(Delivery::is_open);
        if opened.is_none() {
            deliveries.iter_mut().for_each(Delivery::leave_payload);
        }
        let Some(delivery) = deliveries.get(opened.unwrap_or_default()) else { return };
        match shared.dead_letters.send(&shared.source, delivery, reason).await {
            Ok(()) => self.delete(key, deliveries, Settled::DeadLettered).await,
            Err(reason) => {
                shared
                    .observer
                    .report(&ReceiveEvent::DeadLetterFailed { message_id: delivery.id(), reason: &reason });
                let how = Return::After(facts.back_off.delay(facts.attempts, random::unit()));
                match shared.options.after_failure {
                    AfterFailure::Continue => self.go_on_without(key, deliveries, how).await,
                    _ => self.give_back(key, deliveries, how).await,
                }
            }
        }
    }

    /// Gives back a message alone: its line goes on.
    async fn go_on_without(&self, key: &Key, deliveries: Vec<Delivery>, how: Return) {
        self.all_back(deliveries, how).await;
        let late = self.lines().done(key);
        self.all_back(late, how).await;
    }

    /// Gives back the messages of a line that have not started, the last one first, and then the message before them. So the
    /// next receive starts with that message.
    async fn give_back(&self, key: &Key, deliveries: Vec<Delivery>, how: Return) {
        let (rest, late) = {
            let mut lines = self.lines();
            (lines.take_waiting(key), lines.give_back(key))
        };
        let head = late.into_iter().rev().chain(deliveries).collect();
        self.give_back_in_order(rest, head, how).await;
        let late = self.lines().done(key);
        drop(late);
    }

    /// Gives back messages of a line, the last one first, and then its head.
    pub(crate) async fn give_back_in_order(
        &self,
        rest: Vec<Arrived<Delivery>>,
        head: Vec<Delivery>,
        how: Return,
    ) {
        let span = settle_span(&self.shared.source.url, "change_visibility", rest.len() + head.len());
        let giving = async {
            let rest = rest.into_iter().rev().flat_map(Arrived::into_deliveries);
            self.all_back(rest, Return::Returned(Duration::ZERO)).await;
            self.all_back(head, how).await;
        };
        giving.instrument(span).await;
    }

    /// Errors are counted and reported where they happen.
    async fn all_back(&self, deliveries: impl IntoIterator<Item = Delivery>, how: Return) {
        let source = &self.shared.source;
        let back = async |delivery: Delivery| match how {
            Return::After(delay) => drop(delivery.hide(source, delay, Settled::Nacked).await),
            Return::Released => drop(delivery.hide(source, Duration::ZERO, Settled::Released).await),
            Return::Returned(delay) => drop(delivery.hide(source, delay, Settled::Returned).await),
            Return::Kept => delivery.keep(Settled::Kept),
            Return::Left => delivery.keep(Settled::Returned),
        };
        join_all(deliveries.into_iter().map(back)).await;
    }
}

fn settle_span(queue_url: &str, operation: &'static str, messages: usize) -> tracing::Span {
    messaging_span!(DEBUG "sqs.settle", "client", operation, "settle", queue_url,
        messaging.batch.message_count = messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts {
        back_off: BackOff::Exponential { first: Duration::from_secs(2), max: Duration::from_secs(900) },
        receives: 2,
        attempts: 4,
        overloads: 0,
        may_rest: true,
        may_stay_unopened: false,
        allowed: None,
    };

    fn failed() -> Verdict {
        Verdict::Failed { reason: "bad".to_owned(), panic: None, outcome: None }
    }

    #[test]
    fn failed_message_rests_until_its_attempts_are_used_up() {
        let seconds = Duration::from_secs;
        let after = |facts| decide(failed(), facts, 1.0);
        assert_eq!(after(FACTS), Next::Settle(End::GiveBack(Return::After(seconds(16)))));
        assert_eq!(after(Facts { allowed: Some(5), ..FACTS }), Next::Rest(seconds(16)));
        let crowded = Facts { allowed: Some(5), may_rest: false, ..FACTS };
        assert_eq!(after(crowded), Next::Settle(End::GiveBack(Return::After(seconds(16)))));
        for allowed in [1, 4] {
            let facts = Facts { allowed: Some(allowed), may_rest: false, ..FACTS };
            assert_eq!(after(facts), Next::Settle(End::DeadLetter("bad".to_owned())));
        }
    }

    #[test]
    fn message_whose_payload_does_not_load_rests_until_its_attempts_are_used_up() {
        let seconds = Duration::from_secs;
        let after = |facts| decide(Verdict::Unopened(Unopened::Release, "missing".to_owned()), facts, 1.0);
        assert_eq!(after(Facts { allowed: Some(5), ..FACTS }), Next::Rest(seconds(16)));
        let dead = Next::Settle(End::DeadLetter("missing".to_owned()));
        assert_eq!(after(Facts { allowed: Some(4), ..FACTS }), dead);
        let given_back = Next::Settle(End::GiveBack(Return::Returned(seconds(16))));
        assert_eq!(after(FACTS), given_back);
        assert_eq!(after(Facts { allowed: Some(5), may_rest: false, ..FACTS }), given_back);
    }

    #[test]
    fn message_that_did_not_run_waits_for_the_back_off_of_its_receives() {
        let unopened = Verdict::Unopened(Unopened::Retry, String::new());
        let next = decide(unopened, Facts { allowed: Some(1), ..FACTS }, 1.0);
        assert_eq!(next, Next::Settle(End::GiveBack(Return::Returned(Duration::from_secs(4)))));
        let busy = Next::Settle(End::GiveBack(Return::Left));
        assert_eq!(decide(Verdict::Busy, FACTS, 0.0), busy);
    }

    #[test]
    fn retry_without_places_is_a_nack_and_overload_always_rests() {
        let crowded = Facts { may_rest: false, ..FACTS };
        let retry = |facts| decide(Verdict::Outcome(Outcome::Retry(Duration::ZERO)), facts, 1.0);
        assert_eq!(retry(FACTS), Next::Rest(MIN_RETRY));
        assert_eq!(retry(crowded), Next::Settle(End::GiveBack(Return::After(SOON))));
        let rests: Vec<_> = [0, 1, 9]
            .map(|overloads| {
                decide(Verdict::Outcome(Outcome::Overloaded), Facts { overloads, ..crowded }, 1.0)
            })
            .into();
        let rest = |millis| Next::Rest(Duration::from_millis(millis));
        assert_eq!(rests, [rest(200), rest(400), Next::Rest(MAX_REST)]);
    }
}
