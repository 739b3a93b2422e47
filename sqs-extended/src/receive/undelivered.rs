//! Received messages that nobody has got yet.

use sqs_client::client::Execute;
use std::time::Duration;
use tokio::runtime::Handle;

use crate::client::ExtendedClient;
use crate::event::Event;
use crate::store::PayloadStore;

/// Messages, by the receipt handles of the service, that are made visible again in the background when this is dropped: so no
/// receive that is dropped while it loads payloads leaves them hidden.
pub(super) struct Undelivered<S: PayloadStore, H: Execute> {
    client: ExtendedClient<S, H>,
    queue_url: String,
    handles: Vec<String>,
}

impl<S: PayloadStore, H: Execute> Undelivered<S, H> {
    pub(super) fn new(client: &ExtendedClient<S, H>, queue_url: &str, handles: Vec<String>) -> Self {
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

impl<S: PayloadStore, H: Execute> Drop for Undelivered<S, H> {
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
                client.shared.herald.tell(&Event::ReleaseFailed { error: &error });
            }
        });
    }
}
