//! One batch as a request.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use sqs_client::client::{CallOptions, Execute, OperationError, Retries};
use tokio::time::{Instant, timeout_at};
use tracing::{Instrument as _, Span};

use super::entry::is_fifo;
use super::error::{SendError, SendErrorKind};
use super::kind::{self, AddedId, Kind};
use super::lane::{Answer, BatchSize, Dispatch};
use super::lane_handle::{LaneHandle, Load};
use super::observer::Site;
use super::settings::MAX_FIFO_REQUEST;
use crate::attempt::ATTEMPT_TIMEOUT;
use crate::panicked::Panicked;
use crate::span::messaging_span;
use crate::time::after;

/// The request of a batch.
pub(crate) struct Request<'a, K: Kind> {
    lane: &'a Arc<LaneHandle<K>>,
    entries: Vec<K::Entry>,
    /// The spans that enqueued the entries, in order.
    spans: Vec<Span>,
    size: BatchSize,
    /// When the request is abandoned. Otherwise a client that never responds would keep its slot forever.
    until: Instant,
}

impl<'a, K: Kind> Request<'a, K> {
    pub(crate) fn new(lane: &'a Arc<LaneHandle<K>>, batch: Dispatch<Load<K>>) -> Self {
        let Dispatch { loads, size, admitted, deadline, .. } = batch;
        let (entries, spans) = loads.into_iter().map(|Load { entry, span }| (entry, span)).unzip();
        let mut until = after(deadline, K::GRACE);
        if K::IS_DEDUPLICATED && is_fifo(&lane.queue_url) {
            until = until.min(after(admitted, MAX_FIFO_REQUEST));
        }
        // A send may store payloads, which takes as long as it takes.
        if !K::IS_DEDUPLICATED {
            until = until.min(after(Instant::now(), ATTEMPT_TIMEOUT));
        }
        Self { lane, entries, spans, size, until }
    }

    /// Sends the request. Returns its result, and the loads of its entries.
    pub(crate) async fn send<H: Execute>(mut self, client: &H) -> (Answer<K::Receipt>, Vec<Load<K>>) {
        let _in_flight = self.lane.observer.sending(self.lane.site());
        let (span, started) = (self.span(), Instant::now());
        let answer = self.answer(client).instrument(span).await;
        self.lane.observer.sent(self.lane.site(), self.size, started.elapsed(), answer.error());
        let loads =
            self.entries.into_iter().zip(self.spans).map(|(entry, span)| Load { entry, span }).collect();
        (answer, loads)
    }

    /// The span of the batch. It follows from the spans of its entries.
    fn span(&self) -> Span {
        let Site { queue_url, operation, .. } = self.lane.site();
        let span = messaging_span!(DEBUG "sqs.batch", "client", operation.as_str(), K::OPERATION_TYPE, queue_url,
            messaging.batch.message_count = self.size.entries);
        for own in &self.spans {
            span.follows_from(own);
        }
        span
    }

    async fn answer<H: Execute>(&mut self, client: &H) -> Answer<K::Receipt> {
        if let Err(error) = self.settle_deduplication(client).await {
            return Answer::Failed(error.maybe_sent(false));
        }
        let input = K::pack(&self.lane.queue_url, &mut self.entries);
        let options = CallOptions::with_retries(Retries::Never);
        let called = contained(self.until, client.execute::<K::Operation>(&input, options)).await;
        K::unpack(input, &mut self.entries);
        let answer = match called {
            Ok(result) => {
                if let Err(error) = &result {
                    tracing::debug!(%error, retryable = error.is_retryable(), "a batch failed");
                }
                kind::answer::<K, H::Error>(result, self.entries.len())
            }
            Err(error) => Answer::Failed(error),
        };
        for (position, entry) in self.entries.iter_mut().enumerate() {
            if answer.result(position).is_none_or(|result| result.is_err_and(SendError::is_maybe_sent)) {
                K::note_maybe_stored(entry);
            }
        }
        if (0..self.entries.len()).all(|position| missing_id(&answer, position).is_none()) {
            return answer;
        }
        self.add_missing_ids(answer).await
    }

    /// Adds ids to entries that SQS refused because a deduplication id is missing, if they may get one. Those entries
    /// are retried, and so are the others of the refused batch.
    async fn add_missing_ids(&mut self, answer: Answer<K::Receipt>) -> Answer<K::Receipt> {
        let added: Vec<AddedId> = self.entries.iter_mut().map(K::add_missing_id).collect();
        if added.iter().all(|id| *id == AddedId::NotNeeded) {
            return answer;
        }
        let results = added.into_iter().enumerate().map(|(position, id)| {
            if let Some(error) = missing_id(&answer, position) {
                return Err(error.clone().of_entry(id != AddedId::Impossible, false));
            }
            match answer.result(position) {
                Some(result) => result.cloned().map_err(Clone::clone),
                None => Err(SendError::unaccounted()),
            }
        });
        let answer = Answer::Entries(results.collect());
        self.lane.deduplication.is_not_by_content().await;
        answer
    }

    /// Completes entries without a deduplication id.
    async fn settle_deduplication<H: Execute>(&mut self, client: &H) -> Result<(), SendError> {
        let mut by_content = false;
        if self.entries.iter().any(K::asks_queue) {
            let asking = self.lane.deduplication.by_content(client, &self.lane.queue_url);
            by_content = contained(self.until, asking).await?.map_err(|error| kind::failure(&error))?;
        }
        for entry in &mut self.entries {
            K::settle(entry, by_content);
        }
        Ok(())
    }
}

/// Waits for the client below until `until`. If the call takes longer or panics, its outcome is unknown.
async fn contained<F: Future>(until: Instant, call: F) -> Result<F::Output, SendError> {
    match AssertUnwindSafe(timeout_at(until, call)).catch_unwind().await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(elapsed)) => Err(in_doubt(elapsed)),
        Err(panic) => {
            let panicked = Panicked::of(&*panic);
            tracing::error!(error = %panicked, "the client below panicked");
            Err(in_doubt(panicked))
        }
    }
}

/// The error of an entry, if SQS refused it because a deduplication id is missing.
fn missing_id<R>(answer: &Answer<R>, position: usize) -> Option<&SendError> {
    let error = answer.result(position)?.err()?;
    error.message()?.contains("MessageDeduplicationId").then_some(error)
}

fn in_doubt(cause: impl std::error::Error + Send + Sync + 'static) -> SendError {
    SendError::new(SendErrorKind::Request).caused_by(cause).maybe_sent(true).of_entry(true, false)
}
