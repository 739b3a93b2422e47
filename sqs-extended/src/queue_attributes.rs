//! Attributes of queues, cached.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::client::{CallOptions, Execute, OperationError as _};
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::limits::{MAX_BATCH_BYTES, MAXIMUM_MESSAGE_SIZE};
use tokio::time::{Instant, timeout};

use crate::client::{ExtendedClient, REQUEST_TIMEOUT};
use crate::format::sizes::{Selection, select};
use crate::send::SendRequest;
use crate::settings::Threshold;

/// How long attributes are cached.
const LIFETIME: Duration = Duration::from_mins(5);

/// How long a denial is cached.
const DENIED_FOR: Duration = Duration::from_mins(1);

/// Queues in the cache.
const CAPACITY: usize = 1_000;

/// The attributes of a queue, as far as they are known.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct QueueAttributes {
    maximum_message_size: Option<usize>,
    pub(crate) content_based_deduplication: Option<bool>,
    pub(crate) visibility_timeout: Option<Duration>,
}

/// The attributes of queues.
#[derive(Debug, Default)]
pub(crate) struct QueueAttributeCache {
    /// By URL, with their expiry. Locked for a few instructions.
    known: Mutex<HashMap<String, (QueueAttributes, Instant)>>,
}

impl QueueAttributeCache {
    /// The cached attributes.
    fn known(&self, queue_url: &str) -> Option<QueueAttributes> {
        let known = self.known.lock();
        known
            .get(queue_url)
            .filter(|(_, until)| Instant::now() < *until)
            .map(|(attributes, _)| attributes.clone())
    }

    /// The cached attributes, or those that SQS returns. If access is denied, none are known; if the call fails
    /// otherwise or takes too long, expired ones are used.
    pub(crate) async fn ask<H: Execute>(&self, client: &H, queue_url: &str) -> QueueAttributes {
        if let Some(attributes) = self.known(queue_url) {
            return attributes;
        }
        let expired = || self.known.lock().get(queue_url).map(|(attributes, _)| attributes.clone());
        let Ok(asked) = timeout(REQUEST_TIMEOUT, ask(client, queue_url)).await else {
            tracing::debug!(
                queue_url,
                "the attributes of a queue could not be read: SQS did not respond in time"
            );
            return expired().unwrap_or_default();
        };
        let (attributes, lifetime) = match asked {
            Ok(attributes) => (attributes, LIFETIME),
            Err(error) => {
                tracing::debug!(%error, queue_url, "the attributes of a queue could not be read");
                if !is_denial::<H>(&error) {
                    return expired().unwrap_or_default();
                }
                (QueueAttributes::default(), DENIED_FOR)
            }
        };
        self.learn(queue_url, attributes.clone(), Instant::now() + lifetime);
        attributes
    }

    fn learn(&self, queue_url: &str, attributes: QueueAttributes, until: Instant) {
        let mut known = self.known.lock();
        if known.len() >= CAPACITY {
            let now = Instant::now();
            known.retain(|_, (_, until)| now < *until);
        }
        if known.len() < CAPACITY || known.contains_key(queue_url) {
            known.insert(queue_url.to_owned(), (attributes, until));
        }
    }
}

/// Reads the attributes from SQS.
async fn ask<H: Execute>(client: &H, queue_url: &str) -> Result<QueueAttributes, H::Error> {
    let input = GetQueueAttributesInput::builder().queue_url(queue_url);
    let input = input.attribute_names(QueueAttributeName::All).build().map_err(sqs_client::Error::from)?;
    let output = client.execute::<GetQueueAttributes>(&input, CallOptions::default()).await?;
    let text = |name| output.attributes().and_then(|all| all.get(&name)).map(String::as_str);
    let seconds = |name| text(name).and_then(|text| text.parse().ok()).map(Duration::from_secs);
    Ok(QueueAttributes {
        maximum_message_size: text(QueueAttributeName::MaximumMessageSize).and_then(|text| text.parse().ok()),
        content_based_deduplication: Some(
            text(QueueAttributeName::ContentBasedDeduplication) == Some("true"),
        ),
        visibility_timeout: seconds(QueueAttributeName::VisibilityTimeout),
    })
}

/// Whether SQS rejected the request for good.
fn is_denial<H: Execute>(error: &H::Error) -> bool {
    let is_refusal = error.client_error().is_some_and(|error| error.service_error().is_some());
    is_refusal && !error.is_retryable()
}

impl<H: Execute> ExtendedClient<H> {
    /// The messages of a request whose payloads are stored.
    pub(crate) fn selection<O: SendRequest>(&self, input: &O::Input, threshold: Option<usize>) -> Selection {
        select(O::sizes(input, &self.shared.envelope), threshold, MAX_BATCH_BYTES)
    }

    /// The threshold that is known without a request: the smallest possible one if the attributes of the queue are not
    /// cached. `None`: every payload is stored.
    pub(crate) fn known_threshold(&self, queue_url: Option<&str>) -> Option<usize> {
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
    pub(crate) async fn threshold(&self, queue_url: Option<&str>) -> Option<usize> {
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
