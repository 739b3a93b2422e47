//! The same scenarios with each store.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use sqs_client::time::TimeSource;
use sqs_extended::{
    ErrorKind, ExtendedClient, MemoryStore, ObjectStoreAdapter, Payload, PayloadStore, Pointer, S3Store,
    Unopened, Upload, UploadBody,
};
use sqs_mock_server::MockSqs;
use sqs_mock_server::s3::S3;

use super::rig::large;

const BUCKET: &str = "payloads";
/// More than two parts of the default size.
const LENGTH: usize = (16 << 20) + 77;

fn bytes(length: usize) -> Bytes {
    let period: Vec<u8> = (b'a'..=b'z').flat_map(|letter| [letter; 7]).collect();
    let mut bytes = period.repeat(length / period.len() + 1);
    bytes.truncate(length);
    bytes.into()
}

fn pieces(bytes: &Bytes) -> Payload {
    let pieces: Vec<_> =
        bytes.chunks(100_000).map(|piece| Ok::<_, std::io::Error>(bytes.slice_ref(piece))).collect();
    Payload::from_stream(stream::iter(pieces))
}

struct Scenario {
    _server: MockSqs,
    store: Arc<dyn PayloadStore>,
    client: ExtendedClient,
    url: String,
}

/// A clock a month ahead, so that sweeps take every object for old.
#[derive(Debug)]
struct Later;

impl TimeSource for Later {
    #[expect(clippy::disallowed_methods, reason = "stores date their objects by the clock of the system")]
    fn now(&self) -> SystemTime {
        SystemTime::now() + Duration::from_secs(30 * 86_400)
    }
}

impl Scenario {
    async fn new(server: MockSqs, store: Arc<dyn PayloadStore>) -> Self {
        let builder = ExtendedClient::builder(server.client(), Arc::clone(&store));
        let builder = builder.key_prefix("orders/").time_source(Later);
        // The object of a dropped upload is deleted once more after an eighth of it.
        let client = builder.store_timeout(Duration::from_secs(16)).build().unwrap();
        let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        Self { _server: server, store, client, url }
    }

    async fn keys(&self) -> Vec<String> {
        let page = self.store.list(BUCKET, "orders/", None).await.unwrap();
        page.objects.into_iter().map(|object| object.key).collect()
    }

    async fn run(&self, keeps_metadata: bool) {
        self.message_is_stored_loaded_and_deleted().await;
        self.stream_is_sent_in_parts_and_verified().await;
        self.object_is_written_once_and_read_in_ranges_of_one_version(keeps_metadata).await;
        self.dropped_upload_leaves_no_object().await;
        self.missing_object_is_reported().await;
        self.orphan_is_swept(keeps_metadata).await;
        self.listing_has_pages_and_prefixes_are_taken_as_they_are().await;
    }

    async fn message_is_stored_loaded_and_deleted(&self) {
        self.client.send_message().queue_url(&self.url).message_body(large("soup")).send().await.unwrap();
        assert_eq!(self.keys().await.len(), 1);
        let received = self.client.receive(&self.url).send().await.unwrap().remove(0);
        assert!(received.body().unwrap() == Some(&large("soup")));
        self.client.queue(&self.url).delete(&received.message).send().await.unwrap();
        self.client.finish_cleanup().await;
        assert_eq!(self.keys().await, [""; 0]);
    }

    async fn stream_is_sent_in_parts_and_verified(&self) {
        for length in [0, 1, LENGTH] {
            let body = bytes(length);
            self.client.send_stream(&self.url, pieces(&body)).send().await.unwrap();
            let received = self.client.receive(&self.url).lazy().send().await.unwrap().remove(0);
            let read = received.body_stream().await.unwrap().collect(length).await.unwrap();
            assert!(read == body, "{length}");
            self.client.queue(&self.url).delete(&received.message).send().await.unwrap();
        }
        let sent = self.client.send_stream(&self.url, pieces(&bytes(LENGTH))).send().await.unwrap();
        self.store.delete(&sent.pointer).await.unwrap();
        let other = Upload::new(UploadBody::Bytes(vec![b'x'; LENGTH].into()));
        self.store.put(&sent.pointer, other).await.unwrap();
        let received = self.client.receive(&self.url).lazy().send().await.unwrap().remove(0);
        let error = received.body_stream().await.unwrap().collect(LENGTH).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        self.client.queue(&self.url).delete(&received.message).send().await.unwrap();
    }

    async fn object_is_written_once_and_read_in_ranges_of_one_version(&self, keeps_metadata: bool) {
        let at = Pointer::new(BUCKET, "orders/once");
        let upload = |text: &'static str| Upload::new(UploadBody::Bytes(Bytes::from_static(text.as_bytes())));
        self.store.put(&at, upload("0123456789")).await.unwrap();
        let error = self.store.put(&at, upload("other")).await.unwrap_err();
        // Without metadata, it could be an earlier attempt that took the key.
        let expected = if keeps_metadata { ErrorKind::Exists } else { ErrorKind::Unavailable };
        assert_eq!((error.kind(), error.is_outcome_unknown()), (expected, !keeps_metadata), "{error}");
        let whole = self.store.get(&at, None, None).await.unwrap();
        assert_eq!(whole.length, 10);
        for (range, expected) in
            [(None, "0123456789"), (Some(3..10), "3456789"), (Some(3..5), "34"), (Some(8..99), "89")]
        {
            let object = self.store.get(&at, range, whole.tag.as_deref()).await.unwrap();
            let read: Vec<Bytes> = object.body.try_collect().await.unwrap();
            assert_eq!((object.length, read.concat()), (10, expected.as_bytes().to_vec()));
        }
        let Err(error) = self.store.get(&at, None, Some("\"another\"")).await else {
            panic!("an object with another tag was read")
        };
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        self.store.delete(&at).await.unwrap();
        self.store.delete(&at).await.unwrap();
    }

    async fn dropped_upload_leaves_no_object(&self) {
        let block = bytes(100_000);
        let endless =
            stream::repeat_with(move || Ok::<_, std::io::Error>(block.clone())).then(async |piece| {
                tokio::task::yield_now().await;
                piece
            });
        let send = self.client.send_stream(&self.url, Payload::from_stream(endless)).send();
        assert!(tokio::time::timeout(Duration::from_millis(300), send).await.is_err());
        self.client.finish_cleanup().await;
        assert_eq!(self.keys().await, [""; 0]);
    }

    async fn missing_object_is_reported(&self) {
        self.client.send_message().queue_url(&self.url).message_body(large("")).send().await.unwrap();
        let key = self.keys().await.remove(0);
        let keep = Pointer::new(BUCKET, "orders/keep");
        self.store.put(&keep, Upload::new(UploadBody::Bytes(bytes(1)))).await.unwrap();
        self.store.delete(&Pointer::new(BUCKET, key)).await.unwrap();
        let received = self.client.receive(&self.url).send().await.unwrap().remove(0);
        assert_eq!(received.body().unwrap_err().kind(), ErrorKind::NotFound);
        self.client.queue(&self.url).delete(&received.message).send().await.unwrap();
        self.store.delete(&keep).await.unwrap();
        let error = self.store.get(&Pointer::new("another", "k"), None, None).await.err();
        assert!(error.is_some(), "read an object in another bucket");
    }

    async fn orphan_is_swept(&self, keeps_metadata: bool) {
        self.client.send_message().queue_url(&self.url).message_body(large("")).send().await.unwrap();
        self.client.purge_queue().queue_url(&self.url).send().await.unwrap();
        let sweep = || self.client.sweep("orders/", Duration::from_secs(29 * 86_400));
        let found = sweep().run().await.unwrap().progress;
        assert_eq!((found.orphans, found.foreign), if keeps_metadata { (1, 0) } else { (0, 1) });
        let swept = if keeps_metadata { sweep() } else { sweep().unmarked() };
        assert_eq!(swept.delete().run().await.unwrap().progress.deleted, 1);
        assert_eq!(self.keys().await, [""; 0]);
    }

    async fn listing_has_pages_and_prefixes_are_taken_as_they_are(&self) {
        let keys = (0..1_010).map(|number| format!("a~b/{:03}/{}", number * 617 % 1_000, number));
        let mut expected: Vec<_> = keys.collect();
        let other = "a/other".to_owned();
        for key in expected.iter().chain([&other]) {
            self.store
                .put(&Pointer::new(BUCKET, key), Upload::new(UploadBody::Bytes(bytes(1))))
                .await
                .unwrap();
        }
        let (mut found, mut page) = (Vec::new(), None);
        loop {
            let listed = self.store.list(BUCKET, "a~b/", page.as_deref()).await.unwrap();
            assert!(listed.objects.len() <= 1_000);
            found.extend(listed.objects.into_iter().map(|object| object.key));
            page = listed.next;
            if page.is_none() {
                break;
            }
        }
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

fn adapter(store: impl ObjectStore) -> Arc<dyn PayloadStore> {
    Arc::new(ObjectStoreAdapter::new(Arc::new(store), BUCKET))
}

#[tokio::test]
async fn memory_store_passes_all_scenarios() {
    Scenario::new(MockSqs::in_process(), Arc::new(MemoryStore::new(BUCKET))).await.run(true).await;
}

#[tokio::test]
async fn object_store_in_memory_passes_all_scenarios() {
    Scenario::new(MockSqs::in_process(), adapter(InMemory::new())).await.run(true).await;
}

#[tokio::test]
async fn object_store_in_a_directory_passes_all_scenarios() {
    let directory = tempfile::tempdir().unwrap();
    let files = LocalFileSystem::new_with_prefix(directory.path()).unwrap();
    Scenario::new(MockSqs::in_process(), adapter(files)).await.run(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn object_store_in_s3_passes_all_scenarios() {
    let server = MockSqs::builder().s3(S3::temporary().bucket(BUCKET)).start().await.unwrap();
    let s3 = super::s3::object_store_at(server.s3().endpoint_url(), BUCKET).build().unwrap();
    Scenario::new(server, adapter(s3)).await.run(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_store_passes_all_scenarios() {
    let server = MockSqs::builder().s3(S3::temporary().bucket(BUCKET)).start().await.unwrap();
    let store = S3Store::new(super::s3::client(server.s3().endpoint_url()), BUCKET);
    Scenario::new(server, Arc::new(store)).await.run(true).await;
}

/// The folder of a store that is not mounted looks like an empty one.
#[tokio::test]
async fn messages_are_not_deleted_while_the_folder_of_their_payloads_is_not_mounted() {
    let directory = tempfile::tempdir().unwrap();
    let [folder, aside] = ["payloads", "aside"].map(|name| directory.path().join(name));
    std::fs::create_dir(&folder).unwrap();
    let server = MockSqs::in_process();
    let store = adapter(LocalFileSystem::new_with_prefix(&folder).unwrap());
    let builder = ExtendedClient::builder(server.client(), store).missing_object(Unopened::Delete);
    let client = builder.key_prefix("orders/").build().unwrap();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    client.send_message().queue_url(&url).message_body(large("soup")).send().await.unwrap();

    std::fs::rename(&folder, &aside).unwrap();
    for is_mount_point in [false, true] {
        if is_mount_point {
            std::fs::create_dir(&folder).unwrap();
        }
        let received = client.receive(&url).send().await.unwrap();
        let error = received[0].body().unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unavailable, true), "{error}");
        server.clock().advance(Duration::from_secs(31));
    }
    std::fs::remove_dir(&folder).unwrap();
    std::fs::rename(&aside, &folder).unwrap();
    assert!(client.receive(&url).send().await.unwrap()[0].body().unwrap() == Some(&large("soup")));
}
