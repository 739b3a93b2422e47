//! Receives messages while places are free.
//!
//! ```text
//! free places -> receive, a separate task -> leases -> channel        stop: no new receives, running ones finish,
//!      ^                                        |                           and their messages are given back
//!      +---- settled messages free their places +--> receiver | consumer
//! ```

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;

use sqs_client::client::{CallOptions, Execute, OperationError, Retries};
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::operation::receive_message::{ReceiveMessageInput, ReceiveMessageOutput};
use sqs_client::random;
use sqs_client::types::{
    Message, MessageSystemAttributeName, MessageSystemAttributeName as Name, QueueAttributeName,
};
use sqs_client::wire::limits::RECEIVE_ATTEMPT_SECONDS;
use sqs_client::wire::service_error::ErrorCode;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use crate::attempt::{ATTEMPT_TIMEOUT, AttemptError, attempt};
use crate::client::{BufferedClient, checked_change};
use crate::entry::Ticket;
use crate::error::{EnqueueError, ReceiveError, ReceiveErrorKind, SendError, is_transient};
use crate::lane::request::Change;
use crate::observe::receives::{Observer, ReceiveEvent, ReceiveStats};
use crate::receive::back_off::BackOff;
use crate::receive::credits::{Reservation, SharedCredits};
use crate::receive::delivery::Delivery;
use crate::receive::lease::{Held, Lease, Leases, renew_leases};
use crate::receive::lease_table::Schedule;
use crate::receive::renewal_thread::RenewalThread;
use crate::receive::settings::Settings;
use crate::span::messaging_span;

/// The queue of a receiver or consumer, with its client. Clones share both.
#[derive(Clone, Debug)]
pub(crate) struct Source<H: Execute> {
    pub(crate) client: BufferedClient<H>,
    pub(crate) url: Arc<str>,
    /// Where visibility changes go, if not through the client.
    pub(crate) renewals: Option<RenewalThread<H>>,
}

impl<H: Execute> Source<H> {
    pub(crate) fn new(client: &BufferedClient<H>, queue_url: &str) -> Self {
        Self { client: client.clone(), url: queue_url.into(), renewals: None }
    }

    pub(crate) fn is_fifo(&self) -> bool {
        crate::entry::is_fifo(&self.url)
    }

    /// The client of visibility changes.
    fn changes(&self) -> &BufferedClient<H> {
        self.renewals.as_ref().map_or(&self.client, |renewals| &renewals.client)
    }

    /// Hides a message for this many seconds from now. Not attempted after `until`: another consumer may have the message then.
    pub(crate) async fn renew(
        &self,
        held: &Arc<Held>,
        seconds: u32,
        until: Instant,
    ) -> Result<(), SendError> {
        let timeout = Duration::from_secs(seconds.into());
        let change = checked_change(&self.url, held.receipt_handle.as_ref().to_owned(), timeout)?;
        let change = Change { is_over: Some(Arc::clone(&held.is_over)), ..change };
        self.changes().enqueue_change(&self.url, change, Some(until)).await?.await
    }

    /// Gives a message back, whose lease has ended: it stays hidden for `delay`. Fractions of a second are rounded up. Not attempted
    /// after `until`.
    pub(crate) async fn delay(&self, handle: &str, delay: Duration, until: Instant) -> Result<(), SendError> {
        let change = checked_change(&self.url, handle.to_owned(), delay)?;
        self.changes().enqueue_change(&self.url, change, Some(until)).await?.await
    }

    /// Deletes a message by the handle of its opened form. `own` is the handle of SQS, by which its visibility is changed.
    pub(crate) async fn enqueue_delete(
        &self,
        handle: &str,
        own: &str,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let admitted = self.client.enqueue_delete(&self.url, handle).await?;
        if handle != own || self.renewals.is_some() {
            self.changes().supersede_visibility(&self.url, own);
        }
        Ok(admitted)
    }
}

/// The tasks of a receiver, and the channel of its messages. When it is dropped, receiving stops. The tasks end when
/// messages of running receives have arrived and were given back.
#[derive(Debug)]
pub(crate) struct Intake<H: Execute> {
    pub(crate) source: Source<H>,
    pub(crate) observer: Arc<Observer>,
    credits: Arc<SharedCredits>,
    messages: mpsc::UnboundedReceiver<Vec<Delivery>>,
    stop: Stop,
    pump: Option<JoinHandle<Result<(), ReceiveError>>>,
    leases: Option<JoinHandle<()>>,
    /// The result of the task that receives.
    result: Result<(), ReceiveError>,
    /// The result of the task that renews leases.
    kept: Result<(), ReceiveError>,
}

impl<H: Execute> Intake<H> {
    /// Starts receiving; `None` if `stop` comes first.
    pub(crate) async fn start(
        source: Source<H>,
        settings: &Settings,
        credits: Arc<SharedCredits>,
        observer: Arc<Observer>,
        stop: Stop,
    ) -> Result<Option<Self>, ReceiveError> {
        if Handle::try_current().is_err() {
            return Err(ReceiveError::no_runtime());
        }
        let asked = visibility_seconds(&source, settings, &observer, &stop).await?;
        let Some(visibility_seconds) = asked else { return Ok(None) };
        let schedule = Schedule::new(visibility_seconds, settings.max_lease);
        let leases = Arc::new(Leases::new(schedule, Arc::clone(&observer)));
        let (out, messages) = mpsc::unbounded_channel();
        let pump = Pump {
            source: source.clone(),
            terms: Terms {
                visibility_seconds,
                wait: settings.wait_time,
                attempt_timeout: settings.attempt_timeout,
            },
            leases: Arc::clone(&leases),
            credits: Arc::clone(&credits),
            observer: Arc::clone(&observer),
            stop: stop.clone(),
            is_proven: Arc::default(),
            pace: PollPace::default(),
            back_off: settings.back_off,
            out,
        };
        let renewing = renew_leases(leases, source.clone(), stop.clone());
        let leases = match &source.renewals {
            None => tokio::spawn(renewing),
            Some(thread) => thread.run(renewing).map_err(|error| ReceiveError::no_thread(&error))?,
        };
        let leases = Some(leases);
        let pump = Some(tokio::spawn(pump.run()));
        Ok(Some(Self {
            source,
            observer,
            credits,
            messages,
            stop,
            pump,
            leases,
            result: Ok(()),
            kept: Ok(()),
        }))
    }

    /// The messages of the next receive that returns any; `None` after the last one.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Option<Vec<Delivery>> {
        self.messages.recv().await
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<Delivery>>> {
        self.messages.poll_recv(cx)
    }

    /// Starts no more receives. Running ones finish, and their messages still arrive.
    pub(crate) fn stop(&self) {
        self.stop.finish();
    }

    /// Cancels running receives.
    pub(crate) fn abandon_receives(&self) {
        self.stop.cut();
    }

    /// Waits until receiving has ended. An error if it ended by itself.
    ///
    /// # Cancel safety
    /// You can drop the future and call it again.
    pub(crate) async fn pumped(&mut self) -> Result<(), ReceiveError> {
        if let Some(pump) = &mut self.pump {
            let ended = pump.await;
            self.pump = None;
            self.result = ended.unwrap_or_else(|error| Err(ReceiveError::broken("receiving", &error)));
        }
        self.result.clone()
    }

    /// Waits until receiving has ended and every message is settled. An error if either task ended by itself.
    pub(crate) async fn finish(&mut self) -> Result<(), ReceiveError> {
        // Messages that arrived are still given back, whatever the result.
        let pumped = self.pumped().await;
        if let Some(leases) = &mut self.leases {
            let ended = leases.await;
            self.leases = None;
            self.kept = ended.map_err(|error| ReceiveError::broken("the keeping of leases", &error));
        }
        pumped.and_then(|()| self.kept.clone())
    }

    /// The error if receiving has already ended by itself.
    pub(crate) fn result(&self) -> Result<(), ReceiveError> {
        self.result.clone()
    }

    pub(crate) fn stats(&self) -> ReceiveStats {
        self.observer.tally.snapshot(self.credits.levels())
    }
}

impl<H: Execute> Drop for Intake<H> {
    fn drop(&mut self) {
        self.stop();
        self.messages.close();
        let mut unwanted = Vec::new();
        while let Ok(batch) = self.messages.try_recv() {
            unwanted.extend(batch);
        }
        give_back(unwanted);
    }
}

/// Everything that the task needs.
struct Pump<H: Execute> {
    pub(crate) source: Source<H>,
    terms: Terms,
    leases: Arc<Leases>,
    pub(crate) credits: Arc<SharedCredits>,
    pub(crate) observer: Arc<Observer>,
    /// Stops all receives.
    pub(crate) stop: Stop,
    /// Whether a receive has ever succeeded, even without messages.
    is_proven: Arc<AtomicBool>,
    pace: PollPace,
    /// For damaged messages.
    pub(crate) back_off: BackOff,
    /// The messages of each receive. Places bound their number.
    out: mpsc::UnboundedSender<Vec<Delivery>>,
}

/// The end of a receive: the places that it reserved, and its result.
type Ended = (Reservation, Result<Option<Answer>, ReceiveError>);

/// Whatever the reason, no more messages arrive.
impl<H: Execute> Drop for Pump<H> {
    fn drop(&mut self) {
        self.leases.close();
    }
}

impl<H: Execute> Pump<H> {
    /// Receives until `stop`, until the channel is closed, or until a permanent failure: the first receive is refused,
    /// a receive panics, or the client is closed, so that no message can be settled.
    pub(crate) async fn run(mut self) -> Result<(), ReceiveError> {
        let mut receives: JoinSet<Ended> = JoinSet::new();
        let mut result = Ok(());
        loop {
            if self.source.client.is_closed() && !self.stop.is_finishing() {
                result = result.and(Err(closed()));
            }
            if result.is_err() {
                // The other receives would continue forever.
                self.stop.finish();
            }
            let is_stopping = self.stop.is_finishing() || self.out.is_closed();
            if is_stopping && receives.is_empty() {
                return result;
            }
            let next = if is_stopping { None } else { self.begin_due(&mut receives) };
            tokio::select! {
                biased;
                Some(ended) = receives.join_next() => {
                    match ended {
                        Ok((asked, Ok(Some(answer)))) => self.deliver(asked, answer),
                        Ok((_, Ok(None))) => {}
                        Ok((_, Err(error))) => result = result.and(Err(error)),
                        Err(error) => result = result.and(Err(ReceiveError::broken("a receive", &error))),
                    }
                }
                () = self.credits.freed(), if !is_stopping => {}
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
                () = self.stop.finishing(), if !is_stopping => {}
                () = self.out.closed(), if !is_stopping => {}
            }
        }
    }

    /// Begins receives. Returns the time to try again; `None` if that depends only on messages.
    fn begin_due(&self, receives: &mut JoinSet<Ended>) -> Option<Instant> {
        loop {
            let now = Instant::now();
            if self.pace.is_slow() && !receives.is_empty() {
                return None;
            }
            if let Some(until) = self.pace.pause(now) {
                return Some(until);
            }
            match self.credits.ask(now) {
                Ok(asked) => self.begin(receives, asked),
                Err(next) => return next,
            }
        }
    }

    fn begin(&self, receives: &mut JoinSet<Ended>, asked: Reservation) {
        let (source, terms, stop) = (self.source.clone(), self.terms, self.stop.clone());
        let (observer, is_proven) = (Arc::clone(&self.observer), Arc::clone(&self.is_proven));
        if receives.is_empty() {
            observer.asks();
        }
        let span = span(&source.url);
        let receive = async move {
            let result =
                poll(&source, terms, asked.messages(), &observer, &stop, || !is_proven.load(Relaxed)).await;
            if let Ok(Some(answer)) = &result {
                is_proven.store(true, Relaxed);
                tracing::Span::current().record("messaging.batch.message_count", answer.messages.len());
            }
            (asked, result.map_err(|error| ReceiveError::refused(&source.url, error)))
        };
        receives.spawn(receive.instrument(span));
    }

    /// Opens leases that start at the response, and delivers the messages. Damaged messages are given back; on FIFO queues, the
    /// messages behind them in their groups go first, so that none overtakes.
    fn deliver(&mut self, asked: Reservation, answer: Answer) {
        let messages = answer.messages.len() + answer.damaged.len();
        self.pace.answered(messages, answer.elapsed, answer.at, random::unit());
        self.observer.report(&ReceiveEvent::Received { messages, elapsed: answer.elapsed });
        let good = answer.messages.len();
        let mut deliveries = self.leased(asked, answer);
        let damaged = deliveries.split_off(good.min(deliveries.len()));
        let places: Vec<Place> = damaged.iter().map(Place::of).collect();
        let overtakes = |delivery: &mut Delivery| places.iter().any(|place| place.is_before(delivery));
        if self.source.is_fifo() {
            give_back(deliveries.extract_if(.., overtakes).collect());
        }
        for damaged in damaged.into_iter().rev() {
            self.observer.report(&ReceiveEvent::Damaged { message_id: damaged.id() });
            // The message may be damaged again, so it is not received again at once.
            let delay = self.back_off.delay(damaged.receive_count(), random::unit());
            damaged.give_back_after(delay);
        }
        if !deliveries.is_empty()
            && let Err(mpsc::error::SendError(unwanted)) = self.out.send(deliveries)
        {
            give_back(unwanted);
        }
    }

    /// The messages of a response, the damaged ones last, each with its lease and credit.
    fn leased(&self, asked: Reservation, answer: Answer) -> Vec<Delivery> {
        let messages: Vec<Message> = answer.messages.into_iter().chain(answer.damaged).collect();
        let names: Vec<(Arc<str>, Arc<str>)> = messages
            .iter()
            .map(|message| {
                let handle = message.receipt_handle().unwrap_or_default();
                // Compatible services may send no id. The receipt handle identifies the message as well.
                let id = message.message_id().filter(|id| !id.is_empty()).unwrap_or(handle);
                (id.into(), handle.into())
            })
            .collect();
        let leases = Lease::open(&self.leases, answer.at, names);
        let group = |message: &Message| {
            message.attributes()?.get(&Name::MessageGroupId).map(|group| Arc::from(group.as_str()))
        };
        let credits = asked.answered(messages.iter().map(group));
        let together = messages.into_iter().zip(leases).zip(credits);
        let delivery = |((message, lease), credit)| {
            let (leases, observer) = (Arc::clone(&self.leases), Arc::clone(&self.observer));
            Delivery::new(message, answer.span.clone(), lease, credit, leases, observer)
        };
        together.map(delivery).collect()
    }
}

/// The place of a message in its group.
#[derive(Debug)]
pub(crate) struct Place {
    group: Option<String>,
    sequence: Option<u128>,
}

impl Place {
    pub(crate) fn of(delivery: &Delivery) -> Self {
        let group = delivery.attribute(&Name::MessageGroupId).map(str::to_owned);
        Self { group, sequence: delivery.number(&Name::SequenceNumber) }
    }

    /// Whether a message is of the same group.
    pub(crate) fn is_of_group(&self, delivery: &Delivery) -> bool {
        delivery.attribute(&Name::MessageGroupId) == self.group.as_deref()
    }

    /// Whether a message comes after this place in its group.
    pub(crate) fn is_before(&self, delivery: &Delivery) -> bool {
        self.is_of_group(delivery) && delivery.number(&Name::SequenceNumber) >= self.sequence
    }
}

fn closed() -> ReceiveError {
    let text = "the buffered client is closed: received messages could not be deleted";
    ReceiveError::new(ReceiveErrorKind::Closed, text)
}

/// Gives messages back in reverse order, so that the first one of a group becomes visible last.
pub(crate) fn give_back(mut deliveries: Vec<Delivery>) {
    while let Some(delivery) = deliveries.pop() {
        delivery.give_back_after(Duration::ZERO);
    }
}

fn span(queue_url: &str) -> tracing::Span {
    messaging_span!(DEBUG "sqs.receive", "client", "receive", "receive", queue_url,
        messaging.batch.message_count = Empty)
}

/// The parameters of all receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) visibility_seconds: u32,
    wait: Duration,
    /// How long an attempt may take in addition.
    pub(crate) attempt_timeout: Duration,
}

/// The result of a receive.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The time of the response.
    at: Instant,
    /// The time since its first attempt.
    elapsed: Duration,
    /// The span of the receive.
    pub(crate) span: Span,
    pub(crate) messages: Vec<Message>,
    /// Messages with a wrong checksum.
    damaged: Vec<Message>,
}

/// Receives. `None` if `stop` came before the response; an error if the failure is permanent and `may_refuse` is true: no
/// receive has succeeded before.
pub(crate) async fn poll<H: Execute>(
    source: &Source<H>,
    terms: Terms,
    asked: usize,
    observer: &Observer,
    stop: &Stop,
    may_refuse: impl Fn() -> bool,
) -> Result<Option<Answer>, AttemptError<H::Error>> {
    let mut input = input(source, terms, asked);
    let began = Instant::now();
    let mut id_made = began;
    let mut failures = 0;
    // Whether a response, and any messages in it, was lost.
    let mut is_lost = false;
    let mut is_last = false;
    loop {
        let attempt_began = Instant::now();
        let answered = tokio::select! {
            biased;
            () = stop.is_cut() => {
                observer.tally.receives_abandoned.one();
                return Ok(None);
            }
            answered = receive(source, &input, terms) => answered,
        };
        // With damaged messages, the error has the others.
        let answered = answered.or_else(|error| {
            let output =
                error.client_error().and_then(|error| error.output::<ReceiveMessageOutput>()).cloned();
            output.ok_or(error)
        });
        observer.metrics.receive_ended(attempt_began.elapsed(), answered.is_err());
        let error = match answered {
            Ok(output) => return Ok(Some(answer(output, began))),
            Err(error) => error,
        };
        failures += 1;
        is_lost |= error.is_outcome_unknown();
        let retry_in = pause(failures, random::unit());
        observer.report(&ReceiveEvent::ReceiveFailed { error: &error, failures, retry_in });
        let is_attempt_over = is_attempt_over(&error);
        if !is_attempt_over && !is_transient(&error) && may_refuse() {
            return Err(error);
        }
        // The lost messages became visible, and another consumer deleted them: there is nothing left to give back.
        is_lost &= !is_attempt_over;
        tokio::select! {
            biased;
            () = stop.finishing() => {
                if is_last || !(is_lost && source.is_fifo()) {
                    observer.tally.receives_abandoned.add(usize::from(is_lost));
                    return Ok(None);
                }
                // The attempt id makes SQS return the lost messages once more, so that they can be given back.
                is_last = true;
                input.wait_time_seconds = Some(0);
            }
            () = sleep(retry_in) => {}
        }
        // SQS has forgotten the attempt id, and the hidden messages become visible by themselves.
        if is_attempt_over || id_made.elapsed() >= Duration::from_secs(RECEIVE_ATTEMPT_SECONDS) {
            input.receive_request_attempt_id = attempt_id(source);
            id_made = Instant::now();
        }
    }
}

/// The messages are opened later, each under its own lease.
async fn receive<H: Execute>(
    source: &Source<H>,
    input: &ReceiveMessageInput,
    terms: Terms,
) -> Result<ReceiveMessageOutput, AttemptError<H::Error>> {
    let received = source.client.inner().receive_unopened(input, CallOptions::with_retries(Retries::Never));
    attempt(terms.wait.saturating_add(terms.attempt_timeout), received).await
}

fn input<H: Execute>(source: &Source<H>, terms: Terms, asked: usize) -> ReceiveMessageInput {
    let mut input = ReceiveMessageInput::default();
    input.queue_url = Some(source.url.as_ref().to_owned());
    input.max_number_of_messages = i32::try_from(asked).ok();
    input.visibility_timeout = i32::try_from(terms.visibility_seconds).ok();
    input.wait_time_seconds = i32::try_from(terms.wait.as_secs()).ok();
    input.message_system_attribute_names = Some(vec![MessageSystemAttributeName::All]);
    // Older compatible services know only this name. Without it, FIFO messages have no group and all messages no receive count.
    input.attribute_names = Some(vec![QueueAttributeName::All]);
    input.message_attribute_names = Some(vec!["All".to_owned()]);
    input.receive_request_attempt_id = attempt_id(source);
    input
}

/// The attempt id, for FIFO queues: with it, SQS returns the same messages again after a lost response.
fn attempt_id<H: Execute>(source: &Source<H>) -> Option<String> {
    source.is_fifo().then(random::uuid)
}

/// Whether SQS refuses to repeat the attempt, because one of its messages was deleted or its visibility changed.
fn is_attempt_over<E: OperationError>(error: &E) -> bool {
    const TEXT: &str = "receiveRequestAttemptId is not valid anymore";
    error.client_error().is_some_and(|error| {
        error.error_code() == Some(&ErrorCode::InvalidParameterValue)
            && error.message().is_some_and(|message| message.contains(TEXT))
    })
}

fn answer(output: ReceiveMessageOutput, began: Instant) -> Answer {
    let damaged = output.damaged_messages().iter().map(|damaged| damaged.message.clone()).collect();
    let messages = output.messages.unwrap_or_default();
    let at = Instant::now();
    Answer { at, elapsed: at - began, span: Span::current(), messages, damaged }
}

const MIN_PAUSE: Duration = Duration::from_millis(100);

const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The pause after this many failures in a row: at least 100 ms, and at most a bound that doubles from 200 ms to 30 s.
/// `chance` is from 0 to 1.
pub(crate) fn pause(failures: u32, chance: f64) -> Duration {
    let bound = MIN_PAUSE.saturating_mul(1 << failures.clamp(1, 20)).min(MAX_PAUSE);
    MIN_PAUSE + bound.saturating_sub(MIN_PAUSE).mul_f64(chance.clamp(0.0, 1.0))
}

const MIN_POLL_PAUSE: Duration = Duration::from_millis(50);

const MAX_POLL_PAUSE: Duration = Duration::from_secs(2);

/// An empty response that takes this long belongs to a long poll, which needs no further pause.
const LONG_POLL: Duration = Duration::from_secs(1);

/// The pace of short polls. While their responses are empty, one runs at a time, and the pauses between them grow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct PollPace {
    /// Pauses since the last message.
    pauses: u32,
    /// The end of the latest pause.
    until: Option<Instant>,
}

impl PollPace {
    /// Notes a response that arrived now, after `elapsed`. `chance` is from 0 to 1.
    pub(crate) fn answered(&mut self, messages: usize, elapsed: Duration, now: Instant, chance: f64) {
        if messages > 0 || elapsed >= LONG_POLL {
            *self = Self::default();
        } else if self.until.is_none_or(|until| until <= now) {
            // Responses during a pause belong to polls that began before it.
            let bound = MIN_POLL_PAUSE.saturating_mul(1 << self.pauses.min(20)).min(MAX_POLL_PAUSE);
            self.pauses += 1;
            self.until = Some(now + bound.mul_f64(1.0 - chance.clamp(0.0, 1.0) / 2.0));
        }
    }

    /// The end of the pause; `None` if a receive may begin now.
    pub(crate) fn pause(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| *until > now)
    }

    /// Whether only one receive may run at a time.
    fn is_slow(&self) -> bool {
        self.pauses > 0
    }
}

/// Used if the attribute cannot be read: the default of new queues.
const UNKNOWN: u32 = 30;

/// The visibility timeout of each receive in seconds; `None` if `stop` came before the response.
pub(crate) async fn visibility_seconds<H: Execute>(
    source: &Source<H>,
    settings: &Settings,
    observer: &Observer,
    stop: &Stop,
) -> Result<Option<u32>, ReceiveError> {
    if let Some(seconds) = settings.visibility_seconds().map_err(|error| ReceiveError::invalid(&error))? {
        return Ok(Some(seconds));
    }
    let mut failures = 0;
    loop {
        let answered = tokio::select! {
            biased;
            () = stop.finishing() => return Ok(None),
            answered = ask(source) => answered,
        };
        let error = match answered {
            Ok(Some(0)) => return Err(none()),
            Ok(seconds) => return Ok(Some(seconds.unwrap_or(UNKNOWN))),
            Err(error) => error,
        };
        if error.client_error().is_some_and(sqs_client::Error::is_access_denied) {
            tracing::warn!(%error, "access denied: cannot read the visibility timeout of the queue; using {UNKNOWN} seconds. Allow \
                 sqs:GetQueueAttributes, or set visibility_timeout");
            return Ok(Some(UNKNOWN));
        }
        if !is_transient(&error) {
            return Err(ReceiveError::refused(&source.url, error));
        }
        failures += 1;
        let retry_in = pause(failures, random::unit());
        observer.report(&ReceiveEvent::ReceiveFailed { error: &error, failures, retry_in });
        tokio::select! {
            biased;
            () = stop.finishing() => return Ok(None),
            () = sleep(retry_in) => {}
        }
    }
}

async fn ask<H: Execute>(source: &Source<H>) -> Result<Option<u32>, AttemptError<H::Error>> {
    let mut input = GetQueueAttributesInput::default();
    input.queue_url = Some(source.url.as_ref().to_owned());
    input.attribute_names = Some(vec![QueueAttributeName::VisibilityTimeout]);
    // Failures are reported and retried by the caller.
    let options = CallOptions::with_retries(Retries::Never);
    let asked = source.client.inner().execute::<GetQueueAttributes>(&input, options);
    let output = attempt(ATTEMPT_TIMEOUT, asked).await?;
    let attributes = output.attributes.unwrap_or_default();
    Ok(attributes.get(&QueueAttributeName::VisibilityTimeout).and_then(|seconds| seconds.parse().ok()))
}

fn none() -> ReceiveError {
    let text = "the visibility timeout of the queue is 0, so messages would be received again at once; set `visibility_timeout` \
                to 1 second or more";
    ReceiveError::new(ReceiveErrorKind::Invalid, text)
}

/// The shutdown stage. It never goes back. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Sender<Stage>);

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Stage {
    Running,
    /// No new receives.
    Finishing,
    /// Running receives are cancelled, too.
    Cut,
}

impl Stop {
    pub(crate) fn new() -> Self {
        Self(watch::channel(Stage::Running).0)
    }

    /// Starts no more receives. Running ones finish.
    pub(crate) fn finish(&self) {
        self.reach(Stage::Finishing);
    }

    /// Cancels running receives, too.
    fn cut(&self) {
        self.reach(Stage::Cut);
    }

    pub(crate) fn is_finishing(&self) -> bool {
        *self.0.borrow() >= Stage::Finishing
    }

    /// Waits for [`finish`](Self::finish).
    pub(crate) async fn finishing(&self) {
        self.reached(Stage::Finishing).await;
    }

    /// Waits for [`cut`](Self::cut).
    async fn is_cut(&self) {
        self.reached(Stage::Cut).await;
    }

    fn reach(&self, stage: Stage) {
        self.0.send_if_modified(|now| std::mem::replace(now, stage.max(*now)) < stage);
    }

    async fn reached(&self, stage: Stage) {
        // This cannot fail, because `self` owns the sender.
        let _ = self.0.subscribe().wait_for(|now| *now >= stage).await;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pauses_after_empty_short_polls_double_up_to_two_seconds_and_end_with_a_message() {
        let (mut pace, mut now, quick) = (PollPace::default(), Instant::now(), Duration::from_millis(5));
        let mut pauses = Vec::new();
        for _ in 0..8 {
            pace.answered(0, quick, now, 0.0);
            pace.answered(0, quick, now + quick, 0.0);
            let until = pace.pause(now).expect("there is a pause");
            pauses.push((until - now).as_millis());
            now = until;
        }
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
        assert!(pace.is_slow() && pace.pause(now).is_none());
        pace.answered(1, quick, now, 0.0);
        assert_eq!(pace, PollPace::default());
        pace.answered(0, Duration::from_secs(20), now, 0.0);
        assert_eq!(pace, PollPace::default(), "a long poll has waited already");
    }

    proptest! {
        #[test]
        fn pause_after_an_empty_short_poll_has_jitter_of_a_half(chance in 0.0_f64..=1.0) {
            let (mut pace, now) = (PollPace::default(), Instant::now());
            pace.answered(0, Duration::ZERO, now, chance);
            let pause = pace.pause(now).map(|until| until - now);
            prop_assert!(pause.is_some_and(|pause| (MIN_POLL_PAUSE / 2..=MIN_POLL_PAUSE).contains(&pause)));
        }
    }

    #[test]
    fn pauses_double_up_to_half_a_minute() {
        let longest: Vec<_> = (1..=10).map(|failures| pause(failures, 1.0).as_millis()).collect();
        assert_eq!(longest, [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    }

    proptest! {
        #[test]
        fn pauses_are_between_a_tenth_of_a_second_and_half_a_minute(failures: u32, chance in 0.0_f64..=1.0) {
            prop_assert!((MIN_PAUSE..=MAX_PAUSE).contains(&pause(failures, chance)));
        }
    }
}
