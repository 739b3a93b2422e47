//! One batch as a request.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::{Execute, OperationError};
use sqs_client::operation::Operation;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use tracing::Span;

use crate::channel::{Channel, Item};
use crate::entry::is_fifo;
use crate::error::{SendError, SendErrorKind};
use crate::event::SendEvent;
use crate::kind::{self, Input, Kind, SpareId};
use crate::lane::{Answer, Failure, Pending};
use crate::passing::is_passing;
use crate::settings::MAX_FIFO_REQUEST;
use crate::span::messaging_span;
use crate::stats::{Batch, InFlight};
use crate::time::after;

/// A batch that is to be sent.
pub(crate) struct Request<K: Kind> {
    channel: Arc<Channel<K>>,
    input: Input<K>,
    /// Of entries whose deduplication id is only for queues that make none of the content, by their places.
    spare_ids: Vec<(usize, SpareId)>,
    batch: Batch,
    /// When it is given up: a client that never answers would keep its slot for ever.
    until: Instant,
    span: Span,
    _in_flight: InFlight,
}

impl<K: Kind> Request<K> {
    /// A batch of these entries, which is dispatched now.
    pub(crate) fn of(channel: &Arc<Channel<K>>, entries: &mut [Pending<Item<K>>], now: Instant) -> Self {
        let batch = Batch::of(entries.iter(), now);
        let span = span::<K>(&channel.queue_url, batch.entries);
        for pending in entries.iter_mut() {
            span.follows_from(&pending.item.span);
            if !pending.maybe_sent {
                K::starts_afresh(&mut pending.item.entry);
            }
        }
        let (input, spare_ids) =
            K::input(&channel.queue_url, entries.iter().map(|pending| &pending.item.entry));
        let is_forgotten = K::IS_DEDUPLICATED && is_fifo(&channel.queue_url);
        let ends = entries.iter().map(|pending| match after(pending.deadline, K::GRACE) {
            end if is_forgotten => end.min(after(pending.admitted, MAX_FIFO_REQUEST)),
            end => end,
        });
        let until = ends.min().unwrap_or(now);
        Self {
            channel: Arc::clone(channel),
            input,
            spare_ids,
            batch,
            until,
            span,
            _in_flight: InFlight::new(&channel.counters),
        }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// Whether it has one entry.
    pub(crate) fn is_single(&self) -> bool {
        self.batch.entries == 1
    }

    /// Sends it.
    pub(crate) async fn send<H: Execute>(mut self, handle: H) -> Answer<K::Receipt> {
        let (until, started) = (self.until, self.channel.watch.is_on().then(Instant::now));
        let answer = match timeout_at(until, self.answer(&handle)).await {
            Ok(answer) => answer,
            Err(elapsed) => Answer::Failed(given_up(elapsed)),
        };
        self.channel.counters.sent(&self.batch);
        if let Some(started) = started {
            self.report(started.elapsed(), answer.error());
        }
        answer
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

    async fn answer<H: Execute>(&mut self, handle: &H) -> Answer<K::Receipt> {
        let newly_settled = match self.settle_ids(handle).await {
            Ok(places) => places,
            Err(error) => return Answer::Failed(kind::failure(&error).unsent(is_passing(&error))),
        };
        let left_out = places(&self.spare_ids, SpareId::is_left_out);
        let mut input = std::mem::take(&mut self.input);
        K::without_ids(&mut input, &left_out);
        let result = handle.execute_once::<K::Operation>(input).await;
        if let Err(error) = &result {
            tracing::debug!(%error, retryable = error.is_retryable(), "a batch failed");
        }
        let answer = kind::answer::<K, H::Error>(result, self.batch.entries);
        if left_out.is_empty() || !answer.misses_deduplication_id() {
            return answer;
        }
        self.channel.content_ids.are_not_made().await;
        answer.for_lack_of_ids(&left_out, &newly_settled)
    }

    /// Settles which ids go along, as far as that is open, and says of which entries.
    async fn settle_ids<H: Execute>(&self, handle: &H) -> Result<Vec<usize>, H::Error> {
        let open = places(&self.spare_ids, SpareId::is_open);
        if !open.is_empty() {
            let are_made = self.channel.content_ids.are_made(handle, &self.channel.queue_url).await?;
            self.spare_ids.iter().for_each(|(_, id)| id.settle(are_made));
        }
        Ok(open)
    }
}

fn places(spare_ids: &[(usize, SpareId)], are_meant: fn(&SpareId) -> bool) -> Vec<usize> {
    spare_ids.iter().filter(|(_, id)| are_meant(id)).map(|(place, _)| *place).collect()
}

/// A request that was waited for too long: nobody knows what came of it.
fn given_up(elapsed: Elapsed) -> Failure {
    let error = SendError::new(SendErrorKind::Request).caused_by(elapsed);
    Failure { error, is_retryable: true, is_throttle: false, is_outcome_unknown: true }
}

fn span<K: Kind>(queue_url: &str, entries: usize) -> Span {
    let operation = K::Operation::ACTION.as_str();
    messaging_span!(DEBUG "sqs.batch", "client", operation, K::OPERATION_TYPE, queue_url,
        messaging.batch.message_count = entries)
}
