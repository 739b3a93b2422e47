//! Looking into queues without receiving.

use std::time::Duration;

use crate::service::arn::QueueArn;
use crate::sqs::engine::{Counts, PeekedMessage, QueueDescription, WhyEmpty};
use crate::sqs::ops::Service;

/// How long waits take at most, unless a test says otherwise.
const PATIENCE: Duration = Duration::from_secs(5);

/// A look into one queue of a [`MockSqs`](crate::MockSqs). Looking changes nothing: no message is received or
/// hidden by it.
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
/// Code under test works while the test waits. The waits of a view are woken by what happens to the queue, and say
/// what is there instead when they end in vain:
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
/// assert!(text.starts_with("waited 2s for queue \"orders\" to be as wanted; it has 1:"), "{text}");
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
    pub(super) patience: Duration,
}

impl<'s> QueueView<'s> {
    pub(super) fn new(service: &'s Service, arn: QueueArn) -> Self {
        Self { service, arn, patience: PATIENCE }
    }

    /// The queue of this name in another account, which is 12 digits.
    pub fn of_account(mut self, account: &str) -> Self {
        self.arn.account = account.into();
        self
    }

    /// The queue of this name in another region.
    pub fn in_region(mut self, region: &str) -> Self {
        self.arn.region = region.into();
        self
    }

    /// Its ARN, whether it exists or not.
    pub fn arn(&self) -> &QueueArn {
        &self.arn
    }

    /// Whether there is such a queue now.
    pub fn exists(&self) -> bool {
        self.counts().is_some()
    }

    /// How many messages it has, exactly; `None` when there is no such queue.
    pub fn counts(&self) -> Option<Counts> {
        self.service.counts(&self.arn)
    }

    /// Its attributes, tags and counts; `None` when there is no such queue.
    pub fn describe(&self) -> Option<QueueDescription> {
        self.service.describe(&self.arn)
    }

    /// Why a receive would get nothing now.
    pub fn why_empty(&self) -> WhyEmpty {
        self.service.why_empty(&self.arn)
    }

    /// Its messages from the oldest on, visible or not; none when there is no such queue.
    pub fn messages(&self) -> Vec<PeekedMessage> {
        self.service.peek(&self.arn, 0, usize::MAX).unwrap_or_default()
    }

    /// The bodies of its messages from the oldest on.
    pub fn bodies(&self) -> Vec<String> {
        self.messages().iter().map(|message| message.body().to_owned()).collect()
    }

    pub(super) fn name(&self) -> String {
        format!("queue {:?}", &*self.arn.name)
    }
}
