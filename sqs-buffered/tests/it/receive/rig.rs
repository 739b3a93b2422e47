//! A server, a queue, and a client whose requests are recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::operation::Action;
use sqs_client::transport::{Transport, TransportFuture};
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::MockSqs;
use sqs_mock_server::inspect::Visibility;
use tokio::time::Instant;

use super::super::base_client::{Base, BaseClient};

/// A recorded request.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) action: Action,
    pub(crate) body: serde_json::Value,
    pub(crate) at: Instant,
}

impl Sent {
    /// Receipt handles of the entries of a batch, each with its visibility timeout, if any.
    pub(crate) fn handles(&self) -> Vec<(String, Option<i64>)> {
        let entries = self.body["Entries"].as_array().cloned().unwrap_or_default();
        let handle = |entry: &serde_json::Value| {
            (
                entry["ReceiptHandle"].as_str().unwrap_or_default().to_owned(),
                entry["VisibilityTimeout"].as_i64(),
            )
        };
        entries.iter().map(handle).collect()
    }
}

/// Forwards and records requests.
#[derive(Clone, Debug)]
struct Recorder<T> {
    inner: T,
    sent: Arc<Mutex<Vec<Sent>>>,
    received: Arc<Mutex<BTreeMap<String, String>>>,
}

impl<T: Transport> Transport for Recorder<T> {
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
        let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
        let action = target.and_then(|target| Action::from_name(target.rsplit('.').next()?));
        let body = serde_json::from_slice(request.body()).unwrap_or_default();
        if let Some(action) = action {
            self.sent.lock().unwrap().push(Sent { action, body, at: Instant::now() });
        }
        if action != Some(Action::ReceiveMessage) {
            return self.inner.send(request);
        }
        Box::pin(async move {
            let response = self.inner.send(request).await?;
            let answer: serde_json::Value = serde_json::from_slice(response.body()).unwrap_or_default();
            for message in answer["Messages"].as_array().into_iter().flatten() {
                let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
                self.received.lock().unwrap().insert(text("ReceiptHandle"), text("Body"));
            }
            Ok(response)
        })
    }
}

pub(crate) struct Rig<C = BaseClient> {
    pub(crate) server: MockSqs,
    pub(crate) client: Client,
    /// The client of the consumers.
    pub(crate) base: C,
    pub(crate) url: String,
    pub(crate) name: &'static str,
    sent: Arc<Mutex<Vec<Sent>>>,
    received: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Rig {
    /// A queue with this name and a visibility timeout of 30 seconds. It is a FIFO queue if the name ends in `.fifo`.
    pub(crate) async fn new(name: &'static str) -> Self {
        Self::on(MockSqs::in_process(), name).await
    }

    pub(crate) async fn on(server: MockSqs, name: &'static str) -> Self {
        Self::with(server, name, RetryConfig::standard()).await
    }

    /// A rig whose client retries as `retry` says.
    pub(crate) async fn with(server: MockSqs, name: &'static str, retry: RetryConfig) -> Self {
        Self::over(server, name, retry).await
    }
}

impl<C: Base> Rig<C> {
    /// A rig whose consumers use a client of this type.
    pub(crate) async fn over(server: MockSqs, name: &'static str, retry: RetryConfig) -> Self {
        let (sent, received) = (Arc::default(), Arc::default());
        let (log, bodies) = (Arc::clone(&sent), Arc::clone(&received));
        let recorder = Recorder { inner: server.transport(), sent: log, received: bodies };
        let base = C::over(&server, recorder.clone(), retry.clone(), TimeoutConfig::builder().build());
        let config = server.client_config().transport(recorder).retry_config(retry);
        let client = Client::from_conf(config.build());
        let url = server.queue_url(name);
        let rig = Self { server, client, base, url, name, sent, received };
        rig.create(name).await;
        rig
    }

    pub(crate) async fn create(&self, name: &str) {
        let mut create = self.client.create_queue().queue_name(name);
        if name.ends_with(".fifo") {
            create = create.attributes(QueueAttributeName::FifoQueue, "true");
            create = create.attributes(QueueAttributeName::ContentBasedDeduplication, "true");
        }
        create.send().await.unwrap();
    }

    pub(crate) async fn set(&self, name: QueueAttributeName, value: &str) {
        self.client.set_queue_attributes().queue_url(&self.url).attributes(name, value).send().await.unwrap();
    }

    /// Sets a redrive policy with this maximum receive count. Returns the name of the dead-letter queue.
    pub(crate) async fn dead_letter_after(&self, receives: u32) -> &'static str {
        let dead = if self.name.ends_with(".fifo") { "dead.fifo" } else { "dead" };
        self.create(dead).await;
        let policy = format!(
            r#"{{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:{dead}","maxReceiveCount":"{receives}"}}"#
        );
        self.set(QueueAttributeName::RedrivePolicy, &policy).await;
        dead
    }

    pub(crate) async fn send(&self, bodies: impl IntoIterator<Item = impl Into<String>>) {
        for body in bodies {
            self.client.send_message().queue_url(&self.url).message_body(body).send().await.unwrap();
        }
    }

    /// Sends messages to a group.
    pub(crate) async fn send_to(&self, group: &str, bodies: impl IntoIterator<Item = impl Into<String>>) {
        for body in bodies {
            let send = self.client.send_message().queue_url(&self.url).message_body(body);
            send.message_group_id(group).send().await.unwrap();
        }
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.server.queue(self.name).counts().unwrap().in_flight
    }

    pub(crate) fn left(&self) -> usize {
        self.server.queue(self.name).messages().len()
    }

    /// The bodies of all received messages, by receipt handle.
    pub(crate) fn received(&self) -> BTreeMap<String, String> {
        self.received.lock().unwrap().clone()
    }

    /// The ids of hidden messages.
    pub(crate) fn hidden(&self) -> BTreeSet<String> {
        let messages = self.server.queue(self.name).messages();
        let hidden =
            messages.iter().filter(|message| matches!(message.visibility, Visibility::InFlightUntil(_)));
        hidden.map(|message| message.id.to_string()).collect()
    }

    /// How long, from now, the service hides the message with this receipt handle.
    pub(crate) fn hidden_for(&self, receipt_handle: &str) -> Duration {
        let body = self.received()[receipt_handle].clone();
        let messages = self.server.queue(self.name).messages();
        let message = messages.iter().find(|message| message.body() == body).unwrap();
        match message.visibility {
            Visibility::InFlightUntil(until) => until.saturating_since(self.server.clock().now()),
            _ => Duration::ZERO,
        }
    }

    /// The recorded requests so far.
    pub(crate) fn log(&self) -> Arc<Mutex<Vec<Sent>>> {
        Arc::clone(&self.sent)
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    pub(crate) fn sent_of(&self, action: Action) -> Vec<Sent> {
        self.sent().into_iter().filter(|sent| sent.action == action).collect()
    }

    /// Checks the recorded requests: no batch names a handle twice, no lease is renewed after the delete of its
    /// message, and no handle is used after its lease was lost. `lost` has the number of requests at that time. Retries
    /// of the client below do not count.
    pub(crate) fn check_requests(&self, lost: &BTreeMap<String, usize>, context: &str) {
        let repeats = self.client.config().retry_config().is_none_or(|retry| retry.max_attempts() > 1);
        let (mut deleted, mut seen) = (BTreeSet::new(), BTreeSet::new());
        for (index, sent) in self.sent().into_iter().enumerate() {
            if !seen.insert(sent.body.to_string()) && repeats {
                continue;
            }
            for (handle, _) in sent.handles() {
                let is_late = lost.get(&handle).is_some_and(|seen| *seen <= index);
                assert!(!is_late, "{context}: named after its lease was lost: {handle}, {sent:?}");
            }
            let handles = sent.handles();
            let distinct: BTreeSet<_> = handles.iter().map(|(handle, _)| handle.clone()).collect();
            assert_eq!(distinct.len(), handles.len(), "{context}: a handle is twice in {sent:?}");
            match sent.action {
                Action::DeleteMessageBatch => deleted.extend(distinct),
                Action::ChangeMessageVisibilityBatch => {
                    let renewed = handles.iter().filter(|(_, seconds)| *seconds != Some(0));
                    for (handle, _) in renewed {
                        assert!(!deleted.contains(handle), "{context}: renewed after its delete: {handle}");
                    }
                }
                _ => {}
            }
        }
    }
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Waits until the condition is true. Checks it a hundred times per second of the paused clock.
pub(crate) async fn until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        let waited = start.elapsed();
        assert!(waited < secs(3_600), "it did not become so within an hour of the paused clock");
        // Minutes of the paused clock would be many looks.
        tokio::time::sleep((waited / 100).max(millis(10))).await;
    }
}
