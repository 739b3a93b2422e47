//! The checks of payloads, in both directions.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream;

use crate::error::ErrorKind;
use crate::payload::body::Options;
use crate::payload::checks::Progress;
use crate::payload::tests::scripted::Scripted;
use crate::payload::tests::text;
use crate::payload::upload::Payload;

fn in_pieces(bytes: &Bytes) -> Payload {
    let pieces: Vec<_> =
        bytes.chunks(6).map(|piece| Ok::<_, std::io::Error>(bytes.slice_ref(piece))).collect();
    Payload::from_stream(stream::iter(pieces))
}

#[tokio::test]
async fn object_of_another_length_is_damaged() {
    let store = Scripted::holding(text(10));
    for length in [9, 11] {
        let error = store.open(length).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged);
        assert_eq!(error.to_string(), format!("s3://b/k has 10 bytes; its message says {length}"));
    }
}

#[tokio::test]
async fn object_with_another_hash_than_its_message_is_damaged() {
    let store = Scripted::default();
    for payload in [Payload::from(text(10)), in_pieces(&text(10))] {
        let sent = store.put(payload).await.unwrap();
        assert_eq!(sent.length, 10);
        let read = async || {
            store.open_with(10, sent.sha256.clone(), Options::default()).await.unwrap().collect(10).await
        };
        assert_eq!(read().await.unwrap(), text(10));
        store.edit(|state| state.body = Bytes::from_static(b"0123456789"));
        let error = read().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged);
        assert!(error.to_string().contains("SHA-256"), "{error}");
    }
    assert_eq!(store.put(in_pieces(&text(10)).without_hash()).await.unwrap().sha256, None);
}

#[tokio::test]
async fn payload_that_is_too_large_is_not_requested() {
    let store = Scripted::holding(text(10));
    let options = Options { limit: 9, ..Options::default() };
    assert_eq!(store.open_with(10, None, options).await.unwrap_err().kind(), ErrorKind::TooLarge);
    assert_eq!(store.froms(), [0; 0]);
    let body = store.open(10).await.unwrap();
    assert_eq!(body.collect(9).await.unwrap_err().kind(), ErrorKind::TooLarge);
}

#[tokio::test]
async fn payload_must_be_utf8_in_both_directions_unless_it_is_binary() {
    let wrong = Bytes::from_static(b"a\xff");
    let store = Scripted::default();
    for payload in [Payload::from(wrong.clone()), in_pieces(&wrong)] {
        let error = store.put(payload).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotText);
        assert!(error.to_string().contains("at byte 1"), "{error}");
    }
    for payload in [Payload::from(wrong.clone()), in_pieces(&wrong)] {
        assert_eq!(store.put(payload.binary()).await.unwrap().length, 2);
        assert_eq!(store.read().await.unwrap_err().kind(), ErrorKind::NotText);
        let options = Options { is_binary: true, ..Options::default() };
        assert_eq!(store.open_with(2, None, options).await.unwrap().collect(2).await.unwrap(), wrong);
    }
}

#[tokio::test]
async fn payload_over_its_maximum_or_of_another_length_is_not_sent() {
    let store = Scripted::default();
    for (payload, kind) in [
        (in_pieces(&text(12)).max_length(11), ErrorKind::TooLarge),
        (Payload::from(text(12)).max_length(11), ErrorKind::TooLarge),
        (in_pieces(&text(12)).length(11), ErrorKind::Source),
        (in_pieces(&text(12)).length(13), ErrorKind::Source),
    ] {
        assert_eq!(store.put(payload).await.unwrap_err().kind(), kind);
    }
    assert_eq!(store.put(in_pieces(&text(12)).length(12).max_length(12)).await.unwrap().length, 12);
}

#[tokio::test]
async fn failing_source_is_reported_with_its_cause() {
    let failing = stream::iter([Ok(text(6)), Err("the tape is torn")]);
    let error = Scripted::default().put(Payload::from_stream(failing)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Source);
    assert_eq!(error.to_string(), "reading the payload failed: the tape is torn");
    let error = Scripted::default().put(Payload::from_path("no/such/file")).await.unwrap_err();
    assert!(error.to_string().contains("no/such/file"), "{error}");
}

#[tokio::test]
async fn progress_is_reported_in_both_directions() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let listener = |seen: &Arc<Mutex<Vec<Progress>>>| {
        let seen = Arc::clone(seen);
        move |progress| seen.lock().unwrap().push(progress)
    };
    let store = Scripted::default();
    let length = 2_500_000;
    store.put(Payload::from(text(length)).progress(listener(&seen))).await.unwrap();
    let sent = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(sent.iter().map(|p| p.bytes).collect::<Vec<_>>(), [1 << 20, 2 << 20, length as u64]);
    assert!(sent.iter().all(|progress| progress.total == Some(length as u64)));

    let options = Options { listener: Some(Box::new(listener(&seen))), ..Options::default() };
    store.open_with(length as u64, None, options).await.unwrap().collect(length).await.unwrap();
    assert_eq!(seen.lock().unwrap().last().unwrap().bytes, length as u64);
    assert_eq!(seen.lock().unwrap().len(), 2_500);
}
