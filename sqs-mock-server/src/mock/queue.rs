//! Looking into queues without receiving.

use crate::engine::{Counts, PeekedMessage, QueueArn};
use crate::ops::Service;

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
#[derive(Clone, Debug)]
pub struct QueueView<'s> {
    service: &'s Service,
    arn: QueueArn,
}

impl<'s> QueueView<'s> {
    pub(super) fn new(service: &'s Service, arn: QueueArn) -> Self {
        Self { service, arn }
    }

    /// Whether there is such a queue now.
    pub fn exists(&self) -> bool {
        self.counts().is_some()
    }

    /// How many messages it has, exactly; `None` when there is no such queue.
    pub fn counts(&self) -> Option<Counts> {
        self.service.counts(&self.arn)
    }

    /// Its messages from the oldest on, visible or not; none when there is no such queue.
    pub fn messages(&self) -> Vec<PeekedMessage> {
        self.service.peek(&self.arn, 0, usize::MAX).unwrap_or_default()
    }

    /// The bodies of its messages from the oldest on.
    pub fn bodies(&self) -> Vec<String> {
        self.messages().iter().map(|message| message.payload.body.to_string()).collect()
    }
}
