//! Views of queues that receive no messages, waits for their state, and their throughput quotas.

use std::fmt;
use std::time::Duration;

use crate::config::file::{Table, excerpt};
use crate::control::arn::QueueArn;
use crate::mock::MockSqs;
use crate::sqs::engine::inspect::{PeekedMessage, QueueDescription, WhyEmpty};
use crate::sqs::engine::messages::Counts;
use crate::sqs::engine::throughput::{QuotaScope, ThroughputQuotas};
use crate::sqs::service::Service;

/// The maximum number of rows of a table of messages.
const ROWS: usize = 20;

/// The maximum number of characters of a body in it.
const BODY: usize = 48;

/// The default time limit of waits.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// A view of one queue of a [`MockSqs`](crate::mock::MockSqs). It shows messages without receiving or hiding them.
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
    service: &'s Service,
    arn: QueueArn,
    timeout: Duration,
}

impl<'s> QueueView<'s> {
    pub(crate) fn new(service: &'s Service, arn: QueueArn) -> Self {
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

    /// The throughput quotas that apply to the queue; `None` without quotas, and for standard queues.
    pub fn throughput_quotas(&self) -> Option<ThroughputQuotas> {
        self.service.quotas_of(&self.arn)
    }

    /// Sets the time limit of waits, 5 seconds by default. It is measured in real time, whatever the clock of the
    /// server does. Under tokio's paused clock, a wait that times out takes no real time.
    pub fn within(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Waits until `accept` returns true for the messages of the queue, visible or not and oldest first, and returns
    /// them. Calls `accept` at first, and after each change of the queue or its messages. A queue that does not exist
    /// yet has no messages. Of more than 1,000 messages, some may show as before a change and others as after it, as
    /// with [`messages`](Self::messages).
    ///
    /// # Errors
    /// The wait timed out.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait_for(
        &self,
        accept: impl Fn(&[PeekedMessage]) -> bool,
    ) -> Result<Vec<PeekedMessage>, Unmet> {
        self.wait("to meet the condition", || Some(self.messages()).filter(|messages| accept(messages))).await
    }

    /// Waits until the queue has exactly `count` messages, visible or not, and returns them, oldest first.
    ///
    /// # Errors
    /// The number differed when the wait timed out.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn expect_messages(&self, count: usize) -> Result<Vec<PeekedMessage>, Unmet> {
        let messages = if count == 1 { "message" } else { "messages" };
        let look = || self.service.peek_if(&self.arn, |total| total == count);
        self.wait(&format!("to have {count} {messages}"), look).await
    }

    /// Waits until the queue has no messages: all were deleted, moved or have expired.
    ///
    /// # Errors
    /// There were still messages when the wait timed out.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait_until_empty(&self) -> Result<(), Unmet> {
        let look = || self.service.peek_if(&self.arn, |total| total == 0);
        self.wait("to be empty", look).await.map(drop)
    }

    /// Checks that the queue has no messages during `within`, in real time as with [`within`](Self::within).
    ///
    /// # Errors
    /// The queue has a message, or gets one. Returns immediately then.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn expect_none(&self, within: Duration) -> Result<(), Unmet> {
        let look = || self.service.peek_if(&self.arn, |total| total > 0);
        match self.clone().within(within).wait("", look).await {
            Ok(seen) => {
                let expected = format!("expected no message in {} for {within:?}", self.name());
                Err(Unmet { expected, seen: Some(seen), similar: None })
            }
            Err(_) => Ok(()),
        }
    }

    async fn wait(
        &self,
        condition: &str,
        look: impl FnMut() -> Option<Vec<PeekedMessage>>,
    ) -> Result<Vec<PeekedMessage>, Unmet> {
        let looked = tokio::time::timeout(self.timeout, self.service.until(&self.arn, look)).await;
        looked.map_err(|_| {
            let expected = format!("waited {:?} for {} {condition}", self.timeout, self.name());
            let seen = self.service.peek(&self.arn, 0, usize::MAX);
            let QueueArn { region, account, name } = &self.arn;
            let similar = match seen {
                None => self.service.shared.similar(region, account, name),
                Some(_) => None,
            };
            Unmet { expected, seen, similar: similar.map(|queue| queue.arn().name.clone()) }
        })
    }

    fn name(&self) -> String {
        format!("queue {:?}", &*self.arn.name)
    }
}

/// A wait that timed out, or an unexpected message. `Display` and `Debug` list the messages in the queue.
#[derive(Clone)]
pub struct Unmet {
    expected: String,
    seen: Option<Vec<PeekedMessage>>,
    /// A queue with a similar name, if this one does not exist.
    similar: Option<Box<str>>,
}

impl Unmet {
    /// The messages in the queue at the end of the wait, oldest first.
    pub fn messages(&self) -> &[PeekedMessage] {
        self.seen.as_deref().unwrap_or_default()
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.seen {
            None => {
                write!(f, "{}; the queue does not exist", self.expected)?;
                self.similar.as_ref().map_or(Ok(()), |similar| write!(f, "; there is {similar:?}"))
            }
            Some(seen) => write!(f, "{}; it has {}:\n{}", self.expected, seen.len(), Messages(seen)),
        }
    }
}

/// The same as `Display`, so that `unwrap` shows the messages.
impl fmt::Debug for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Unmet {}

/// Shows messages, one per line.
pub(crate) struct Messages<'m>(pub(crate) &'m [PeekedMessage]);

impl fmt::Display for Messages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("  (no messages)\n");
        }
        let row = |message: &PeekedMessage| {
            [
                excerpt(message.body(), BODY),
                message.visibility.to_string(),
                message.receive_count.to_string(),
                message.group.as_deref().unwrap_or("-").to_owned(),
                message.id.to_string(),
            ]
        };
        let head = ["body", "state", "receives", "group", "id"];
        Table::new(head, self.0.iter().map(row), ROWS).fmt(f)
    }
}

impl MockSqs {
    /// Sets throughput quotas of FIFO queues, or with `None` removes them. By default there are none. They apply
    /// immediately and until the next [reset](Self::reset), which restores those of the
    /// [builder](crate::mock::builder::MockSqsBuilder::throughput_quotas).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use sqs_client::Client;
    /// use sqs_client::config::retry::RetryConfig;
    /// use sqs_client::types::QueueAttributeName::FifoQueue;
    /// use sqs_mock_server::{MockSqs, QuotaScope, ThroughputQuotas};
    ///
    /// let server = MockSqs::builder().clock_frozen().in_process()?;
    /// server.set_throughput_quotas(QuotaScope::Server, ThroughputQuotas::default());
    ///
    /// let config = server.client_config().retry_config(RetryConfig::disabled()); // otherwise the client retries
    /// let client = Client::from_conf(config.build());
    /// let create = client.create_queue().queue_name("jobs.fifo").attributes(FifoQueue, "true");
    /// let url = create.send().await?.queue_url.unwrap();
    /// for _ in 0..300 {
    ///     client.receive_message().queue_url(&url).send().await?;
    /// }
    /// let refused = client.receive_message().queue_url(&url).send().await.unwrap_err();
    /// assert_eq!(refused.code(), Some("RequestThrottled"));
    ///
    /// server.clock().advance(std::time::Duration::from_secs(1));
    /// client.receive_message().queue_url(&url).send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_throughput_quotas(&self, scope: QuotaScope, quotas: impl Into<Option<ThroughputQuotas>>) {
        let quotas = quotas.into();
        self.service.change_quotas(|table| table.set(scope, quotas));
    }

    /// Removes the quotas of this scope, so that those of the next wider scope apply.
    pub fn inherit_throughput_quotas(&self, scope: &QuotaScope) {
        self.service.change_quotas(|table| table.remove(scope));
    }
}
