//! An embedded server with SQS and S3: its queue, its objects and its unfinished uploads.

use std::collections::BTreeSet;
use std::time::Duration;

use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_client::types::QueueAttributeName;
use sqs_extended::{ExtendedClient, ExtendedClientBuilder, Pointer, S3Store, Sweep, SweepReport};
use sqs_mock_server::MockSqs;
use sqs_mock_server::s3::{MockS3, S3};

use super::rig::{BUCKET, PART, client};
use crate::rig::ServerClock;

/// The longest retention period of a queue.
pub(crate) const FORTNIGHT: Duration = Duration::from_secs(14 * 86_400);
/// Twice the longest retention period plus a day: no older object has a message.
pub(crate) const OLD: Duration = Duration::from_secs(29 * 86_400);
/// The prefix of all keys.
pub(crate) const PREFIX: &str = "orders/";

pub(crate) struct Backend {
    pub(crate) server: MockSqs,
    pub(crate) url: String,
}

impl Backend {
    /// Starts a server with a queue of the longest retention period.
    pub(crate) async fn start() -> Self {
        let server = MockSqs::builder().seed(7).s3(S3::temporary().bucket(BUCKET)).start().await.unwrap();
        let create = server.client().create_queue().queue_name("q");
        let seconds = FORTNIGHT.as_secs().to_string();
        let create = create.attributes(QueueAttributeName::MessageRetentionPeriod, seconds);
        let url = create.send().await.unwrap().queue_url.unwrap();
        Self { server, url }
    }

    /// A client that uses SQS in the process and S3 over HTTP.
    pub(crate) fn client(&self, retry: RetryConfig) -> ExtendedClient {
        self.client_with(retry, |builder| builder)
    }

    pub(crate) fn client_with(
        &self,
        retry: RetryConfig,
        settings: impl FnOnce(ExtendedClientBuilder<Client>) -> ExtendedClientBuilder<Client>,
    ) -> ExtendedClient {
        let plain = Client::from_conf(self.server.client_config().retry_config(retry).build());
        let store = S3Store::builder(client(self.s3().endpoint_url()), BUCKET);
        let store = store.part_size(PART).parts_in_flight(2).build().unwrap();
        let clock = ServerClock(self.server.clock().clone());
        settings(ExtendedClient::builder(plain, store).time_source(clock).key_prefix(PREFIX)).build().unwrap()
    }

    pub(crate) fn s3(&self) -> &MockS3 {
        self.server.s3()
    }

    /// The keys that the messages in the queue point to.
    pub(crate) fn live(&self) -> BTreeSet<String> {
        let bodies = self.server.queue("q").bodies();
        bodies.iter().map(|body| Pointer::from_body(body).unwrap().key().to_owned()).collect()
    }

    pub(crate) fn objects(&self) -> BTreeSet<String> {
        self.s3().objects(BUCKET).into_iter().map(|object| object.key).collect()
    }

    /// The ids of uploads that are neither completed nor aborted.
    pub(crate) fn uploads(&self) -> BTreeSet<String> {
        self.s3().uploads(BUCKET).into_iter().map(|upload| upload.id).collect()
    }

    pub(crate) fn sweep(client: &ExtendedClient) -> Sweep<Client> {
        client.sweep(PREFIX, OLD)
    }
}

/// The keys in a report.
pub(crate) fn orphan_keys(report: &SweepReport) -> BTreeSet<String> {
    report.orphans.iter().map(|orphan| orphan.key.clone()).collect()
}
