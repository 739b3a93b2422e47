//! The size above which payloads are stored.

use sqs_client::client::Execute;
use sqs_client::wire::limits::{MAX_BATCH_BYTES, MAXIMUM_MESSAGE_SIZE};

use super::decision::{Selection, select};
use super::request::SendRequest;
use crate::client::ExtendedClient;
use crate::config::Threshold;
use crate::queue_attributes::QueueAttributes;

impl<H: Execute> ExtendedClient<H> {
    /// The messages of a request whose payloads are stored.
    pub(super) fn selection<O: SendRequest>(&self, input: &O::Input, threshold: Option<usize>) -> Selection {
        select(O::sizes(input, &self.shared.envelope), threshold, MAX_BATCH_BYTES)
    }

    /// The threshold that is known without a request: the smallest possible one if the attributes of the queue are not
    /// cached. `None`: every payload is stored.
    pub(super) fn known_threshold(&self, queue_url: Option<&str>) -> Option<usize> {
        let known = || {
            let least = usize::try_from(*MAXIMUM_MESSAGE_SIZE.start()).unwrap_or_default();
            self.shared
                .queue_attributes
                .known(queue_url.unwrap_or_default())
                .map_or(least, |known| limit(&known))
        };
        self.threshold_or_else(known)
    }

    /// The threshold. `None`: every payload is stored.
    pub(super) async fn threshold(&self, queue_url: Option<&str>) -> Option<usize> {
        let asked = match (self.shared.settings.threshold, queue_url) {
            (Threshold::Queue, Some(url)) => self.shared.queue_attributes.ask(&self.inner, url).await,
            _ => QueueAttributes::default(),
        };
        self.threshold_or_else(|| limit(&asked))
    }

    fn threshold_or_else(&self, of_queue: impl FnOnce() -> usize) -> Option<usize> {
        let settings = &self.shared.settings;
        let threshold = || match settings.threshold {
            Threshold::Bytes(bytes) => bytes,
            Threshold::Queue => of_queue(),
        };
        (!settings.stores_all).then(threshold)
    }
}

/// The limit of a queue, or the default if it is unknown.
fn limit(attributes: &QueueAttributes) -> usize {
    attributes.maximum_message_size.unwrap_or(Threshold::DEFAULT_BYTES)
}
