//! Whether a queue makes deduplication ids of the content, as far as it was asked.

use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::client::{CallOptions, Execute, OperationError as _, Retries};
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::types::QueueAttributeName;
use tokio::time::Instant;

use crate::time::after;

/// How long an answer holds: somebody may switch it on or off.
const FRESH: Duration = Duration::from_mins(5);

/// What is known of one queue.
#[derive(Debug, Default)]
pub(crate) struct ContentIds {
    /// Locked while the queue is asked; batches that need to know wait for the one that asks.
    asking: tokio::sync::Mutex<()>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    makes_ids: bool,
    until: Option<Instant>,
    was_denied: bool,
}

impl ContentIds {
    /// Whether the queue makes ids. Where it may not be asked, that is taken as so until it
    /// [turns out otherwise](Self::are_not_made): a message with an id of its own would never be deduplicated by content.
    ///
    /// # Errors
    /// It could not be asked.
    pub(crate) async fn are_made<H: Execute>(&self, handle: &H, queue_url: &str) -> Result<bool, H::Error> {
        let _asking = self.asking.lock().await;
        if let Some(makes_ids) = self.known.lock().fresh() {
            return Ok(makes_ids);
        }
        let makes_ids = match ask(handle, queue_url).await {
            Ok(makes_ids) => makes_ids,
            Err(error) if error.client_error().is_some_and(sqs_client::Error::is_access_denied) => {
                if !std::mem::replace(&mut self.known.lock().was_denied, true) {
                    tracing::warn!(%error, "the queue may not be asked whether it makes deduplication ids");
                }
                true
            }
            Err(error) => return Err(error),
        };
        // What it said of itself meanwhile, when it refused a message, stands.
        let mut known = self.known.lock();
        Ok(known.fresh().unwrap_or_else(|| known.note(makes_ids)))
    }

    /// The queue has said that it makes none.
    pub(crate) fn are_not_made(&self) {
        self.known.lock().note(false);
    }
}

impl Known {
    fn fresh(&self) -> Option<bool> {
        self.until.is_some_and(|until| Instant::now() < until).then_some(self.makes_ids)
    }

    fn note(&mut self, makes_ids: bool) -> bool {
        (self.makes_ids, self.until) = (makes_ids, Some(after(Instant::now(), FRESH)));
        makes_ids
    }
}

async fn ask<H: Execute>(handle: &H, queue_url: &str) -> Result<bool, H::Error> {
    let mut input = GetQueueAttributesInput::default();
    input.queue_url = Some(queue_url.to_owned());
    let name = QueueAttributeName::ContentBasedDeduplication;
    input.attribute_names = Some(vec![name.clone()]);
    let output =
        handle.execute::<GetQueueAttributes>(&input, CallOptions::with_retries(Retries::Never)).await?;
    Ok(output.attributes().and_then(|all| all.get(&name)).is_some_and(|on| on == "true"))
}
