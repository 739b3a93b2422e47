//! What receivers and consumers report: events, statistics, metrics.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::error::DisplayErrorContext;
use tokio::time::Instant;

use crate::consume::settle::Outcome;
use crate::error::{Causes, SendError};
use crate::metrics as names;
use crate::observe::meter::{Counter, Family, Histogram, Level, Meter};
use crate::time::whole_seconds;

/// An event of a receiver or consumer, for the hook of [`on_event`](crate::consume::builder::ConsumerBuilder::on_event).
/// [`ReceiveStats`](ReceiveStats) has the totals.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReceiveEvent<'a> {
    /// A receive has completed.
    #[non_exhaustive]
    Received {
        /// The number of messages.
        messages: usize,
        /// Its duration, including failed attempts and the wait for messages.
        elapsed: Duration,
    },
    /// A handler has ended. After a failure, `HandlerFailed`, `HandlerPanicked` or `HandlerTimedOut` comes first.
    #[non_exhaustive]
    Handled {
        /// The message id.
        message_id: &'a str,
        /// Its outcome; `None` after a failure.
        outcome: Option<&'a Outcome>,
        /// Its duration.
        elapsed: Duration,
    },
    /// A message was settled, which ends its delivery.
    #[non_exhaustive]
    Settled {
        /// The message id.
        message_id: &'a str,
        /// How the delivery ended.
        how: Settled,
        /// The time since its receive.
        age: Duration,
    },
    /// A receive failed and will be retried.
    #[non_exhaustive]
    ReceiveFailed {
        /// The error.
        error: &'a dyn std::error::Error,
        /// The number of failures of this receive in a row.
        failures: u32,
        /// The time until the retry.
        retry_in: Duration,
    },
    /// A message had a wrong checksum. It is not handled, and becomes visible again.
    #[non_exhaustive]
    Damaged {
        /// The message id.
        message_id: &'a str,
    },
    /// A message could not be opened: the client below could not load its payload. It is not handled. The client says what becomes
    /// of it; usually it waits, and is opened again.
    #[non_exhaustive]
    Unopened {
        /// The message id.
        message_id: &'a str,
        /// The error.
        error: &'a dyn std::error::Error,
    },
    /// The renewal of a lease failed. It is retried while there is time.
    #[non_exhaustive]
    RenewalFailed {
        /// The message id.
        message_id: &'a str,
        /// The error.
        error: &'a SendError,
    },
    /// A lease is lost: another consumer may have the message.
    #[non_exhaustive]
    LeaseLost {
        /// The message id.
        message_id: &'a str,
        /// The time since its receive.
        age: Duration,
    },
    /// A delete or visibility change failed for good. After a failed delete, the message is made visible again; if that fails,
    /// too, it becomes visible when its visibility timeout is over.
    #[non_exhaustive]
    SettleFailed {
        /// The message id.
        message_id: &'a str,
        /// The error.
        error: &'a SendError,
    },
    /// A handler returned an error.
    #[non_exhaustive]
    HandlerFailed {
        /// The message id.
        message_id: &'a str,
        /// The error.
        error: &'a (dyn std::error::Error + Send + Sync),
    },
    /// A handler panicked.
    #[non_exhaustive]
    HandlerPanicked {
        /// The message id.
        message_id: &'a str,
        /// The text of the panic.
        text: &'a str,
    },
    /// A handler took longer than its timeout. It was stopped, or is blocked and still runs.
    #[non_exhaustive]
    HandlerTimedOut {
        /// The message id.
        message_id: &'a str,
        /// The timeout.
        timeout: Duration,
    },
    /// A message of a FIFO queue whose handler failed, or whose payload did not load, stays in its place and is tried again: see
    /// [`Poison`](crate::consume::settle::Poison).
    #[non_exhaustive]
    RetriedInPlace {
        /// The message id.
        message_id: &'a str,
        /// Its receives and earlier attempts in place, this one included.
        attempts: u32,
        /// The time until the next attempt.
        retry_in: Duration,
    },
    /// A message could not be sent to the dead-letter queue. It is retried after the back-off.
    #[non_exhaustive]
    DeadLetterFailed {
        /// The message id.
        message_id: &'a str,
        /// The error.
        reason: &'a str,
    },
}

/// How the delivery of a message ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Settled {
    /// Deleted after success.
    Acked,
    /// Made visible after a delay: by its outcome, or because its handler failed.
    Nacked,
    /// Made visible at once, by its outcome.
    Released,
    /// Left hidden, by its outcome.
    Kept,
    /// Sent to the dead-letter queue and deleted.
    DeadLettered,
    /// Deleted without an outcome: its payload is missing, and the client below deletes such messages.
    Discarded,
    /// Made visible again without an outcome: not started, not opened, stopped, dropped, or its delete failed.
    Returned,
}

impl Settled {
    /// A short name for metrics, such as `acked`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acked => "acked",
            Self::Nacked => "nacked",
            Self::Released => "released",
            Self::Kept => "kept",
            Self::DeadLettered => "dead_lettered",
            Self::Discarded => "discarded",
            Self::Returned => "returned",
        }
    }
}

/// The event hook.
pub(crate) type Hook = Arc<dyn Fn(&ReceiveEvent<'_>) + Send + Sync>;

/// Counts, logs, and calls the hook.
pub(crate) struct Observer {
    pub(crate) tally: Tally,
    pub(crate) metrics: ConsumerMetrics,
    queue_url: Arc<str>,
    hook: Option<Hook>,
    /// Whether the latest receive failed.
    is_outage: AtomicBool,
    /// When SQS last answered a receive.
    last_receive: Mutex<Option<Instant>>,
    /// When a receive last began while no other was running.
    last_asked: Mutex<Option<Instant>>,
    /// When all messages that were given back are visible again.
    hidden_until: Mutex<Option<Instant>>,
}

impl Observer {
    pub(crate) fn new(queue_url: &str, hook: Option<Hook>) -> Self {
        Self {
            tally: Tally::default(),
            metrics: ConsumerMetrics::new(queue_url),
            queue_url: queue_url.into(),
            hook,
            is_outage: AtomicBool::new(false),
            last_receive: Mutex::default(),
            last_asked: Mutex::default(),
            hidden_until: Mutex::default(),
        }
    }

    /// A message that is already held was delivered again.
    pub(crate) fn duplicate(&self) {
        self.tally.duplicates.one();
        self.metrics.duplicate();
    }

    /// The time since SQS has answered a receive.
    pub(crate) fn since_last_receive(&self) -> Option<Duration> {
        self.last_receive.lock().map(|at| at.elapsed())
    }

    /// A receive begins, and no other is running.
    pub(crate) fn asks(&self) {
        *self.last_asked.lock() = Some(Instant::now());
    }

    /// The time since a receive began while no other was running.
    pub(crate) fn since_last_asked(&self) -> Option<Duration> {
        self.last_asked.lock().map(|at| at.elapsed())
    }

    /// Whether a message that was given back is still hidden.
    pub(crate) fn hides(&self) -> bool {
        self.hidden_until.lock().is_some_and(|until| until > Instant::now())
    }

    /// Counts, logs, and calls the hook.
    pub(crate) fn report(&self, event: &ReceiveEvent<'_>) {
        self.tally.count(event);
        self.metrics.count(event);
        match event {
            ReceiveEvent::ReceiveFailed { error, retry_in, .. } => {
                // One line at the start of an outage, and one at its end.
                if !self.is_outage.swap(true, Relaxed) {
                    let (error, queue_url) = (DisplayErrorContext(*error), &*self.queue_url);
                    tracing::warn!(%error, queue_url, ?retry_in, "receives fail and are retried");
                }
            }
            ReceiveEvent::Received { .. } => {
                *self.last_receive.lock() = Some(Instant::now());
                if self.is_outage.swap(false, Relaxed) {
                    tracing::info!(queue_url = &*self.queue_url, "receives succeed again");
                }
            }
            _ => log(event),
        }
        let Some(hook) = &self.hook else { return };
        // A hook that panics must not end the task that reports.
        if catch_unwind(AssertUnwindSafe(|| hook(event))).is_err() {
            tracing::error!(?event, "the event hook panicked");
        }
    }

    /// Reports the end of a delivery, given by message id and time of receive, or why it failed.
    pub(crate) fn settled(
        &self,
        (message_id, received): (&str, Instant),
        how: Settled,
        result: &Result<(), SendError>,
    ) {
        let age = received.elapsed();
        match result {
            Ok(()) => self.report(&ReceiveEvent::Settled { message_id, how, age }),
            Err(error) if error.is_lease_lost() => self.report(&ReceiveEvent::LeaseLost { message_id, age }),
            Err(error) => {
                self.tally.unsettled.one();
                self.report(&ReceiveEvent::SettleFailed { message_id, error });
            }
        }
    }

    /// Like [`settled`](Self::settled), for a message that was given back. `maybe_gone` is its end if SQS has executed an earlier
    /// delete that failed: then the message no longer exists. It is visible again after `delay`, or at `deadline` if it could not be
    /// given back.
    pub(crate) fn given_back(
        &self,
        message: (&str, Instant),
        (how, maybe_gone): (Settled, Option<Settled>),
        (delay, deadline): (Duration, Instant),
        result: Result<(), SendError>,
    ) -> Result<(), SendError> {
        let (how, result) = match (maybe_gone, result) {
            (Some(gone), Err(error)) if error.is_lease_lost() => (gone, Ok(())),
            (_, result) => (how, result),
        };
        let visible = match &result {
            Ok(()) => Instant::now() + Duration::from_secs(whole_seconds(delay)),
            Err(_) => deadline,
        };
        let mut until = self.hidden_until.lock();
        *until = (*until).max(Some(visible));
        drop(until);
        self.settled(message, how, &result);
        result
    }
}

fn log(event: &ReceiveEvent<'_>) {
    match event {
        ReceiveEvent::Received { .. }
        | ReceiveEvent::ReceiveFailed { .. }
        | ReceiveEvent::Handled { .. }
        | ReceiveEvent::RetriedInPlace { .. }
        | ReceiveEvent::Settled { .. } => {}
        ReceiveEvent::Damaged { message_id } => {
            tracing::warn!(message_id, "a message has a wrong checksum; it becomes visible again");
        }
        ReceiveEvent::Unopened { message_id, error } => {
            tracing::warn!(message_id, %error, "a message could not be opened, and is not handled");
        }
        ReceiveEvent::RenewalFailed { message_id, error } => {
            tracing::debug!(message_id, %error, "the renewal of a lease failed");
        }
        ReceiveEvent::LeaseLost { message_id, age } => {
            tracing::warn!(message_id, ?age, "a lease is lost: another consumer may have the message");
        }
        ReceiveEvent::SettleFailed { message_id, error } => {
            tracing::warn!(message_id, %error, "a delete or visibility change failed");
        }
        ReceiveEvent::HandlerFailed { message_id, error } => {
            let error = Causes(*error);
            tracing::warn!(message_id, %error, "a handler failed");
        }
        ReceiveEvent::HandlerTimedOut { message_id, timeout } => {
            tracing::warn!(message_id, ?timeout, "a handler took too long");
        }
        ReceiveEvent::HandlerPanicked { message_id, text } => {
            tracing::error!(message_id, text, "a handler panicked");
        }
        ReceiveEvent::DeadLetterFailed { message_id, reason } => {
            tracing::warn!(message_id, reason, "a message could not be sent to the dead-letter queue");
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("tally", &self.tally).finish_non_exhaustive()
    }
}

/// Declares each counter once, for [`Tally`] and [`ReceiveStats`].
macro_rules! counters {
    ($( $(#[$meta:meta])* $name:ident, )*) => {
        /// The totals of a receiver or consumer since its start.
        ///
        /// Each delivery ends in one way. While nothing is being settled, `received` is the sum of `held`, `acked`, `nacked`,
        /// `released`, `kept`, `dead_lettered`, `discarded`, `returned`, `deleting`, `leases_lost` and `unsettled`.
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        #[non_exhaustive]
        pub struct ReceiveStats {
            $( $(#[$meta])* pub $name: u64, )*
            /// Messages that are held now and not settled.
            pub held: usize,
            /// Receives that run now.
            pub receiving: usize,
        }

        /// The counters behind [`ReceiveStats`].
        #[derive(Debug, Default)]
        pub(crate) struct Tally {
            $( pub(crate) $name: Count, )*
        }

        impl Tally {
            pub(crate) fn snapshot(&self, (held, receiving): (usize, usize)) -> ReceiveStats {
                ReceiveStats { $( $name: self.$name.get(), )* held, receiving }
            }
        }
    };
}

counters! {
    /// Completed receives.
    receives,
    /// Completed receives without messages.
    empty_receives,
    /// Failed attempts to receive.
    receive_errors,
    /// Receives that a shutdown cancelled, or whose responses were lost before it. Messages in them stay hidden until their
    /// visibility timeout is over.
    receives_abandoned,
    /// Deliveries. Repeated deliveries of a message count each time.
    received,
    /// Deliveries with a wrong checksum. They were made visible again.
    damaged,
    /// Failed attempts to open messages.
    unopened,
    /// Deliveries of messages that were already held. They share the end of the first delivery.
    duplicates,
    /// Messages whose handlers were started.
    started,
    /// Handlers that returned an error.
    failed,
    /// Handlers that panicked.
    panicked,
    /// Handlers that took longer than their timeout.
    timed_out,
    /// Handlers that a shutdown stopped because its grace was over.
    aborted,
    /// Handlers that returned [`Retry`](crate::consume::settle::Outcome::Retry) and run again.
    retried,
    /// Handlers that returned [`Overloaded`](crate::consume::settle::Outcome::Overloaded) and run again.
    overloaded,
    /// Failed or unopened messages of FIFO queues that are tried again [in place](crate::consume::settle::Poison).
    retried_in_place,
    /// Messages deleted after success.
    acked,
    /// Messages made visible after a delay: by their outcome, or because their handler failed.
    nacked,
    /// Messages made visible at once, by their outcome.
    released,
    /// Messages left hidden, by their outcome.
    kept,
    /// Messages sent to the dead-letter queue and deleted.
    dead_lettered,
    /// Messages deleted without an outcome, because their payloads are missing.
    discarded,
    /// Messages made visible again without an outcome: not started, not opened, stopped, dropped, or not deleted.
    returned,
    /// Messages whose deletes were under way when their run or receiver ended. The client completes them in the background;
    /// [`close`](crate::client::BufferedClient::close) waits for them.
    deleting,
    /// Lost leases.
    leases_lost,
    /// Failed renewals. They are retried.
    renewal_failures,
    /// Messages that could not be made visible again. They become visible when their visibility timeout is over.
    unsettled,
    /// Deletes and visibility changes that failed for good, except by a lost lease.
    settle_errors,
    /// Messages that could not be sent to the dead-letter queue.
    dead_letter_errors,
}

impl Tally {
    /// Counts an event.
    pub(crate) fn count(&self, event: &ReceiveEvent<'_>) {
        let counter = match event {
            ReceiveEvent::Received { messages, .. } => {
                self.received.add(*messages);
                self.receives.one();
                if *messages > 0 {
                    return;
                }
                &self.empty_receives
            }
            ReceiveEvent::Handled { outcome: Some(Outcome::Retry(_)), .. } => &self.retried,
            ReceiveEvent::Handled { outcome: Some(Outcome::Overloaded), .. } => &self.overloaded,
            ReceiveEvent::Handled { .. } => return,
            ReceiveEvent::Settled { how, .. } => self.of(*how),
            ReceiveEvent::ReceiveFailed { .. } => &self.receive_errors,
            ReceiveEvent::Damaged { .. } => &self.damaged,
            ReceiveEvent::Unopened { .. } => &self.unopened,
            ReceiveEvent::RenewalFailed { .. } => &self.renewal_failures,
            ReceiveEvent::LeaseLost { .. } => &self.leases_lost,
            ReceiveEvent::SettleFailed { .. } => &self.settle_errors,
            ReceiveEvent::HandlerFailed { .. } => &self.failed,
            ReceiveEvent::HandlerPanicked { .. } => &self.panicked,
            ReceiveEvent::HandlerTimedOut { .. } => &self.timed_out,
            ReceiveEvent::RetriedInPlace { .. } => &self.retried_in_place,
            ReceiveEvent::DeadLetterFailed { .. } => &self.dead_letter_errors,
        };
        counter.one();
    }

    fn of(&self, how: Settled) -> &Count {
        match how {
            Settled::Acked => &self.acked,
            Settled::Nacked => &self.nacked,
            Settled::Released => &self.released,
            Settled::Kept => &self.kept,
            Settled::DeadLettered => &self.dead_lettered,
            Settled::Discarded => &self.discarded,
            Settled::Returned => &self.returned,
        }
    }
}

/// A monotonic counter.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn one(&self) {
        self.add(1);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

const RECEIVE: &str = "ReceiveMessage";

/// The number of handler outcomes, including failures.
const HANDLED: usize = 8;

const SETTLED: usize = Settled::Returned as usize + 1;

/// The metrics of a consumer or receiver: of one queue.
#[derive(Debug)]
pub(crate) struct ConsumerMetrics {
    meter: Meter,
    answered: Counter,
    empty: Counter,
    consumed: Counter,
    receive_duration: Histogram,
    receive_failure_duration: Family<Histogram, 1>,
    handled: Family<Histogram, HANDLED>,
    settled: Family<Counter, SETTLED>,
    duplicates: Counter,
    leases_lost: Counter,
    renewals_failed: Counter,
    settles_failed: Counter,
    retried_in_place: Counter,
    timed_out: Counter,
    unopened: Counter,
    dead_letters_failed: Counter,
}

impl ConsumerMetrics {
    pub(crate) fn new(queue_url: &str) -> Self {
        let meter = Meter::of_queue(queue_url);
        let receive = meter.with(names::OPERATION_LABEL, RECEIVE);
        let duration: fn(&Meter) -> Histogram = |meter| meter.histogram(names::OPERATION_DURATION);
        Self {
            answered: meter.counter(names::RECEIVES_ANSWERED),
            empty: meter.counter(names::RECEIVES_EMPTY),
            consumed: receive.counter(names::CONSUMED_MESSAGES),
            receive_duration: duration(&receive),
            receive_failure_duration: Family::new(&receive, names::ERROR_LABEL, duration),
            handled: Family::new(&meter, names::OUTCOME_LABEL, |meter| {
                meter.histogram(names::PROCESS_DURATION)
            }),
            settled: Family::new(&meter, names::OUTCOME_LABEL, |meter| {
                meter.counter(names::MESSAGES_SETTLED)
            }),
            duplicates: meter.counter(names::MESSAGES_DUPLICATE),
            leases_lost: meter.counter(names::LEASES_LOST),
            renewals_failed: meter.counter(names::RENEWALS_FAILED),
            settles_failed: meter.counter(names::SETTLES_FAILED),
            retried_in_place: meter.counter(names::RETRIED_IN_PLACE),
            timed_out: meter.counter(names::HANDLERS_TIMED_OUT),
            unopened: meter.counter(names::UNOPENED),
            dead_letters_failed: meter.counter(names::DEAD_LETTERS_FAILED),
            meter,
        }
    }

    /// Messages that are held and not settled.
    pub(crate) fn held(&self) -> Level {
        self.meter.level(names::MESSAGES_HELD)
    }

    pub(crate) fn handlers_running(&self) -> Level {
        self.meter.level(names::HANDLERS_RUNNING)
    }

    pub(crate) fn handlers_limit(&self) -> Level {
        self.meter.level(names::HANDLERS_LIMIT)
    }

    /// One attempt to receive has ended.
    pub(crate) fn receive_ended(&self, elapsed: Duration, has_failed: bool) {
        let seconds = elapsed.as_secs_f64();
        if has_failed {
            self.receive_failure_duration.with((0, "request"), |duration| duration.record(seconds));
        } else {
            self.receive_duration.record(seconds);
        }
    }

    pub(crate) fn duplicate(&self) {
        self.duplicates.increment(1);
    }

    /// Counts an event.
    pub(crate) fn count(&self, event: &ReceiveEvent<'_>) {
        match event {
            ReceiveEvent::Received { messages, .. } => {
                self.answered.increment(1);
                self.empty.increment(u64::from(*messages == 0));
                self.consumed.increment(u64::try_from(*messages).unwrap_or(u64::MAX));
            }
            ReceiveEvent::Handled { outcome, elapsed, .. } => {
                self.handled.with(handled(*outcome), |duration| duration.record(elapsed.as_secs_f64()));
            }
            ReceiveEvent::Settled { how, .. } => {
                self.settled.with((*how as usize, how.as_str()), |settled| settled.increment(1));
            }
            ReceiveEvent::RenewalFailed { .. } => self.renewals_failed.increment(1),
            ReceiveEvent::LeaseLost { .. } => self.leases_lost.increment(1),
            ReceiveEvent::SettleFailed { .. } => self.settles_failed.increment(1),
            ReceiveEvent::RetriedInPlace { .. } => self.retried_in_place.increment(1),
            ReceiveEvent::Unopened { .. } => self.unopened.increment(1),
            ReceiveEvent::DeadLetterFailed { .. } => self.dead_letters_failed.increment(1),
            ReceiveEvent::ReceiveFailed { .. }
            | ReceiveEvent::Damaged { .. }
            | ReceiveEvent::HandlerFailed { .. }
            | ReceiveEvent::HandlerPanicked { .. } => {}
            ReceiveEvent::HandlerTimedOut { .. } => self.timed_out.increment(1),
        }
    }
}

fn handled(outcome: Option<&Outcome>) -> (usize, &'static str) {
    match outcome {
        Some(Outcome::Ack) => (0, "ack"),
        Some(Outcome::Nack(_)) => (1, "nack"),
        Some(Outcome::Release) => (2, "release"),
        Some(Outcome::Keep) => (3, "keep"),
        Some(Outcome::Retry(_)) => (4, "retry"),
        Some(Outcome::Overloaded) => (5, "overloaded"),
        Some(Outcome::DeadLetter(_)) => (6, "dead_letter"),
        None => (7, "failed"),
    }
}
