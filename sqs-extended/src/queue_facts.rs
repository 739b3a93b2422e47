//! What has to be known of queues, asked for and kept for a while.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use sqs_client::client::{CallOptions, Execute, OperationError as _};
use sqs_client::operation::get_queue_attributes::{GetQueueAttributes, GetQueueAttributesInput};
use sqs_client::types::QueueAttributeName;
use tokio::time::Instant;

/// How long an answer holds.
const LIFETIME: Duration = Duration::from_mins(5);
/// How long it is not asked again after a refusal.
const LIFETIME_OF_A_REFUSAL: Duration = Duration::from_mins(1);
/// Queues that are remembered.
const CAPACITY: usize = 1_000;

/// What a queue says of itself; what it does not say is absent.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct QueueFacts {
    pub(crate) maximum_message_size: Option<usize>,
    pub(crate) content_based_deduplication: Option<bool>,
    pub(crate) visibility_timeout: Option<Duration>,
    pub(crate) retention: Option<Duration>,
}

/// What is known of queues.
#[derive(Debug, Default)]
pub(crate) struct Almanac {
    /// By URL, with the moment until which it holds. Taken for a few instructions.
    known: Mutex<HashMap<String, (QueueFacts, Instant)>>,
}

impl Almanac {
    /// What is known now.
    pub(crate) fn known(&self, queue_url: &str) -> Option<QueueFacts> {
        let known = self.known.lock();
        known.get(queue_url).filter(|(_, until)| Instant::now() < *until).map(|(facts, _)| *facts)
    }

    /// What is known, or else what the queue answers; nothing when it may not be asked, and what was known last, if anything,
    /// when it could not be asked this time.
    pub(crate) async fn ask<H: Execute>(&self, client: &H, queue_url: &str) -> QueueFacts {
        if let Some(facts) = self.known(queue_url) {
            return facts;
        }
        let (facts, lifetime) = match ask(client, queue_url).await {
            Ok(facts) => (facts, LIFETIME),
            Err(error) => {
                tracing::debug!(%error, queue_url, "the queue does not tell its attributes");
                if !is_denial::<H>(&error) {
                    return self.known.lock().get(queue_url).map(|(facts, _)| *facts).unwrap_or_default();
                }
                (QueueFacts::default(), LIFETIME_OF_A_REFUSAL)
            }
        };
        self.learn(queue_url, facts, Instant::now() + lifetime);
        facts
    }

    fn learn(&self, queue_url: &str, facts: QueueFacts, until: Instant) {
        let mut known = self.known.lock();
        if known.len() >= CAPACITY {
            let now = Instant::now();
            known.retain(|_, (_, until)| now < *until);
        }
        if known.len() < CAPACITY || known.contains_key(queue_url) {
            known.insert(queue_url.to_owned(), (facts, until));
        }
    }
}

/// Asks a queue.
pub(crate) async fn ask<H: Execute>(client: &H, queue_url: &str) -> Result<QueueFacts, H::Error> {
    let input = GetQueueAttributesInput::builder().queue_url(queue_url);
    let input = input.attribute_names(QueueAttributeName::All).build().map_err(sqs_client::Error::from)?;
    let output = client.execute::<GetQueueAttributes>(&input, CallOptions::default()).await?;
    let text = |name| output.attributes().and_then(|all| all.get(&name)).map(String::as_str);
    let seconds = |name| text(name).and_then(|text| text.parse().ok()).map(Duration::from_secs);
    Ok(QueueFacts {
        maximum_message_size: text(QueueAttributeName::MaximumMessageSize).and_then(|text| text.parse().ok()),
        content_based_deduplication: Some(
            text(QueueAttributeName::ContentBasedDeduplication) == Some("true"),
        ),
        visibility_timeout: seconds(QueueAttributeName::VisibilityTimeout),
        retention: seconds(QueueAttributeName::MessageRetentionPeriod),
    })
}

/// Whether the service has answered, with a no that asking again does not change.
fn is_denial<H: Execute>(error: &H::Error) -> bool {
    let is_refusal = error.client_error().is_some_and(|error| error.service_error().is_some());
    is_refusal && !error.is_retryable()
}
