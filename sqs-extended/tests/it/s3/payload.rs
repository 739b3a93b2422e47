//! Payloads through S3 over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqs_extended::{Body, Download, Payload, PayloadErrorKind, StoreErrorKind};
use tokio::io::AsyncReadExt as _;

use super::fault::Effect;
use super::rig::{BUCKET, PART, Rig, at, bytes};

async fn open(rig: &Rig, key: &str, length: u64) -> Body {
    Download::new(&rig.store(), at(key), length).open().await.unwrap()
}

#[tokio::test]
async fn a_file_goes_up_and_comes_back() {
    let rig = Rig::start().await;
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    for length in [0, 1, PART, 2 * PART + 12_345] {
        std::fs::write(&from, bytes(length)).unwrap();
        let key = length.to_string();
        let sent = Payload::from_path(&from).put(&rig.store(), &at(&key)).await.unwrap();
        assert_eq!(sent, u64::try_from(length).unwrap());
        assert_eq!(open(&rig, &key, sent).await.write_to_path(&to).await.unwrap(), sent);
        assert!(std::fs::read(&to).unwrap() == bytes(length), "{length}");
    }
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 2, "nothing is left beside them");
}

#[tokio::test]
async fn a_reader_goes_up_and_a_reader_comes_back() {
    let rig = Rig::start().await;
    let reader = std::io::Cursor::new(bytes(PART + 7));
    let sent = Payload::from_reader(reader).put(&rig.store(), &at("k")).await.unwrap();
    let mut reader = open(&rig, "k", sent).await.into_reader();
    let mut all = Vec::new();
    reader.read_to_end(&mut all).await.unwrap();
    assert!(all == bytes(PART + 7));
}

#[tokio::test]
async fn a_download_that_breaks_off_is_resumed() {
    let rig = Rig::start().await;
    let length = PART + 999_999;
    let sent = Payload::from(bytes(length)).put(&rig.store(), &at("k")).await.unwrap();
    rig.fail("GetObject", Effect::BreakAt(2_000_000), 1);
    rig.fail("GetObject", Effect::BreakAt(3_000_000), 1);
    assert!(open(&rig, "k", sent).await.collect(length).await.unwrap() == bytes(length));
    let ranges =
        rig.faults.seen().iter().filter_map(|seen| seen.header("range").map(ToOwned::to_owned)).count();
    assert!(ranges >= 2, "hyper gives out less than came before it broke off, and the rest is asked for");
}

#[tokio::test]
async fn an_object_that_is_overwritten_between_two_ranges_is_an_error() {
    let rig = Rig::start().await;
    let length = 3_000_000;
    let sent = Payload::from(bytes(length)).put(&rig.store(), &at("k")).await.unwrap();
    rig.fail("GetObject", Effect::BreakAt(1_000_000), 1);
    let mut body = open(&rig, "k", sent).await;
    body.next().await.unwrap().unwrap();
    let other = vec![b'x'; length];
    rig.client.put_object().bucket(BUCKET).key("k").body(other.into()).send().await.unwrap();
    let error = body.try_collect::<Vec<_>>().await.unwrap_err();
    assert_eq!(error.kind(), PayloadErrorKind::Damaged, "{error}");
    assert_eq!(error.store_error().unwrap().kind(), StoreErrorKind::Changed);
}

#[tokio::test]
async fn an_object_that_is_truncated_in_s3_is_an_error() {
    let rig = Rig::start().await;
    let sent = Payload::from(bytes(10_000)).put(&rig.store(), &at("k")).await.unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(rig.path(&format!("{BUCKET}/k"))).unwrap();
    file.set_len(9_999).unwrap();
    let error = Download::new(&rig.store(), at("k"), sent).open().await.unwrap_err();
    assert_eq!(error.kind(), PayloadErrorKind::Damaged, "{error}");
}

#[tokio::test]
async fn an_object_with_other_bytes_in_s3_is_an_error() {
    let rig = Rig::start().await;
    for length in [10_000, PART + 1] {
        let key = length.to_string();
        let sent = Payload::from(bytes(length)).put(&rig.store(), &at(&key)).await.unwrap();
        let mut other = bytes(length).to_vec();
        other[5_000] ^= 1;
        std::fs::write(rig.path(&format!("{BUCKET}/{key}")), other).unwrap();
        assert!(open(&rig, &key, sent).await.collect(length).await.is_err(), "{length}");
    }
}

/// What the metadata say of its hash.
async fn named_hash(rig: &Rig, key: &str) -> Option<String> {
    let head = rig.client.head_object().bucket(BUCKET).key(key).send().await.unwrap();
    head.metadata.unwrap_or_default().remove("sha256")
}

#[tokio::test]
async fn a_stream_that_fits_into_one_part_has_its_hash_in_the_metadata() {
    let rig = Rig::start().await;
    for (length, has_hash) in [(3, true), (PART, true), (PART + 1, false)] {
        let (streamed, whole) = (format!("streamed/{length}"), format!("whole/{length}"));
        let pieces = stream::iter([Ok::<_, std::io::Error>(bytes(length))]);
        Payload::from_stream(pieces).put(&rig.store(), &at(&streamed)).await.unwrap();
        Payload::from(bytes(length)).put(&rig.store(), &at(&whole)).await.unwrap();
        let expected = named_hash(&rig, &whole).await.unwrap();
        assert_eq!(named_hash(&rig, &streamed).await, has_hash.then_some(expected), "{length}");
    }
}

#[tokio::test]
async fn a_streamed_object_whose_bytes_were_replaced_is_damaged() {
    let rig = Rig::start().await;
    let length = 10_000;
    let pieces = stream::iter([Ok::<_, std::io::Error>(bytes(length))]);
    let sent = Payload::from_stream(pieces).put(&rig.store(), &at("k")).await.unwrap();
    let head = rig.client.head_object().bucket(BUCKET).key("k").send().await.unwrap();
    let put = rig.client.put_object().bucket(BUCKET).key("k").set_metadata(head.metadata);
    put.body(vec![b'x'; length].into()).send().await.unwrap();
    let error = open(&rig, "k", sent).await.collect(length).await.unwrap_err();
    assert_eq!(error.kind(), PayloadErrorKind::Damaged, "{error}");
    assert!(error.to_string().contains("SHA-256"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_not_whole_does_not_get_its_name() {
    let rig = Rig::start().await;
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("to");
    let sent = Payload::from(bytes(2_000_000)).put(&rig.store(), &at("k")).await.unwrap();
    rig.fail("GetObject", Effect::BreakAt(1_500_000), 1);
    rig.fail("GetObject", Effect::Answer(403, "AccessDenied"), 1);
    let error = open(&rig, "k", sent).await.write_to_path(&target).await.unwrap_err();
    assert_eq!(error.store_error().unwrap().kind(), StoreErrorKind::Forbidden);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[tokio::test]
async fn a_payload_that_is_dropped_is_aborted() {
    let rig = Rig::start().await;
    let taken = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&taken);
    let endless = stream::repeat_with(|| Ok::<_, std::io::Error>(bytes(100_000)));
    let payload = Payload::from_stream(endless)
        .progress(move |progress| counter.store(progress.bytes, Ordering::Relaxed));
    let (store, place) = (rig.store(), at("k"));
    tokio::select! {
        result = payload.put(&store, &place) => panic!("{result:?}"),
        () = rig.wait_for("UploadPart", 2) => {}
    }
    assert!(taken.load(Ordering::Relaxed) > 2 * 5_000_000);
    rig.wait_until_clean().await;
    assert_eq!(rig.object(&place).await, None);
}

#[tokio::test]
async fn text_that_turns_out_to_be_none_leaves_nothing() {
    let rig = Rig::start().await;
    let mut wrong = bytes(2 * PART).to_vec();
    wrong[PART + 70_000] = 0xff;
    let reader = std::io::Cursor::new(wrong);
    let error = Payload::from_reader(reader).put(&rig.store(), &at("k")).await.unwrap_err();
    assert!(error.to_string().contains(&format!("at byte {}", PART + 70_000)), "{error}");
    assert_eq!(rig.object(&at("k")).await, None);
    assert_eq!(rig.left_over(), [""; 0]);
}

#[cfg(feature = "zstd")]
#[tokio::test]
async fn what_is_compressed_says_so_in_s3() {
    let rig = Rig::start().await;
    let payload = Payload::from(bytes(PART)).compression(sqs_extended::Compression::Zstd);
    let sent = payload.put(&rig.store(), &at("k")).await.unwrap();
    assert_eq!(rig.faults.seen().last().unwrap().header("content-encoding"), Some("zstd"));
    assert!(rig.object(&at("k")).await.unwrap().len() < PART / 10);
    assert!(open(&rig, "k", sent).await.collect(PART).await.unwrap() == bytes(PART));
}
