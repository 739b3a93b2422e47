//! Sweeps while senders upload slowly: they keep objects that are in use.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use sqs_client::config::retry::RetryConfig;
use sqs_extended::{Error, ErrorKind, Payload, SWEEP_MARGIN, StreamSent};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::backend::{Backend, FORTNIGHT, PREFIX};
use super::rig::{PART, bytes};

const HOUR: Duration = Duration::from_secs(3_600);
const HALF_HOUR: Duration = Duration::from_secs(1_800);

/// A sender that pauses in the middle of its upload until `finish`.
struct Slow {
    go_on: Arc<Notify>,
    sending: JoinHandle<Result<StreamSent, Error>>,
}

impl Slow {
    async fn start(backend: &Backend) -> Self {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (tell, wait) = (Arc::clone(&begun), Arc::clone(&go_on));
        let rest = stream::once(async move {
            tell.notify_one();
            wait.notified().await;
            Ok(bytes(9))
        });
        let source = stream::iter([Ok::<Bytes, std::io::Error>(bytes(PART)), Ok(bytes(1))]).chain(rest);
        let client = backend.client(RetryConfig::disabled());
        let url = backend.url.clone();
        let sending =
            tokio::spawn(async move { client.send_stream(url, Payload::from_stream(source)).send().await });
        begun.notified().await;
        assert_eq!(backend.uploads().len(), 1);
        Self { go_on, sending }
    }

    async fn finish(self) -> Result<StreamSent, Error> {
        self.go_on.notify_one();
        self.sending.await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn sweep_keeps_an_object_that_is_older_than_its_message() {
    let backend = Backend::start().await;
    let slow = Slow::start(&backend).await;
    backend.server.clock().advance(HOUR);
    slow.finish().await.unwrap();
    // The object is older than the longest retention period; its message is not.
    backend.server.clock().advance(HALF_HOUR * (14 * 48 - 1));
    let client = backend.client(RetryConfig::disabled());
    let error = client.sweep(PREFIX, FORTNIGHT).queues([&backend.url]).delete().run().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    let report = client.sweep(PREFIX, FORTNIGHT + SWEEP_MARGIN).queues([&backend.url]).delete().run().await;
    assert_eq!(report.unwrap().progress.orphans, 0);
    let received = client.receive(&backend.url).send().await.unwrap().remove(0);
    assert_eq!(received.body().unwrap().map(str::len), Some(PART + 10));
    // S3 counts the age of an object from the start of its upload.
    backend.server.clock().advance(HALF_HOUR * 47 + Duration::from_secs(1));
    let sweep = client.sweep(PREFIX, FORTNIGHT + SWEEP_MARGIN).queues([&backend.url]);
    let report = sweep.run().await.unwrap();
    assert_eq!((report.progress.orphans, backend.live().len()), (1, 0));
}
