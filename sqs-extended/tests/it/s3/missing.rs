//! Missing objects, and responses of proxies that look like them.

use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_extended::{ErrorKind, ExtendedClient, S3Store, Unopened};
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::S3Action;

use super::backend::Backend;
use super::rig::{BUCKET, client};
use crate::rig::large;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn status_404_of_a_proxy_is_not_a_missing_object() {
    for policy in [Unopened::Delete, Unopened::Release] {
        let backend = Backend::start().await;
        let plain = backend.server.client_config().retry_config(RetryConfig::disabled()).build();
        let store = S3Store::new(client(backend.s3().endpoint_url()), BUCKET);
        let builder = ExtendedClient::builder(Client::from_conf(plain), store).missing_object(policy);
        let client = builder.build().unwrap();
        client.send_message().queue_url(&backend.url).message_body(large("")).send().await.unwrap();

        let proxy = Fault::status(404, "default backend - 404").on_s3(S3Action::GetObject);
        backend.server.faults().inject(proxy);
        let received = client.receive(&backend.url).send().await.unwrap();
        assert_eq!((received.len(), backend.live()), (1, backend.objects()), "{policy:?}");
        assert_eq!(received[0].body().unwrap_err().kind(), ErrorKind::Unavailable);

        // The same status from S3 means that the object is missing.
        backend.server.faults().clear();
        backend.server.clock().advance(std::time::Duration::from_secs(31));
        let key = backend.live().pop_first().unwrap();
        let delete = super::rig::client(backend.s3().endpoint_url()).delete_object().bucket(BUCKET).key(key);
        delete.send().await.unwrap();
        let received = client.receive(&backend.url).send().await.unwrap();
        assert_eq!(received.is_empty(), policy == Unopened::Delete);
        assert_eq!(backend.live().len(), usize::from(policy == Unopened::Release));
    }
}
