//! Messages of a receive that is not complete.

use sqs_client::client::Execute;
use std::time::Duration;
use tokio::runtime::Handle;

use crate::client::ExtendedClient;
use crate::event::Event;

/// Makes messages visible again in the background on drop, because a receive may be dropped while it loads payloads.
/// Uses receipt handles of SQS.
/// payloads.
pub(super) struct ReleaseOnDrop<H: Execute> {
    client: ExtendedClient<H>,
    queue_url: String,
    handles: Vec<String>,
}

impl<H: Execute> ReleaseOnDrop<H> {
    pub(super) fn new(client: &ExtendedClient<H>, queue_url: &str, handles: Vec<String>) -> Self {
        Self { client: client.clone(), queue_url: queue_url.to_owned(), handles }
    }

    pub(super) fn handles(&self) -> &[String] {
        &self.handles
    }

    /// The messages are returned, so they are not released.
    pub(super) fn delivered(mut self) {
        self.handles.clear();
    }
}

impl<H: Execute> Drop for ReleaseOnDrop<H> {
    fn drop(&mut self) {
        let handles = std::mem::take(&mut self.handles);
        if handles.is_empty() {
            return;
        }
        // Without a runtime, the messages become visible when their visibility timeout is over.
        let Ok(runtime) = Handle::try_current() else { return };
        let (client, queue_url) = (self.client.clone(), std::mem::take(&mut self.queue_url));
        runtime.spawn(async move {
            if let Err(error) = client.hide(&queue_url, &handles, Duration::ZERO).await {
                client.shared.events.send(&Event::ReleaseFailed { error: &error });
            }
        });
    }
}
