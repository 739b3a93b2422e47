//! The test rig: a server with a queue, a store, and an extended client of both.

use std::sync::{Arc, Mutex};

use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::types::{Message, MessageAttributeValue, QueueAttributeName};
use sqs_extended::{ExtendedClient, ExtendedClientBuilder, MemoryStore, Pointer, PointerClass};
use sqs_mock_server::MockSqs;

use super::base_client::{Base, BaseClient};
use super::faulty_store::FaultyStore;

pub(crate) type Extended<C = BaseClient> = ExtendedClient<C>;

pub(crate) struct Rig<C: Base = BaseClient> {
    pub(crate) server: MockSqs,
    pub(crate) store: FaultyStore,
    /// A client without the extended layer: it shows messages as they are in the queue.
    pub(crate) plain: Client,
    /// The client that the extended client sends through.
    pub(crate) base: C,
    pub(crate) client: Extended<C>,
    pub(crate) url: String,
    name: &'static str,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        Self::with("q", |builder| builder).await
    }

    /// A rig with a queue of this name. A `.fifo` queue has content-based deduplication.
    pub(crate) async fn with(
        name: &'static str,
        settings: impl FnOnce(ExtendedClientBuilder<BaseClient>) -> ExtendedClientBuilder<BaseClient>,
    ) -> Self {
        Self::retrying(name, RetryConfig::disabled(), settings).await
    }

    /// A rig whose base client retries as `retry` says.
    pub(crate) async fn retrying(
        name: &'static str,
        retry: RetryConfig,
        settings: impl FnOnce(ExtendedClientBuilder<BaseClient>) -> ExtendedClientBuilder<BaseClient>,
    ) -> Self {
        Self::over(name, retry, settings).await
    }
}

impl<C: Base> Rig<C> {
    /// A rig whose extended client uses a client of this type, which retries as `retry` says.
    pub(crate) async fn over(
        name: &'static str,
        retry: RetryConfig,
        settings: impl FnOnce(ExtendedClientBuilder<C>) -> ExtendedClientBuilder<C>,
    ) -> Self {
        let server = MockSqs::builder().seed(7).in_process().unwrap();
        let timeouts = TimeoutConfig::builder().build();
        let base = C::over(&server, server.transport(), retry.clone(), timeouts);
        let plain = Client::from_conf(server.client_config().retry_config(retry).build());
        let mut create = plain.create_queue().queue_name(name);
        if name.ends_with(".fifo") {
            create = create.attributes(QueueAttributeName::FifoQueue, "true");
            create = create.attributes(QueueAttributeName::ContentBasedDeduplication, "true");
        }
        let url = create.send().await.unwrap().queue_url.unwrap();
        let store = FaultyStore::new(MemoryStore::new("own"));
        let builder = ExtendedClient::builder(base.clone(), store.clone());
        let client = settings(builder).build().unwrap();
        Self { server, store, plain, base, client, url, name }
    }

    pub(crate) async fn send(&self, body: impl Into<String>) {
        self.client.send_message().queue_url(&self.url).message_body(body).send().await.unwrap();
    }

    /// Sends a message without the extended client, as another program might.
    pub(crate) async fn send_raw(&self, body: impl Into<String>, attribute: Option<(&str, &str)>) {
        let mut send = self.plain.send_message().queue_url(&self.url).message_body(body);
        if let Some((name, value)) = attribute {
            send = send.message_attributes(name, MessageAttributeValue::number(value));
        }
        send.send().await.unwrap();
    }

    /// Stores an object and sends a pointer to it, as another library might.
    pub(crate) async fn store_and_send(&self, key: &str, bytes: &[u8]) -> Pointer {
        let pointer = Pointer::new("own", key);
        self.store.overwrite(&pointer, bytes.to_vec());
        let size = bytes.len().to_string();
        self.send_raw(pointer.to_body(PointerClass::Modern), Some(("ExtendedPayloadSize", &size))).await;
        pointer
    }

    /// Receives up to ten messages.
    pub(crate) async fn receive(&self) -> Vec<Message> {
        let receive = self.client.receive_message().queue_url(&self.url).max_number_of_messages(10);
        receive.send().await.unwrap().messages.unwrap_or_default()
    }

    /// Receives up to ten messages without resolving their pointers.
    pub(crate) async fn receive_plain(&self) -> Vec<Message> {
        let receive = self.plain.receive_message().queue_url(&self.url).max_number_of_messages(10);
        let receive = receive.message_attribute_names("All");
        receive.send().await.unwrap().messages.unwrap_or_default()
    }

    /// The bodies of the messages in the queue.
    pub(crate) fn bodies(&self) -> Vec<String> {
        self.server.queue(self.name).bodies()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.server.queue(self.name).counts().unwrap().in_flight
    }

    /// The objects that the messages in the queue point to.
    pub(crate) fn pointers(&self) -> Vec<Pointer> {
        let mut pointers: Vec<_> =
            self.bodies().iter().filter_map(|body| Pointer::from_body(body).ok()).collect();
        pointers.sort_by(|a, b| a.key().cmp(b.key()));
        pointers
    }
}

/// A text one byte above the default threshold. It begins with `mark`.
pub(crate) fn large(mark: &str) -> String {
    format!("{mark}{}", "x".repeat(262_145 - mark.len()))
}

/// Records the events of a client.
#[derive(Clone, Default)]
pub(crate) struct EventLog(Arc<Mutex<Vec<String>>>);

impl EventLog {
    pub(crate) fn listener(&self) -> impl Fn(&sqs_extended::Event<'_>) + Send + Sync + 'static {
        let events = self.clone();
        move |event| events.0.lock().unwrap().push(format!("{event:?}"))
    }

    /// The number of recorded events of this kind.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.count_with(kind, "")
    }

    /// The number of recorded events of this kind whose debug output contains `text`.
    pub(crate) fn count_with(&self, kind: &str, text: &str) -> usize {
        let events = self.0.lock().unwrap();
        events.iter().filter(|event| event.starts_with(kind) && event.contains(text)).count()
    }
}
