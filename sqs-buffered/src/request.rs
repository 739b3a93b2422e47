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
use crate::kind::{self, Input, Kind};
use crate::lane::{Answer, Failure, Pending};
use crate::settings::MAX_FIFO_REQUEST;
use crate::span::messaging_span;
use crate::stats::{Batch, InFlight};
use crate::time::after;

/// A batch that is to be sent.
pub(crate) struct Request<K: Kind> {
    channel: Arc<Channel<K>>,
    input: Input<K>,
    /// Places of entries whose deduplication id is only for queues that make none of the content.
    spare_ids: Vec<usize>,
    batch: Batch,
    /// When it is given up: a client that never answers would keep its slot for ever.
    until: Instant,
    span: Span,
    _in_flight: InFlight,
}

impl<K: Kind> Request<K> {
    /// A batch of these entries, which is dispatched now.
    pub(crate) fn of(channel: &Arc<Channel<K>>, entries: &[Pending<Item<K>>], now: Instant) -> Self {
        let batch = Batch::of(entries.iter(), now);
        let span = span::<K>(&channel.queue_url, batch.entries);
        for pending in entries {
            span.follows_from(&pending.item.span);
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
        let content_ids = &self.channel.content_ids;
        let mut leaves_ids_out = false;
        if !self.spare_ids.is_empty() {
            leaves_ids_out = match content_ids.are_made(handle, &self.channel.queue_url).await {
                Ok(are_made) => are_made,
                Err(error) => return Answer::Failed(kind::failure(&error).unsent()),
            };
        }
        let mut input = std::mem::take(&mut self.input);
        if leaves_ids_out {
            K::without_ids(&mut input, &self.spare_ids);
        }
        let result = handle.execute_once::<K::Operation>(input).await;
        if let Err(error) = &result {
            tracing::debug!(%error, retryable = error.is_retryable(), "a batch failed");
        }
        let answer = kind::answer::<K, H::Error>(result, self.batch.entries);
        if leaves_ids_out && answer.misses_deduplication_id() {
            content_ids.forget().await;
        }
        answer
    }
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
