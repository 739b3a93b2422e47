//! One batch as a request.

use std::sync::Arc;

use sqs_client::client::{Execute, OperationError};
use sqs_client::operation::Operation;
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::types::QueueAttributeName;
use tokio::time::Instant;
use tracing::Span;

use crate::channel::{Channel, Item};
use crate::kind::{self, Input, Kind};
use crate::lane::{Answer, Lane};
use crate::span::messaging_span;
use crate::stats::Batch;

/// A batch that is to be sent.
pub(crate) struct Request<K: Kind> {
    channel: Arc<Channel<K>>,
    input: Input<K>,
    /// Places of entries whose deduplication id is only for queues that make none of the content.
    spare_ids: Vec<usize>,
    batch: Batch,
    span: Span,
}

impl<K: Kind> Request<K> {
    /// The batch of this number, which has just been dispatched.
    pub(crate) fn of(
        channel: &Arc<Channel<K>>,
        lane: &Lane<Item<K>, K::Receipt>,
        number: u64,
        now: Instant,
    ) -> Self {
        let batch = Batch::of(lane.batch(number), now);
        let span = span::<K>(&channel.queue_url, batch.entries);
        for pending in lane.batch(number) {
            span.follows_from(&pending.item.span);
        }
        let (input, spare_ids) =
            K::input(&channel.queue_url, lane.batch(number).map(|pending| &pending.item.entry));
        Self { channel: Arc::clone(channel), input, spare_ids, batch, span }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// Sends it.
    pub(crate) async fn send<H: Execute>(mut self, handle: H) -> Answer<K::Receipt> {
        if !self.spare_ids.is_empty() && self.channel.has_content_based_deduplication(&handle).await {
            K::without_ids(&mut self.input, &self.spare_ids);
        }
        let result = handle.execute::<K::Operation>(self.input).await;
        if let Err(error) = &result {
            tracing::debug!(%error, retryable = error.is_retryable(), "a batch failed");
        }
        let answer = kind::answer::<K, H::Error>(result, self.batch.entries);
        self.channel.counters.sent(&self.batch);
        answer
    }
}

fn span<K: Kind>(queue_url: &str, entries: usize) -> Span {
    let operation = K::Operation::ACTION.as_str();
    messaging_span!(DEBUG "sqs.batch", "client", operation, K::OPERATION_TYPE, queue_url,
        messaging.batch.message_count = entries)
}

impl<K: Kind> Channel<K> {
    /// Whether the queue makes deduplication ids of the content. It is asked once; where it does not say, messages are
    /// best left as they are.
    async fn has_content_based_deduplication<H: Execute>(&self, handle: &H) -> bool {
        let ask = async {
            let mut input = GetQueueAttributesInput::default();
            input.queue_url = Some(self.queue_url.as_ref().to_owned());
            let name = QueueAttributeName::ContentBasedDeduplication;
            input.attribute_names = Some(vec![name.clone()]);
            let output = handle.execute::<GetQueueAttributes>(input).await?;
            Ok::<_, H::Error>(
                output.attributes().and_then(|all| all.get(&name)).is_some_and(|on| on == "true"),
            )
        };
        match self.makes_ids.get_or_try_init(|| ask).await {
            Ok(on) => *on,
            Err(error) => {
                tracing::warn!(%error, "cannot ask whether the queue makes deduplication ids");
                true
            }
        }
    }
}
