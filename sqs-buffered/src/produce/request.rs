//! One batch as a request.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::{CallOptions, Execute, OperationError, Retries};
use sqs_client::operation::Operation;
use tokio::time::{Instant, timeout_at};
use tracing::Span;

use crate::panicked::{Panicked, caught, contained};
use crate::produce::channel::{Channel, Load};
use crate::produce::entry::is_fifo;
use crate::produce::error::{SendError, SendErrorKind};
use crate::produce::event::SendEvent;
use crate::produce::kind::{self, Input, Kind, SpareId};
use crate::produce::lane::{Answer, Failure, Outbound};
use crate::produce::settings::MAX_FIFO_REQUEST;
use crate::produce::stats::{Batch, InFlight};
use crate::span::messaging_span;
use crate::time::after;

/// From so many bytes on, what it takes to make a request is too much for the task that does everything else.
const HEAVY: usize = 64 * 1024;

/// A batch that is to be sent.
pub(crate) struct Request<K: Kind> {
    channel: Arc<Channel<K>>,
    /// With the entries, which were moved into it. The client below only looks at it: it is whole whatever happens there.
    input: Input<K>,
    /// What of the entries is not in it, by their places.
    beside: Vec<K::Beside>,
    /// The spans of those who gave the entries, by their places.
    spans: Vec<Span>,
    batch: Batch,
    /// When it is given up: a client that never answers would keep its slot for ever.
    until: Instant,
    _in_flight: InFlight,
}

/// What came of a request, and what was sent.
pub(crate) struct Returned<K: Kind> {
    pub(crate) answer: Answer<K::Receipt>,
    /// As many as went, in their order.
    pub(crate) loads: Vec<Load<K>>,
}

impl<K: Kind> Request<K> {
    /// A batch of these entries, which is dispatched now.
    pub(crate) fn of(channel: &Arc<Channel<K>>, loads: Vec<Outbound<Load<K>>>, now: Instant) -> Self {
        let batch = Batch::of(&loads, now);
        let until = until::<K>(&channel.queue_url, &loads).unwrap_or(now);
        let opened =
            loads.into_iter().map(|Outbound { load: Load { mut entry, span }, maybe_sent, .. }| {
                if !maybe_sent {
                    K::starts_afresh(&mut entry);
                }
                (entry, span)
            });
        let (entries, spans) = opened.unzip();
        let (input, beside) = K::pack(&channel.queue_url, entries);
        let in_flight = InFlight::new(&channel.counters);
        Self { channel: Arc::clone(channel), input, beside, spans, batch, until, _in_flight: in_flight }
    }

    /// Whether it has one entry, and a small one.
    pub(crate) fn is_light(&self) -> bool {
        self.batch.entries == 1 && self.batch.bytes < HEAVY
    }

    /// Sends it. A panic of the client below, or of a subscriber, is a failure like others.
    pub(crate) async fn send<H: Execute>(mut self, handle: H) -> Returned<K> {
        let (until, started) = (self.until, self.channel.watch.is_on().then(Instant::now));
        let span = self.span();
        let answer = match caught(span, timeout_at(until, self.answer(handle))).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(elapsed)) => Answer::Failed(in_doubt(elapsed)),
            Err(panicked) => {
                panicked.log("a request of a batch broke");
                Answer::Failed(in_doubt(panicked))
            }
        };
        self.channel.counters.sent(&self.batch);
        if let Some(started) = started {
            self.report(started.elapsed(), answer.error());
        }
        Returned { answer, loads: self.into_loads() }
    }

    /// Its span, which follows from those of its entries.
    fn span(&self) -> Span {
        let (operation, queue_url) = (K::Operation::ACTION.as_str(), &*self.channel.queue_url);
        let made = contained(|| {
            let span = messaging_span!(DEBUG "sqs.batch", "client", operation, K::OPERATION_TYPE, queue_url,
                messaging.batch.message_count = self.batch.entries);
            for own in &self.spans {
                span.follows_from(own);
            }
            span
        });
        made.unwrap_or_else(|panicked| {
            panicked.log("the span of a batch was not made");
            Span::none()
        })
    }

    fn into_loads(self) -> Vec<Load<K>> {
        let entries = K::unpack(self.input, self.beside).into_iter();
        entries.zip(self.spans).map(|(entry, span)| Load { entry, span }).collect()
    }

    fn report(&self, duration: Duration, error: Option<&SendError>) {
        let Batch { entries, bytes, retried, waited } = self.batch;
        let (queue_url, operation) = (&*self.channel.queue_url, K::Operation::ACTION);
        self.channel.watch.tell(&SendEvent::Batch {
            queue_url,
            operation,
            entries,
            bytes,
            retried,
            waited,
            duration,
            error,
        });
    }

    async fn answer<H: Execute>(&mut self, handle: H) -> Answer<K::Receipt> {
        let newly_settled = match self.settle_ids(&handle).await {
            Ok(places) => places,
            Err(error) => return Answer::Failed(kind::failure(&error).unsent()),
        };
        let result =
            handle.execute::<K::Operation>(&self.input, CallOptions::with_retries(Retries::Never)).await;
        if let Err(error) = &result {
            tracing::debug!(%error, retryable = error.is_retryable(), "a batch failed");
        }
        let answer = kind::answer::<K, H::Error>(result, self.batch.entries);
        let left_out = self.places(SpareId::is_left_out);
        if left_out.is_empty() || !answer.misses_deduplication_id() {
            return answer;
        }
        self.channel.content_ids.are_not_made();
        answer.for_lack_of_ids(&left_out, &newly_settled)
    }

    /// Settles which ids go along, as far as that is open, and says of which entries.
    async fn settle_ids<H: Execute>(&mut self, handle: &H) -> Result<Vec<usize>, H::Error> {
        let open = self.places(SpareId::is_open);
        if !open.is_empty() {
            let are_made = self.channel.content_ids.are_made(handle, &self.channel.queue_url).await?;
            K::settle_ids(&mut self.input, &mut self.beside, are_made);
        }
        Ok(open)
    }

    /// The places of the entries whose deduplication id is only for queues that make none of the content, and meant.
    fn places(&self, are_meant: fn(&SpareId) -> bool) -> Vec<usize> {
        let ids = self.beside.iter().map(K::spare_id).enumerate();
        ids.filter(|(_, id)| id.is_some_and(are_meant)).map(|(place, _)| place).collect()
    }
}

/// When the first of the entries is not waited for any more.
fn until<K: Kind>(queue_url: &str, loads: &[Outbound<Load<K>>]) -> Option<Instant> {
    let is_forgotten = K::IS_DEDUPLICATED && is_fifo(queue_url);
    let ends = loads.iter().map(|load| match after(load.deadline, K::GRACE) {
        end if is_forgotten => end.min(after(load.admitted, MAX_FIFO_REQUEST)),
        end => end,
    });
    ends.min()
}

/// A request without an answer: nobody knows what came of it.
fn in_doubt(cause: impl std::error::Error + Send + Sync + 'static) -> Failure {
    let error = SendError::new(SendErrorKind::Request).caused_by(cause);
    let error = error.maybe_sent(true).of_entry(true, false);
    Failure { error, is_retryable: true, is_throttle: false, is_outcome_unknown: true }
}

/// What is told of the entries of a request that panicked and took them with it.
pub(crate) fn lost(panicked: Panicked) -> SendError {
    in_doubt(panicked).error
}
