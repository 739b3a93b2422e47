//! Whether a FIFO queue has content-based deduplication, cached for some time.

use std::time::Duration;

use sqs_client::client::{CallOptions, Execute, OperationError as _, Retries};
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::types::QueueAttributeName;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::time::after;

/// How long the attribute is cached: it can be changed.
const FRESH: Duration = Duration::from_mins(5);

/// The cached attribute of one queue.
#[derive(Debug, Default)]
pub(crate) struct Deduplication {
    /// Locked during the lookup; other batches wait for its result.
    known: Mutex<Option<Known>>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    by_content: bool,
    until: Instant,
}

impl Deduplication {
    /// Whether the queue has content-based deduplication. If access is denied, the result is true until SQS
    /// [requires an id](Self::is_not_by_content): a generated id would disable content-based deduplication.
    ///
    /// # Errors
    /// The lookup failed.
    pub(crate) async fn by_content<H: Execute>(&self, client: &H, queue_url: &str) -> Result<bool, H::Error> {
        let mut known = self.known.lock().await;
        if let Some(fresh) = known.filter(|known| Instant::now() < known.until) {
            return Ok(fresh.by_content);
        }
        let by_content = match ask(client, queue_url).await {
            Ok(by_content) => by_content,
            Err(error) if error.client_error().is_some_and(sqs_client::Error::is_access_denied) => {
                tracing::warn!(
                    %error,
                    queue_url,
                    "access denied: cannot read whether the queue has content-based deduplication; messages are sent without a \
                     deduplication id until SQS requires one. Allow sqs:GetQueueAttributes, or set DedupId"
                );
                true
            }
            // Use the expired value: queues rarely change, and SQS reports a missing id.
            Err(_) if let Some(old) = *known => old.by_content,
            Err(error) => return Err(error),
        };
        *known = Some(Known { by_content, until: after(Instant::now(), FRESH) });
        Ok(by_content)
    }

    /// SQS has refused a message without an id.
    pub(crate) async fn is_not_by_content(&self) {
        let until = after(Instant::now(), FRESH);
        *self.known.lock().await = Some(Known { by_content: false, until });
    }
}

async fn ask<H: Execute>(client: &H, queue_url: &str) -> Result<bool, H::Error> {
    let mut input = GetQueueAttributesInput::default();
    input.queue_url = Some(queue_url.to_owned());
    let name = QueueAttributeName::ContentBasedDeduplication;
    input.attribute_names = Some(vec![name.clone()]);
    let output =
        client.execute::<GetQueueAttributes>(&input, CallOptions::with_retries(Retries::Never)).await?;
    Ok(output.attributes().and_then(|all| all.get(&name)).is_some_and(|on| on == "true"))
}
