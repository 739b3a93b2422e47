//! Views of queues that receive no messages.

use std::time::Duration;

use crate::service::arn::QueueArn;
use crate::sqs::engine::{Counts, PeekedMessage, QueueDescription, WhyEmpty};
use crate::sqs::ops::Service;

/// The default time limit of waits.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// A view of one queue of a [`MockSqs`](crate::MockSqs). It shows messages without receiving or hiding them.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use sqs_mock_server::MockSqs;
/// let server = MockSqs::in_process();
/// let client = server.client();
/// let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// client.send_message().queue_url(&url).message_body("tea").send().await?;
///
/// let orders = server.queue("orders");
/// assert_eq!(orders.bodies(), ["tea"]);
/// assert_eq!(orders.counts().unwrap().in_flight, 0);
/// assert!(!server.queue("letters").exists());
/// # Ok(())
/// # }
/// ```
///
/// The waiting methods let a test wait for the code under test. Changes of the queue wake them; nothing is polled. On a
/// timeout their error lists the messages in the queue:
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use std::time::Duration;
/// # use sqs_mock_server::MockSqs;
/// # let server = MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// let orders = server.queue("orders").within(Duration::from_secs(2));
/// tokio::spawn(client.send_message().queue_url(&url).message_body("tea").send());
///
/// let messages = orders.expect_messages(1).await?;
/// assert_eq!(messages[0].body(), "tea");
///
/// let unmet = orders.wait_for(|messages| messages.iter().any(|message| message.body() == "milk")).await;
/// let text = unmet.unwrap_err().to_string();
/// assert!(text.starts_with("waited 2s for queue \"orders\" to meet the condition; it has 1:"), "{text}");
///
/// client.purge_queue().queue_url(&url).send().await?;
/// orders.wait_until_empty().await?;
/// orders.expect_none(Duration::from_millis(50)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct QueueView<'s> {
    pub(super) service: &'s Service,
    pub(super) arn: QueueArn,
    pub(super) timeout: Duration,
}

impl<'s> QueueView<'s> {
    pub(super) fn new(service: &'s Service, arn: QueueArn) -> Self {
        Self { service, arn, timeout: DEFAULT_TIMEOUT }
    }

    /// The queue with this name in another account, given as 12 digits.
    pub fn of_account(mut self, account: &str) -> Self {
        self.arn.account = account.into();
        self
    }

    /// The queue with this name in another region.
    pub fn in_region(mut self, region: &str) -> Self {
        self.arn.region = region.into();
        self
    }

    /// The ARN, whether the queue exists or not.
    pub fn arn(&self) -> &QueueArn {
        &self.arn
    }

    /// Whether the queue exists.
    pub fn exists(&self) -> bool {
        self.counts().is_some()
    }

    /// The exact numbers of messages; `None` if the queue does not exist.
    pub fn counts(&self) -> Option<Counts> {
        self.service.counts(&self.arn)
    }

    /// Attributes, tags and counts; `None` if the queue does not exist.
    pub fn describe(&self) -> Option<QueueDescription> {
        self.service.describe(&self.arn)
    }

    /// The reason why a receive would return no message now.
    pub fn why_empty(&self) -> WhyEmpty {
        self.service.why_empty(&self.arn)
    }

    /// All messages, visible or not, oldest first; empty if the queue does not exist.
    ///
    /// A queue with more than 1,000 messages is read in pages, between which it can change. Messages that are sent,
    /// received or deleted meanwhile may show as before or after the change. No message shows twice.
    pub fn messages(&self) -> Vec<PeekedMessage> {
        self.service.peek(&self.arn, 0, usize::MAX).unwrap_or_default()
    }

    /// The bodies of all messages, oldest first.
    pub fn bodies(&self) -> Vec<String> {
        self.messages().iter().map(|message| message.body().to_owned()).collect()
    }

    pub(super) fn name(&self) -> String {
        format!("queue {:?}", &*self.arn.name)
    }
}
