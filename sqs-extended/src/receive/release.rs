//! Received messages that nobody has got yet.

use sqs_client::client::Execute;
use std::time::Duration;
use tokio::runtime::Handle;

use crate::client::ExtendedClient;
use crate::event::Event;

/// Messages, by the receipt handles of the service, that are made visible again in the background when this is dropped: so no
/// receive that is dropped while it loads payloads leaves them hidden.
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

    /// They are handed out.
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
        // Without a runtime they come back when their time is over.
        let Ok(runtime) = Handle::try_current() else { return };
        let (client, queue_url) = (self.client.clone(), std::mem::take(&mut self.queue_url));
        runtime.spawn(async move {
            if let Err(error) = client.hide(&queue_url, &handles, Duration::ZERO).await {
                client.shared.events.send(&Event::ReleaseFailed { error: &error });
            }
        });
    }
}
