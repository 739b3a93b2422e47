//! The same scenarios with each store.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
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
    listing: Listing,
    client: ExtendedClient,
    url: String,
}

/// A store that lists its objects by itself, without the client.
enum Listing {
    Memory(MemoryStore),
    ObjectStore(Arc<dyn ObjectStore>),
    S3(aws_sdk_s3::Client),
}

impl Listing {
    async fn keys(&self) -> Vec<String> {
        match self {
            Self::Memory(store) => store.objects().iter().map(|object| object.key().to_owned()).collect(),
            Self::ObjectStore(store) => {
                let listed = store.list(None).map_ok(|object| object.location.to_string());
                listed.try_collect().await.unwrap()
            }
            Self::S3(client) => {
                let listed = client.list_objects_v2().bucket(BUCKET).send().await.unwrap();
                listed.contents().iter().map(|object| object.key().unwrap().to_owned()).collect()
            }
        }
    }
}

impl Scenario {
    async fn new(server: MockSqs, store: Arc<dyn PayloadStore>, listing: Listing) -> Self {
        let builder = ExtendedClient::builder(server.client(), Arc::clone(&store));
        let builder = builder.key_prefix("orders/");
        // The object of a dropped upload is deleted once more after an eighth of it.
        let client = builder.store_timeout(Duration::from_secs(16)).build().unwrap();
        let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        Self { _server: server, store, listing, client, url }
    }

    /// A scenario with the adapter for a store of the crate `object_store`.
    async fn over(server: MockSqs, store: impl ObjectStore) -> Self {
        let store: Arc<dyn ObjectStore> = Arc::new(store);
        let adapter = ObjectStoreAdapter::new(Arc::clone(&store), BUCKET);
        Self::new(server, Arc::new(adapter), Listing::ObjectStore(store)).await
    }

    async fn keys(&self) -> Vec<String> {
        self.listing.keys().await
    }

    async fn run(&self) {
        self.message_is_stored_loaded_and_deleted().await;
        self.stream_is_sent_in_parts_and_verified().await;
        self.repeated_write_succeeds_and_ranges_are_of_one_version().await;
        self.dropped_upload_leaves_no_object().await;
        self.missing_object_is_reported().await;
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

    async fn repeated_write_succeeds_and_ranges_are_of_one_version(&self) {
        let at = Pointer::new(BUCKET, "orders/twice");
        let upload = |text: &'static str| Upload::new(UploadBody::Bytes(Bytes::from_static(text.as_bytes())));
        for _ in 0..2 {
            self.store.put(&at, upload("0123456789")).await.unwrap();
        }
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
}

#[tokio::test]
async fn memory_store_passes_all_scenarios() {
    let store = MemoryStore::new(BUCKET);
    let listing = Listing::Memory(store.clone());
    Scenario::new(MockSqs::in_process(), Arc::new(store), listing).await.run().await;
}

#[tokio::test]
async fn object_store_in_memory_passes_all_scenarios() {
    Scenario::over(MockSqs::in_process(), InMemory::new()).await.run().await;
}

#[tokio::test]
async fn object_store_in_a_directory_passes_all_scenarios() {
    let directory = tempfile::tempdir().unwrap();
    let files = LocalFileSystem::new_with_prefix(directory.path()).unwrap();
    Scenario::over(MockSqs::in_process(), files).await.run().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn object_store_in_s3_passes_all_scenarios() {
    let server = MockSqs::builder().s3(S3::temporary().bucket(BUCKET)).start().await.unwrap();
    let s3 = super::s3::object_store_at(server.s3().endpoint_url(), BUCKET).build().unwrap();
    Scenario::over(server, s3).await.run().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_store_passes_all_scenarios() {
    let server = MockSqs::builder().s3(S3::temporary().bucket(BUCKET)).start().await.unwrap();
    let client = super::s3::client(server.s3().endpoint_url());
    let store = S3Store::new(client.clone(), BUCKET);
    Scenario::new(server, Arc::new(store), Listing::S3(client)).await.run().await;
}

/// The folder of a store that is not mounted looks like an empty one.
#[tokio::test]
async fn messages_are_not_deleted_while_the_folder_of_their_payloads_is_not_mounted() {
    let directory = tempfile::tempdir().unwrap();
    let [folder, aside] = ["payloads", "aside"].map(|name| directory.path().join(name));
    std::fs::create_dir(&folder).unwrap();
    let server = MockSqs::in_process();
    let files = LocalFileSystem::new_with_prefix(&folder).unwrap();
    let store = ObjectStoreAdapter::new(Arc::new(files), BUCKET);
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
