//! Files of the S3 server.

use std::fs;
use std::path::{Path, PathBuf};

use sqs_mock_server::MockSqs;
use sqs_mock_server::s3::S3;

use super::{BUCKET, client, get, put};
use crate::wire::Wire;

/// A unique directory, removed on drop.
pub(super) struct Directory(pub(super) PathBuf);

impl Directory {
    pub(super) fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("s3-of-a-test-{}-{name}", std::process::id())))
    }

    fn data(&self) -> usize {
        fs::read_dir(self.0.join("buckets/payloads/data")).unwrap().count()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // The test may not have created it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn start(directory: &Path) -> MockSqs {
    MockSqs::builder().seed(7).with_s3(directory).start().await.unwrap()
}

#[tokio::test]
async fn objects_survive_a_restart_and_uploads_do_not() {
    let directory = Directory::new("again");
    let server = start(&directory.0).await;
    let before = client(&server);
    let put = before.put_object().bucket(BUCKET).key("a/b").metadata("m", "1").content_type("text/plain");
    put.body(b"tea".to_vec().into()).send().await.unwrap();
    let begun = before.create_multipart_upload().bucket(BUCKET).key("big").send().await.unwrap();
    let id = begun.upload_id().unwrap();
    super::multipart::upload(&before, "big", id, 1, b"part").await;
    let objects = server.s3().objects(BUCKET);
    server.shutdown().await;

    let server = start(&directory.0).await;
    let after = client(&server);
    assert_eq!(server.s3().objects(BUCKET), objects);
    assert_eq!(get(&after, "a/b").await, b"tea");
    assert_eq!((server.s3().uploads(BUCKET), directory.data()), (Vec::new(), 1));
    super::put(&after, "c", b"coffee").await;
    assert_eq!((get(&after, "c").await, get(&after, "a/b").await), (b"coffee".to_vec(), b"tea".to_vec()));
}

#[tokio::test]
async fn restart_removes_incomplete_files() {
    let directory = Directory::new("unfinished");
    let server = start(&directory.0).await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    server.shutdown().await;
    let bucket = directory.0.join("buckets/payloads");
    fs::write(bucket.join("data/half"), "ha").unwrap();
    fs::write(bucket.join("objects/half.tmp"), "{").unwrap();
    let server = start(&directory.0).await;
    assert_eq!((server.s3().bytes(BUCKET, "a").await.unwrap(), directory.data()), (b"tea".to_vec(), 1));
    server.shutdown().await;
    let record = fs::read_dir(bucket.join("objects")).unwrap().next().unwrap().unwrap().path();
    fs::write(&record, "{").unwrap();
    let error = MockSqs::builder().with_s3(&directory.0).start().await.unwrap_err().to_string();
    assert!(error.starts_with("cannot store objects in ") && error.contains("is damaged"), "{error}");
}

#[tokio::test]
async fn truncated_data_file_is_reported_at_the_start() {
    let directory = Directory::new("truncated");
    let server = start(&directory.0).await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    server.shutdown().await;
    let data = fs::read_dir(directory.0.join("buckets/payloads/data")).unwrap().next().unwrap().unwrap();
    fs::write(data.path(), "te").unwrap();
    let error = MockSqs::builder().with_s3(&directory.0).start().await.unwrap_err().to_string();
    assert!(error.ends_with("has 2 bytes, not 3"), "{error}");
}

#[tokio::test]
async fn temporary_directory_is_removed_on_shutdown() {
    let server = super::server().await;
    let directory = server.s3().directory().to_owned();
    put(&client(&server), "a", b"tea").await;
    assert!(directory.exists());
    server.shutdown().await;
    assert!(!directory.exists());
}

#[tokio::test]
async fn reset_empties_only_a_temporary_directory() {
    let directory = Directory::new("reset");
    for (settings, left) in [(S3::temporary(), 0), (S3::in_dir(&directory.0), 1)] {
        let server = MockSqs::builder().s3(settings).start().await.unwrap();
        put(&client(&server), "a", b"tea").await;
        server.reset();
        assert_eq!((server.s3().count(BUCKET), server.s3().requests().len()), (left, 0));
        put(&client(&server), "b", b"tea").await;
    }
}

#[tokio::test]
async fn interrupted_creation_or_removal_of_a_bucket_does_not_prevent_the_start() {
    let directory = Directory::new("interrupted");
    let server = start(&directory.0).await;
    server.s3().create_bucket("created").unwrap();
    server.s3().create_bucket("removed").unwrap();
    server.s3().create_bucket("emptied").unwrap();
    server.shutdown().await;
    let buckets = directory.0.join("buckets");
    for file in ["created/bucket.json", "created/location.json", "removed/bucket.json"] {
        fs::remove_file(buckets.join(file)).unwrap();
    }
    let rules = r#"{"rules":[],"event_bridge":true}"#;
    fs::write(buckets.join("removed/notifications.json"), rules).unwrap();
    for folder in ["created/data", "removed/objects", "emptied/data", "emptied/objects"] {
        fs::remove_dir(buckets.join(folder)).unwrap();
    }
    let server = start(&directory.0).await;
    assert_eq!(server.s3().buckets(), ["emptied", BUCKET]);
    server.s3().put("emptied", "a", "tea").await.unwrap();
    for name in ["created", "removed"] {
        assert!(server.s3().create_bucket(name).unwrap());
        server.s3().put(name, "a", "tea").await.unwrap();
    }
    let get = client(&server).get_bucket_notification_configuration().bucket("removed");
    assert!(get.send().await.unwrap().event_bridge_configuration().is_none());
}

#[tokio::test]
async fn reset_creates_a_temporary_directory_again_and_misses_a_kept_one() {
    let server = super::server().await;
    fs::remove_dir_all(server.s3().directory()).unwrap();
    server.reset();
    put(&client(&server), "a", b"tea").await;

    let directory = Directory::new("gone");
    let server = start(&directory.0).await;
    fs::remove_dir_all(&directory.0).unwrap();
    let answer = Wire::connect(&server).await.exchange("POST /_mock/reset", "", b"").await.error(500);
    let missing = directory.0.join("buckets/payloads");
    let expected = format!("cannot reset the buckets of S3: {} was removed meanwhile", missing.display());
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn reader_gets_the_whole_object_after_it_is_replaced_or_deleted() {
    let directory = Directory::new("reader");
    let server = start(&directory.0).await;
    let client = client(&server);
    let body = super::bytes(4 << 20);
    put(&client, "a", &body).await;
    let got = client.get_object().bucket(BUCKET).key("a").send().await.unwrap();
    put(&client, "a", b"new").await;
    client.delete_object().bucket(BUCKET).key("a").send().await.unwrap();
    assert!(got.body.collect().await.unwrap().to_vec() == body);
}

#[tokio::test]
async fn aborted_put_leaves_no_file() {
    use tokio::io::AsyncWriteExt as _;
    let directory = Directory::new("broken");
    let server = start(&directory.0).await;
    let address = server.s3().endpoint_url().trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = "PUT /payloads/a HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&[b'x'; 500]).await.unwrap();
    while directory.data() == 0 {
        tokio::task::yield_now().await;
    }
    drop(stream);
    while server.s3().requests().is_empty() || directory.data() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.s3().count(BUCKET), 0);
}

#[tokio::test]
async fn shutdown_waits_for_requests_in_flight() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let directory = Directory::new("stop");
    let server = start(&directory.0).await;
    let address = server.s3().endpoint_url().trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"PUT /payloads/a HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 3\r\n\r\nt")
        .await
        .unwrap();
    while directory.data() == 0 {
        tokio::task::yield_now().await;
    }
    let finish = async {
        stream.write_all(b"ea").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let ((), answer) = tokio::join!(server.shutdown(), finish);
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert_eq!(start(&directory.0).await.s3().bytes(BUCKET, "a").await.unwrap(), b"tea");
}

#[tokio::test]
async fn invalid_s3_settings_are_rejected() {
    let bad =
        MockSqs::builder().s3(S3::temporary().bucket("No_Bucket")).start().await.unwrap_err().to_string();
    assert!(
        bad.starts_with("s3.buckets[0]: \"No_Bucket\" is not a valid bucket name; allowed are 3 to 63"),
        "{bad}"
    );
    let file = Directory::new("file");
    fs::create_dir(&file.0).unwrap();
    fs::write(file.0.join("taken"), "").unwrap();
    let error = MockSqs::builder().with_s3(file.0.join("taken")).start().await.unwrap_err().to_string();
    assert!(error.starts_with("cannot store objects in "), "{error}");
    assert!(error.ends_with("taken: it is not a directory"), "{error}");
}
