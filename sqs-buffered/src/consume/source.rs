//! The queue of a receiver or consumer, with its client.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use tokio::time::Instant;

use crate::produce::{BufferedClient, EnqueueError, SendError, Ticket};
use crate::time::whole_seconds;

/// The queue of a receiver or consumer, with its client. Clones share both.
#[derive(Clone, Debug)]
pub(crate) struct Source<H: Execute> {
    pub(crate) client: BufferedClient<H>,
    pub(crate) url: Arc<str>,
}

impl<H: Execute> Source<H> {
    pub(crate) fn is_fifo(&self) -> bool {
        crate::produce::is_fifo(&self.url)
    }

    /// Hides a message for this many seconds from now. Not attempted after `until`: another consumer may have the message then.
    pub(crate) async fn hide(&self, handle: &str, seconds: u32, until: Instant) -> Result<(), SendError> {
        let seconds = i32::try_from(seconds).unwrap_or(i32::MAX);
        self.client.enqueue_visibility_until(&self.url, handle, seconds, Some(until)).await?.await
    }

    /// Like [`hide`](Self::hide). Fractions of a second are rounded up.
    pub(crate) async fn delay(&self, handle: &str, delay: Duration, until: Instant) -> Result<(), SendError> {
        let seconds = u32::try_from(whole_seconds(delay)).unwrap_or(u32::MAX);
        self.hide(handle, seconds, until).await
    }

    /// Deletes a message by the handle of its opened form. `own` is the handle of SQS, by which its visibility is changed.
    pub(crate) async fn enqueue_delete(
        &self,
        handle: &str,
        own: &str,
    ) -> Result<Ticket<()>, EnqueueError<String>> {
        let admitted = self.client.enqueue_delete(&self.url, handle).await?;
        if handle != own {
            self.client.supersede_visibility(&self.url, own);
        }
        Ok(admitted)
    }
}
