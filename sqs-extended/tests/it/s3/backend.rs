//! An embedded server with SQS and S3: its queue, its objects and its unfinished uploads.

use std::collections::BTreeSet;

use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_client::types::QueueAttributeName;
use sqs_extended::{ExtendedClient, ExtendedClientBuilder, Pointer, S3Store};
use sqs_mock_server::MockSqs;
use sqs_mock_server::s3::{MockS3, S3};

use super::rig::{BUCKET, PART, client};

/// The prefix of all keys.
pub(crate) const PREFIX: &str = "orders/";

pub(crate) struct Backend {
    pub(crate) server: MockSqs,
    pub(crate) url: String,
}

impl Backend {
    pub(crate) async fn start() -> Self {
        let server = MockSqs::builder().seed(7).s3(S3::temporary().bucket(BUCKET)).start().await.unwrap();
        let url = server.client().create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        Self { server, url }
    }

    /// A queue of this name instead, with a dead-letter queue of the second name, to which SQS moves messages after so many receives.
    pub(crate) async fn with_dead_letters(name: &str, dead: &str, receives: u32) -> Self {
        let Self { server, .. } = Self::start().await;
        let plain = server.client();
        let arn = format!("arn:aws:sqs:us-east-1:000000000000:{dead}");
        let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"{receives}"}}"#);
        for queue in [dead, name] {
            let mut create = plain.create_queue().queue_name(queue);
            if name.ends_with(".fifo") {
                create = create.attributes(QueueAttributeName::FifoQueue, "true");
                create = create.attributes(QueueAttributeName::ContentBasedDeduplication, "true");
            }
            create.send().await.unwrap();
        }
        let url = plain.get_queue_url().queue_name(name).send().await.unwrap().queue_url.unwrap();
        let set = plain.set_queue_attributes().queue_url(&url);
        set.attributes(QueueAttributeName::RedrivePolicy, policy).send().await.unwrap();
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
        settings(ExtendedClient::builder(plain, store).key_prefix(PREFIX)).build().unwrap()
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
}
