//! What is looked at on the way.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream;

use super::scripted::Scripted;
use super::{at, text};
use crate::payload::{Download, Payload, PayloadErrorKind, Progress};

#[tokio::test]
async fn an_object_of_another_length_is_refused_before_its_first_byte() {
    let store = Scripted::holding(text(10));
    for length in [9, 11] {
        let error = store.open(length).await.unwrap_err();
        assert_eq!(error.kind(), PayloadErrorKind::Damaged);
        assert_eq!(error.to_string(), format!("s3://b/k has 10 bytes, and its message says {length}"));
    }
}

#[tokio::test]
async fn an_object_with_another_hash_than_its_metadata_says_is_damaged() {
    let store = Scripted::default();
    assert_eq!(Payload::from(text(10)).put(&store, &at()).await.unwrap(), 10);
    assert_eq!(store.read().await.unwrap(), text(10));
    store.edit(|state| state.body = Bytes::from_static(b"0123456789"));
    let error = store.read().await.unwrap_err();
    assert_eq!(error.kind(), PayloadErrorKind::Damaged);
    assert!(error.to_string().contains("SHA-256"), "{error}");
}

#[tokio::test]
async fn what_is_too_large_is_not_asked_for() {
    let store = Scripted::holding(text(10));
    let error = Download::new(&store, at(), 10).max_length(9).open().await.unwrap_err();
    assert_eq!(error.kind(), PayloadErrorKind::TooLarge);
    assert_eq!(store.froms(), [0; 0]);
    let body = Download::new(&store, at(), 10).open().await.unwrap();
    assert_eq!(body.collect(9).await.unwrap_err().kind(), PayloadErrorKind::TooLarge);
}

#[tokio::test]
async fn text_is_utf8_in_both_directions_unless_it_is_binary() {
    let wrong = Bytes::from_static(b"a\xff");
    let store = Scripted::default();
    let pieces = || stream::iter([Ok::<_, std::io::Error>(wrong.clone())]);
    for payload in [Payload::from(wrong.clone()), Payload::from_stream(pieces())] {
        let error = payload.put(&store, &at()).await.unwrap_err();
        assert_eq!(error.kind(), PayloadErrorKind::NotText);
        assert!(error.to_string().contains("at byte 1"), "{error}");
    }
    for payload in [Payload::from(wrong.clone()), Payload::from_stream(pieces())] {
        assert_eq!(payload.binary().put(&store, &at()).await.unwrap(), 2);
        assert_eq!(store.read().await.unwrap_err().kind(), PayloadErrorKind::NotText);
        let body = Download::new(&store, at(), 2).binary().open().await.unwrap();
        assert_eq!(body.collect(2).await.unwrap(), wrong);
    }
}

#[tokio::test]
async fn more_bytes_than_allowed_or_said_are_not_sent() {
    let store = Scripted::default();
    let pieces = || Payload::from_stream(stream::iter([Ok::<_, std::io::Error>(text(6)), Ok(text(6))]));
    for (payload, kind) in [
        (pieces().max_length(11), PayloadErrorKind::TooLarge),
        (Payload::from(text(12)).max_length(11), PayloadErrorKind::TooLarge),
        (pieces().length(11), PayloadErrorKind::Damaged),
        (pieces().length(13), PayloadErrorKind::Damaged),
    ] {
        assert_eq!(payload.put(&store, &at()).await.unwrap_err().kind(), kind);
    }
    assert_eq!(pieces().length(12).max_length(12).put(&store, &at()).await.unwrap(), 12);
}

#[tokio::test]
async fn a_source_that_fails_says_why() {
    let failing = stream::iter([Ok(text(6)), Err("the tape is torn")]);
    let error = Payload::from_stream(failing).put(&Scripted::default(), &at()).await.unwrap_err();
    assert_eq!(error.kind(), PayloadErrorKind::Source);
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the tape is torn");
    let error = Payload::from_path("no/such/file").put(&Scripted::default(), &at()).await.unwrap_err();
    assert!(error.to_string().contains("no/such/file"), "{error}");
}

#[tokio::test]
async fn progress_is_told_in_both_directions() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let listener = |seen: &Arc<Mutex<Vec<Progress>>>| {
        let seen = Arc::clone(seen);
        move |progress| seen.lock().unwrap().push(progress)
    };
    let store = Scripted::default();
    let length = 2_500_000;
    Payload::from(text(length)).progress(listener(&seen)).put(&store, &at()).await.unwrap();
    let sent = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(sent.iter().map(|p| p.bytes).collect::<Vec<_>>(), [1 << 20, 2 << 20, length as u64]);
    assert!(sent.iter().all(|progress| progress.total == Some(length as u64)));

    let body = Download::new(&store, at(), length as u64).progress(listener(&seen)).open().await.unwrap();
    body.collect(length).await.unwrap();
    assert_eq!(seen.lock().unwrap().last().unwrap().bytes, length as u64);
    assert_eq!(seen.lock().unwrap().len(), 2_500);
}
