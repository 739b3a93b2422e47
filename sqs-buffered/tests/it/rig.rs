//! A server with a queue, and buffered clients for it.

use std::time::Duration;

use sqs_buffered::{BufferedClient, BufferedClientBuilder, Entry, SendReceipt, Ticket};
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::operation::Action;
use sqs_client::transport::Transport;
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::MockSqs;

use super::base_client::{Base, BaseClient};

/// The number of messages in each of several concurrent requests. A lone request runs in the worker of its lane, others
/// in tasks.
pub(crate) const SHAPES: [&[usize]; 3] = [&[1], &[10], &[1, 10]];

/// A server and one queue.
pub(crate) struct Rig<C = BaseClient> {
    pub(crate) server: MockSqs,
    /// A plain client that shows the content of the queue.
    pub(crate) client: sqs_client::Client,
    /// The client below the buffered client. It makes one attempt, so each failure reaches the lanes.
    pub(crate) base: C,
    pub(crate) url: String,
    name: &'static str,
}

impl Rig {
    pub(crate) async fn standard() -> Self {
        Self::of("q", 7, &[]).await
    }

    /// Without content-based deduplication.
    pub(crate) async fn fifo() -> Self {
        Self::of("q.fifo", 7, &[(QueueAttributeName::FifoQueue, "true")]).await
    }

    pub(crate) async fn of(name: &'static str, seed: u64, attributes: &[(QueueAttributeName, &str)]) -> Self {
        Self::over(name, seed, attributes).await
    }
}

impl<C: Base> Rig<C> {
    /// A rig whose buffered clients use a client of this type.
    pub(crate) async fn over(
        name: &'static str,
        seed: u64,
        attributes: &[(QueueAttributeName, &str)],
    ) -> Self {
        let server = MockSqs::builder().seed(seed).in_process().unwrap();
        let timeouts = TimeoutConfig::builder().build();
        let base = C::over(&server, server.transport(), RetryConfig::disabled(), timeouts);
        let config = server.client_config().retry_config(RetryConfig::disabled());
        let client = sqs_client::Client::from_conf(config.build());
        let attributes = attributes.iter().map(|(name, value)| (name.clone(), (*value).to_owned())).collect();
        let create = client.create_queue().queue_name(name).set_attributes(Some(attributes));
        let url = create.send().await.unwrap().queue_url.unwrap();
        Self { server, client, base, url, name }
    }

    pub(crate) fn buffered(&self) -> BufferedClient<C> {
        BufferedClient::new(self.base.clone())
    }

    pub(crate) fn builder(&self) -> BufferedClientBuilder<C> {
        BufferedClient::builder(self.base.clone())
    }

    /// A message with a group of its own on FIFO queues.
    pub(crate) fn message(&self, body: &str) -> Entry {
        let entry = Entry::new(&self.url, body);
        let is_fifo = self.url.ends_with(".fifo");
        if is_fifo { entry.message_group_id(body).message_deduplication_id(body) } else { entry }
    }

    /// Enqueues this many messages for each request, without pauses within a request.
    pub(crate) async fn begin(
        &self,
        buffered: &BufferedClient<C>,
        shape: &[usize],
    ) -> Vec<Ticket<SendReceipt>> {
        let mut tickets = Vec::new();
        for (request, messages) in shape.iter().enumerate() {
            for number in 0..*messages {
                tickets.push(buffered.try_enqueue(self.message(&format!("{request}-{number}"))).unwrap());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tickets
    }

    /// The bodies in the queue, in order.
    pub(crate) fn bodies(&self) -> Vec<String> {
        self.server.queue(self.name).bodies()
    }

    /// Counts requests for an action from now on.
    pub(crate) fn count(&self, action: Action) -> sqs_mock_server::faults::InjectedFault {
        let nothing = sqs_mock_server::faults::Fault::latency(std::time::Duration::ZERO);
        self.server.faults().inject(nothing.on(action))
    }

    /// Receives all visible messages.
    pub(crate) async fn receive(&self) -> Vec<sqs_client::types::Message> {
        let mut all = Vec::new();
        loop {
            let receive = self.client.receive_message().queue_url(&self.url).max_number_of_messages(10);
            let messages = receive.send().await.unwrap().messages.unwrap_or_default();
            if messages.is_empty() {
                return all;
            }
            all.extend(messages);
        }
    }
}

/// A number from the environment, for longer runs of random tests.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A client with default settings.
pub(crate) fn default_client(server: &MockSqs, transport: impl Transport) -> BaseClient {
    BaseClient::over(server, transport, RetryConfig::standard(), TimeoutConfig::builder().build())
}
