//! Payloads through S3 over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqs_extended::{Body, Error, ErrorKind, ExtendedClient, Payload, StreamSent};
use sqs_mock_server::MockSqs;
use tokio::io::AsyncReadExt as _;

use super::fault::Effect;
use super::rig::{BUCKET, PART, Rig, bytes};

/// Sends through a queue, and receives from it.
struct Queue {
    client: ExtendedClient,
    url: String,
    _server: MockSqs,
}

impl Queue {
    async fn new(rig: &Rig) -> Self {
        let server = MockSqs::in_process();
        let client = ExtendedClient::new(server.client(), rig.store());
        let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        Self { client, url, _server: server }
    }

    async fn put(&self, payload: impl Into<Payload>) -> Result<StreamSent, Error> {
        self.client.send_stream(&self.url, payload).send().await
    }

    async fn open(&self) -> Result<Body, Error> {
        let message = self.client.receive(&self.url).lazy().send().await?.remove(0);
        message.body_stream().await
    }
}

fn in_pieces(length: usize) -> Payload {
    Payload::from_stream(stream::iter([Ok::<_, std::io::Error>(bytes(length))]))
}

#[tokio::test]
async fn file_is_sent_and_received() {
    let rig = Rig::start().await;
    let queue = Queue::new(&rig).await;
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    for length in [0, 1, PART, 2 * PART + 12_345] {
        std::fs::write(&from, bytes(length)).unwrap();
        let sent = queue.put(Payload::from_path(&from)).await.unwrap();
        assert_eq!(sent.length, length as u64);
        assert_eq!(queue.open().await.unwrap().write_to_path(&to).await.unwrap(), sent.length);
        assert!(std::fs::read(&to).unwrap() == bytes(length), "{length}");
    }
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 2, "no partial file remains");
}

#[tokio::test]
async fn payload_is_sent_from_a_reader_and_received_as_one() {
    let rig = Rig::start().await;
    let queue = Queue::new(&rig).await;
    queue.put(Payload::from_reader(std::io::Cursor::new(bytes(PART + 7)))).await.unwrap();
    let mut all = Vec::new();
    queue.open().await.unwrap().into_reader().read_to_end(&mut all).await.unwrap();
    assert!(all == bytes(PART + 7));
}

#[tokio::test]
async fn interrupted_download_is_resumed() {
    let rig = Rig::start().await;
    let queue = Queue::new(&rig).await;
    let length = PART + 999_999;
    queue.put(bytes(length)).await.unwrap();
    rig.fail("GetObject", Effect::BreakAt(2_000_000), 1);
    rig.fail("GetObject", Effect::BreakAt(3_000_000), 1);
    assert!(queue.open().await.unwrap().collect(length).await.unwrap() == bytes(length));
    assert!(rig.count("GetObject") > 2, "the download was not resumed");
}

#[tokio::test]
async fn object_that_is_overwritten_between_two_ranges_is_damaged() {
    let rig = Rig::start().await;
    let queue = Queue::new(&rig).await;
    let length = 3_000_000;
    let sent = queue.put(bytes(length)).await.unwrap();
    rig.fail("GetObject", Effect::BreakAt(1_000_000), 1);
    let mut body = queue.open().await.unwrap();
    body.next().await.unwrap().unwrap();
    let other = vec![b'x'; length];
    rig.client.put_object().bucket(BUCKET).key(sent.pointer.key()).body(other.into()).send().await.unwrap();
    let error = body.try_collect::<Vec<_>>().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
}

#[tokio::test]
async fn object_that_is_truncated_in_s3_is_damaged() {
    let rig = Rig::start().await;
    let queue = Queue::new(&rig).await;
    let sent = queue.put(bytes(10_000)).await.unwrap();
    let path = rig.path(&format!("{BUCKET}/{}", sent.pointer.key()));
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(9_999).unwrap();
    assert_eq!(queue.open().await.unwrap_err().kind(), ErrorKind::Damaged);
}

/// The object of a multipart stream has no hash, so the hash in the message is compared.
#[tokio::test]
async fn object_of_the_same_length_with_other_bytes_is_damaged() {
    let rig = Rig::start().await;
    let queue = Queue::new(&rig).await;
    for payload in [Payload::from(bytes(10_000)), in_pieces(10_000), in_pieces(PART + 1)] {
        let sent = queue.put(payload).await.unwrap();
        let length = usize::try_from(sent.length).unwrap();
        let mut other = bytes(length).to_vec();
        other[5_000] = b'x';
        let put = rig.client.put_object().bucket(BUCKET).key(sent.pointer.key());
        put.body(other.into()).send().await.unwrap();
        let error = queue.open().await.unwrap().collect(length).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        assert!(error.to_string().contains("SHA-256"), "{error}");
    }
}

#[tokio::test]
async fn interrupted_download_leaves_no_file() {
    let rig = Rig::start().await;
    let queue = Queue::new(&rig).await;
    let directory = tempfile::tempdir().unwrap();
    queue.put(bytes(2_000_000)).await.unwrap();
    rig.fail("GetObject", Effect::BreakAt(1_500_000), 1);
    rig.fail("GetObject", Effect::Answer(403, "AccessDenied"), 1);
    let error = queue.open().await.unwrap().write_to_path(directory.path().join("to")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[tokio::test]
async fn dropped_upload_is_aborted() {
    let rig = Rig::start().await;
    let queue = Queue::new(&rig).await;
    let taken = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&taken);
    let endless = stream::repeat_with(|| Ok::<_, std::io::Error>(bytes(100_000)));
    let payload = Payload::from_stream(endless)
        .progress(move |progress| counter.store(progress.bytes, Ordering::Relaxed));
    tokio::select! {
        result = queue.put(payload) => panic!("{result:?}"),
        () = rig.wait_for("UploadPart", 2) => {}
    }
    assert!(taken.load(Ordering::Relaxed) > 2 * 5_000_000);
    rig.wait_until_clean().await;
    assert_eq!(rig.count("Complete"), 0);
}

#[tokio::test]
async fn text_that_is_not_utf8_leaves_no_object() {
    let rig = Rig::start().await;
    let queue = Queue::new(&rig).await;
    let mut wrong = bytes(2 * PART).to_vec();
    wrong[PART + 70_000] = 0xff;
    let error = queue.put(Payload::from_reader(std::io::Cursor::new(wrong))).await.unwrap_err();
    assert!(error.to_string().contains(&format!("at byte {}", PART + 70_000)), "{error}");
    assert_eq!((rig.count("Complete"), rig.left_over().len()), (0, 0));
}
