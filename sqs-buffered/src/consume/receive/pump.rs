//! The task that receives while places are free.
//!
//! ```text
//! free places -> receive, a separate task -> leases -> channel        stop: no new receives, running ones finish,
//!   ^                                                                 and their messages are given back
//!   +---- settled messages free their places
//! ```

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::types::{Message, MessageSystemAttributeName as Name};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tracing::Instrument as _;
use tracing::field::Empty;

use super::delivery::Delivery;
use super::error::{ReceiveError, ReceiveErrorKind};
use super::pause::PollPace;
use super::poll::{Answer, Terms, poll};
use crate::consume::back_off::BackOff;
use crate::consume::credit::{Reservation, SharedCredits};
use crate::consume::lease::{Lease, Leases};
use crate::consume::observe::{Event, Observer};
use crate::consume::source::Source;
use crate::consume::stop::Stop;
use crate::random;
use crate::span::messaging_span;

/// Everything that the task needs.
pub(super) struct Pump<H: Execute> {
    pub(super) source: Source<H>,
    pub(super) terms: Terms,
    pub(super) leases: Arc<Leases>,
    pub(super) credits: Arc<SharedCredits>,
    pub(super) observer: Arc<Observer>,
    /// Stops all receives.
    pub(super) stop: Stop,
    /// Whether a receive has ever succeeded, even without messages.
    pub(super) is_proven: Arc<AtomicBool>,
    pub(super) pace: PollPace,
    /// For damaged messages.
    pub(super) back_off: BackOff,
    /// The messages of each receive. Places bound their number.
    pub(super) out: mpsc::UnboundedSender<Vec<Delivery>>,
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
    pub(super) async fn run(mut self) -> Result<(), ReceiveError> {
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
        self.observer.report(&Event::Received { messages, elapsed: answer.elapsed });
        let good = answer.messages.len();
        let mut deliveries = self.leased(asked, answer);
        let damaged = deliveries.split_off(good.min(deliveries.len()));
        let overtakes = |delivery: &mut Delivery| damaged.iter().any(|damaged| is_behind(delivery, damaged));
        if self.source.is_fifo() {
            give_back(deliveries.extract_if(.., overtakes).collect());
        }
        for damaged in damaged.into_iter().rev() {
            self.observer.report(&Event::Damaged { message_id: damaged.id() });
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

/// Whether a message comes after another one of its group.
pub(super) fn is_behind(delivery: &Delivery, other: &Delivery) -> bool {
    delivery.attribute(&Name::MessageGroupId) == other.attribute(&Name::MessageGroupId)
        && delivery.number::<u128>(&Name::SequenceNumber) >= other.number(&Name::SequenceNumber)
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
