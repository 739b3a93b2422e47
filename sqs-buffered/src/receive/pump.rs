//! The task that receives as long as there is credit.
//!
//! ```text
//! credit -> receive, a task of its own -> leases -> channel      stop: no new receives, those under way finish,
//!   ^                                                            and what they bring is given back
//!   +---- settled messages return their credit
//! ```

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::types::Message;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tracing::Instrument as _;
use tracing::field::Empty;

use super::bank::Bank;
use super::delivery::Delivery;
use super::error::ReceiveError;
use super::event::Event;
use super::monitor::Monitor;
use super::poll::{Answer, Terms, poll};
use super::source::Source;
use crate::consumer::BackOff;
use crate::lease::Keeper;
use crate::random;

/// Everything that the task needs.
pub(super) struct Pump<H: Execute> {
    pub(super) source: Source<H>,
    pub(super) terms: Terms,
    pub(super) keeper: Arc<Keeper>,
    pub(super) bank: Arc<Bank>,
    pub(super) monitor: Arc<Monitor>,
    pub(super) stop: watch::Receiver<bool>,
    /// Whether anything was ever received, be it nothing.
    pub(super) is_proven: Arc<AtomicBool>,
    /// What came of one receive. There is never more in it than there is credit for.
    pub(super) out: mpsc::UnboundedSender<Vec<Delivery>>,
}

/// How a receive ended: how many messages it had asked for, and what came.
type Ended = (usize, Result<Option<Answer>, ReceiveError>);

/// However it ends, no more messages come.
impl<H: Execute> Drop for Pump<H> {
    fn drop(&mut self) {
        self.keeper.close();
    }
}

impl<H: Execute> Pump<H> {
    /// Receives until it is to stop, until nobody takes messages any more, or until the first answer is that there is no
    /// such queue.
    pub(super) async fn run(mut self) -> Result<(), ReceiveError> {
        let mut receives: JoinSet<Ended> = JoinSet::new();
        let mut result = Ok(());
        loop {
            let is_stopping = *self.stop.borrow_and_update() || self.out.is_closed() || result.is_err();
            while !is_stopping && let Some(asked) = self.bank.ask() {
                self.begin(&mut receives, asked);
            }
            if is_stopping && receives.is_empty() {
                return result;
            }
            tokio::select! {
                biased;
                Some(ended) = receives.join_next() => {
                    // A receive that panicked keeps its credits: how many they were is not known any more.
                    let Ok((asked, ended)) = ended else { continue };
                    match ended {
                        Ok(answer) => self.deliver(asked, answer),
                        Err(error) => {
                            self.bank.answered(asked, 0);
                            result = result.and(Err(error));
                        }
                    }
                }
                () = self.bank.freed(), if !is_stopping => {}
                _ = self.stop.changed(), if !is_stopping => {}
                () = self.out.closed(), if !is_stopping => {}
            }
        }
    }

    fn begin(&self, receives: &mut JoinSet<Ended>, asked: usize) {
        let (source, terms, stop) = (self.source.clone(), self.terms, self.stop.clone());
        let (monitor, is_proven) = (Arc::clone(&self.monitor), Arc::clone(&self.is_proven));
        let span = span(&source.url);
        let receive = async move {
            let result = poll(&source, terms, asked, &monitor, stop, || !is_proven.load(Relaxed)).await;
            if let Ok(Some(answer)) = &result {
                is_proven.store(true, Relaxed);
                tracing::Span::current().record("messaging.batch.message_count", answer.messages.len());
            }
            (asked, result.map_err(|error| ReceiveError::refused(&source.url, error)))
        };
        receives.spawn(receive.instrument(span));
    }

    /// Opens leases from the moment of the answer on, and hands the messages out.
    fn deliver(&self, asked: usize, answer: Option<Answer>) {
        let Some(answer) = answer else {
            self.bank.answered(asked, 0);
            return;
        };
        let tally = &self.monitor.tally;
        tally.receives.one();
        if answer.messages.is_empty() && answer.damaged.is_empty() {
            tally.empty_receives.one();
        }
        tally.received.add(answer.messages.len() + answer.damaged.len());
        let good = answer.messages.len();
        let mut deliveries = self.leased(asked, answer);
        for damaged in deliveries.split_off(good.min(deliveries.len())) {
            self.monitor.tell(&Event::Damaged { message_id: damaged.id() });
            // It may well come damaged again: not at once.
            let delay = BackOff::default().delay(damaged.receive_count(), random::unit());
            damaged.give_back_after(delay);
        }
        if !deliveries.is_empty()
            && let Err(mpsc::error::SendError(unwanted)) = self.out.send(deliveries)
        {
            give_back(unwanted);
        }
    }

    /// The messages of an answer, the damaged ones last, each with its lease and credit.
    fn leased(&self, asked: usize, answer: Answer) -> Vec<Delivery> {
        let messages: Vec<Message> = answer.messages.into_iter().chain(answer.damaged).collect();
        let names: Vec<(Arc<str>, Arc<str>)> = messages
            .iter()
            .map(|message| {
                let text = |value: Option<&str>| value.unwrap_or_default().into();
                (text(message.message_id()), text(message.receipt_handle()))
            })
            .collect();
        let leases = self.keeper.open(answer.at, &names);
        let credits = self.bank.answered(asked, messages.len());
        let together = messages.into_iter().zip(leases).zip(credits);
        let delivery = |((message, lease), credit)| {
            let (keeper, monitor) = (Arc::clone(&self.keeper), Arc::clone(&self.monitor));
            Delivery::new(message, lease, credit, keeper, monitor)
        };
        together.map(delivery).collect()
    }
}

/// Gives messages back in the reverse of their order, so that the first of a group is the last to be visible.
pub(crate) fn give_back(mut deliveries: Vec<Delivery>) {
    while let Some(delivery) = deliveries.pop() {
        delivery.give_back_after(Duration::ZERO);
    }
}

/// Names are those of OpenTelemetry's conventions for messaging
/// (<https://opentelemetry.io/docs/specs/semconv/messaging/sqs/>).
fn span(queue_url: &str) -> tracing::Span {
    tracing::debug_span!(
        "sqs.receive",
        otel.kind = "client",
        messaging.system = "aws_sqs",
        messaging.operation.name = "receive",
        messaging.operation.type = "receive",
        messaging.destination.name = queue_url.rsplit('/').next(),
        messaging.batch.message_count = Empty,
    )
}
