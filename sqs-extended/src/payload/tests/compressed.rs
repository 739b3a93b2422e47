//! What is compressed.

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::scripted::{Get, Scripted};
use super::{at, text};
use crate::payload::{Compression, Download, Payload, PayloadErrorKind};

const LENGTH: usize = 3_000_000;
const GZIP_OF_NOTHING: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0";
const ZSTD_OF_NOTHING: &[u8] = b"\x28\xb5\x2f\xfd\x20\0\x01\0\0";

async fn stored(compression: Compression) -> Scripted {
    let store = Scripted::default();
    let payload = Payload::from(text(LENGTH)).compression(compression);
    assert_eq!(payload.put(&store, &at()).await.unwrap(), LENGTH as u64, "counted before compression");
    store
}

#[tokio::test(start_paused = true)]
async fn what_is_compressed_is_read_again_even_in_parts() {
    for compression in [Compression::Gzip, Compression::Zstd] {
        let store = stored(compression).await;
        assert!(store.length() < 100_000);
        let store = store.then(Get::Break(100)).then(Get::End(50));
        let body = store.open(LENGTH as u64).await.unwrap();
        assert_eq!(body.collect(LENGTH).await.unwrap(), text(LENGTH), "{compression:?}");
        assert_eq!(store.froms(), [0, 100, 150]);
    }
}

#[tokio::test]
async fn a_bomb_is_cut_off_at_the_length_of_its_message() {
    for compression in [Compression::Gzip, Compression::Zstd] {
        let store = stored(compression).await;
        store.edit(|state| state.metadata.clear());
        for length in [0, 1_000, LENGTH / 2] {
            let mut body = store.open(length as u64).await.unwrap();
            let mut came = 0;
            let error = loop {
                match body.next().await.expect("an error before the end") {
                    Ok(piece) => came += piece.len(),
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), PayloadErrorKind::Damaged, "{error}");
            assert!(body.next().await.is_none());
            assert!(came <= length, "{came} of {length}");
        }
    }
}

#[tokio::test]
async fn room_is_made_for_what_message_and_store_agree_on() {
    let store = stored(Compression::Zstd).await;
    for length in [1, 1 << 20, 1 << 40] {
        let download = Download::new(&store, at(), length).max_length(u64::MAX);
        assert_eq!(
            download.open().await.unwrap().sure,
            length.min(1 << 20),
            "the message alone says {length}"
        );
    }
    store.edit(|state| state.encoding = None);
    assert_eq!(store.open(store.length()).await.unwrap().sure, store.length());
}

#[tokio::test]
async fn more_compressed_bytes_than_a_payload_can_have_are_not_read() {
    for (encoding, empty) in [("gzip", GZIP_OF_NOTHING), ("zstd", ZSTD_OF_NOTHING)] {
        // Members and frames of nothing, one after the other.
        let body = |length: usize| -> Bytes { empty.iter().copied().cycle().take(length).collect() };
        let most = 8_000 + 1_000 + (64 << 10);
        let store = Scripted::holding(body(most + 1));
        store.edit(|state| state.encoding = Some(encoding.to_owned()));
        let error = store.open(8_000).await.unwrap_err();
        assert_eq!(error.kind(), PayloadErrorKind::Damaged, "{error}");
        assert!(error.to_string().contains("at most 74536"), "{error}");
        store.edit(|state| state.body = body(most));
        store.open(8_000).await.unwrap();
        let whole = empty.len() * 1_000;
        store.edit(|state| state.body = body(whole));
        assert_eq!(store.open(0).await.unwrap().collect(0).await.unwrap(), "", "{encoding}");
    }
}

#[tokio::test]
async fn what_does_not_get_shorter_is_not_too_long() {
    let mut noise = fastrand::Rng::with_seed(7);
    for compression in [Compression::Gzip, Compression::Zstd] {
        for length in [0, 1, 1_000, LENGTH] {
            let bytes: Bytes = (0..length).map(|_| noise.u8(..)).collect();
            let store = Scripted::default();
            let payload = Payload::from(bytes.clone()).binary().compression(compression);
            payload.put(&store, &at()).await.unwrap();
            assert!(store.length() > length as u64);
            let body = Download::new(&store, at(), length as u64).binary().open().await.unwrap();
            assert_eq!(body.collect(length).await.unwrap(), bytes);
        }
    }
}

#[tokio::test]
async fn what_is_compressed_and_damaged_is_an_error() {
    for compression in [Compression::Gzip, Compression::Zstd] {
        let store = stored(compression).await;
        store.edit(|state| state.body = state.body.slice(..state.body.len() - 9));
        let body = store.open(LENGTH as u64).await.unwrap();
        assert!(body.collect(LENGTH).await.is_err(), "{compression:?}");
        store.edit(|state| state.body = Bytes::from_static(b"neither of both"));
        let body = store.open(LENGTH as u64).await.unwrap();
        assert_eq!(body.collect(LENGTH).await.unwrap_err().kind(), PayloadErrorKind::Encoding);
    }
}
