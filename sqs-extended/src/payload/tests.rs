//! Payloads through a store that fails as it is told to, under a clock that does not wait.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{Body, Download, Payload, PayloadError, PayloadErrorKind, Progress};
use crate::pointer::Pointer;
use crate::store::{Object, ObjectPage, PayloadStore, StoreError, StoreErrorKind, Upload, UploadBody};

/// What one `get` does.
enum Get {
    /// An error after so many bytes.
    Break(usize),
    /// An end after so many bytes.
    End(usize),
    /// No object at all.
    Fail(StoreErrorKind),
    /// Another object is there from now on.
    Overwrite(Bytes),
}

/// One object.
#[derive(Clone, Default)]
struct Scripted(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    body: Bytes,
    encoding: Option<String>,
    metadata: HashMap<String, String>,
    version: usize,
    has_no_tags: bool,
    script: VecDeque<Get>,
    froms: Vec<u64>,
}

impl Scripted {
    fn holding(body: impl Into<Bytes>) -> Self {
        let state = State { body: body.into(), ..State::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    fn then(self, get: Get) -> Self {
        self.0.lock().unwrap().script.push_back(get);
        self
    }

    fn edit(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().unwrap());
    }

    fn froms(&self) -> Vec<u64> {
        self.0.lock().unwrap().froms.clone()
    }

    fn length(&self) -> u64 {
        self.0.lock().unwrap().body.len() as u64
    }

    async fn open(&self, length: u64) -> Result<Body, PayloadError> {
        Download::new(self, at(), length).open().await
    }

    /// All bytes, of the length that the object has now.
    async fn read(&self) -> Result<Bytes, PayloadError> {
        self.open(self.length()).await?.collect(usize::MAX).await
    }
}

fn at() -> Pointer {
    Pointer::new("b", "k")
}

impl PayloadStore for Scripted {
    fn bucket(&self) -> &'static str {
        "b"
    }

    async fn put(&self, _: &Pointer, upload: Upload) -> Result<(), StoreError> {
        let body = match upload.body {
            UploadBody::Bytes(bytes) => bytes,
            UploadBody::Stream(pieces) => pieces.try_collect::<Vec<_>>().await?.concat().into(),
        };
        self.edit(|state| {
            (state.body, state.encoding, state.metadata) = (body, upload.content_encoding, upload.metadata);
        });
        Ok(())
    }

    async fn get(&self, _: &Pointer, from: u64, tag: Option<&str>) -> Result<Object, StoreError> {
        let mut state = self.0.lock().unwrap();
        state.froms.push(from);
        let get = state.script.pop_front();
        if let Some(Get::Overwrite(body)) = &get {
            (state.body, state.version) = (body.clone(), state.version + 1);
        }
        let version = state.version.to_string();
        if let Some(Get::Fail(kind)) = get {
            return Err(StoreError::new(kind, "as told"));
        }
        if tag.is_some_and(|tag| tag != version) {
            return Err(StoreError::new(StoreErrorKind::Changed, "as told"));
        }
        let rest = state.body.slice(usize::try_from(from).unwrap()..);
        let upto = match get {
            Some(Get::Break(upto) | Get::End(upto)) => upto.min(rest.len()),
            _ => rest.len(),
        };
        let mut pieces: Vec<_> = rest[..upto].chunks(1_000).map(|piece| Ok(rest.slice_ref(piece))).collect();
        if matches!(get, Some(Get::Break(_))) {
            pieces.push(Err(StoreError::new(StoreErrorKind::Interrupted, "broken as told")));
        }
        let mut object = Object::new(state.body.len() as u64, stream::iter(pieces).boxed());
        object.tag = (!state.has_no_tags).then_some(version);
        object.content_encoding.clone_from(&state.encoding);
        object.metadata.clone_from(&state.metadata);
        Ok(object)
    }

    async fn delete(&self, _: &Pointer) -> Result<(), StoreError> {
        Ok(())
    }

    async fn list(&self, _: &str, _: &str, _: Option<&str>) -> Result<ObjectPage, StoreError> {
        Ok(ObjectPage::default())
    }
}

fn text(length: usize) -> Bytes {
    (0..length).map(|index| b'a' + u8::try_from(index * 7 % 26).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_breaks_off_goes_on_where_it_broke_off() {
    let store = Scripted::holding(text(10_500)).then(Get::Break(3_000)).then(Get::End(2_500));
    let store = store.then(Get::Fail(StoreErrorKind::Unavailable));
    assert_eq!(store.read().await.unwrap(), text(10_500));
    assert_eq!(store.froms(), [0, 3_000, 5_500, 5_500]);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_off_again_and_again_is_given_up() {
    let store = (0..9).fold(Scripted::holding(text(5_000)), |store, _| store.then(Get::End(100)));
    let error = store.read().await.unwrap_err();
    assert_eq!(error.kind(), PayloadErrorKind::Store);
    assert_eq!(error.to_string(), "reading s3://b/k: it ended after 600 of 5000 bytes");
    assert_eq!(store.froms().len(), 6, "once, and five times more");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_overwritten_while_it_is_read_is_an_error() {
    for other in [text(5_000), text(4_000)] {
        let store = Scripted::holding(text(5_000)).then(Get::Break(1_000)).then(Get::Overwrite(other));
        let error = store.read().await.unwrap_err();
        assert_eq!(error.kind(), PayloadErrorKind::Damaged, "{error}");
        assert_eq!(error.store_error().unwrap().kind(), StoreErrorKind::Changed);
    }
}

/// In ranges of 1,000 bytes, three at once.
async fn in_ranges(store: &Scripted, length: usize) -> Body {
    let download = Download::new(store, at(), length as u64).range_size(1_000).ranges_at_once(3);
    download.open().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn ranges_that_are_read_at_once_come_in_order() {
    for length in [0, 1, 1_000, 1_001, 10_500] {
        let store =
            Scripted::holding(text(length)).then(Get::End(600)).then(Get::Break(300)).then(Get::Break(9));
        assert_eq!(in_ranges(&store, length).await.collect(length).await.unwrap(), text(length), "{length}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_ranges_than_set_are_read_ahead() {
    let store = Scripted::holding(text(10_500));
    let mut body = in_ranges(&store, 10_500).await;
    body.next().await.unwrap().unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(9)).await;
    assert_eq!(store.froms(), [0, 1_000, 2_000]);
    drop(body);
    tokio::time::sleep(std::time::Duration::from_secs(9)).await;
    assert_eq!(store.froms().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn ranges_of_two_versions_are_an_error() {
    let store = Scripted::holding(text(5_000)).then(Get::End(1_000)).then(Get::End(1_000));
    let store = store.then(Get::Overwrite(text(5_000)));
    let error = in_ranges(&store, 5_000).await.collect(5_000).await.unwrap_err();
    assert_eq!(error.kind(), PayloadErrorKind::Damaged, "{error}");
}

#[tokio::test(start_paused = true)]
async fn without_tags_an_object_is_read_in_one_go() {
    let store = Scripted::holding(text(5_000));
    store.edit(|state| state.has_no_tags = true);
    assert_eq!(in_ranges(&store, 5_000).await.collect(5_000).await.unwrap(), text(5_000));
    assert_eq!(store.froms(), [0, 0]);
}

#[tokio::test(start_paused = true)]
async fn without_tags_nothing_is_resumed() {
    let store = Scripted::holding(text(5_000)).then(Get::Break(1_000));
    store.edit(|state| state.has_no_tags = true);
    assert_eq!(store.read().await.unwrap_err().kind(), PayloadErrorKind::Store);
    assert_eq!(store.froms(), [0]);
}

#[tokio::test(start_paused = true)]
async fn an_error_after_the_last_byte_is_one() {
    let store = Scripted::holding(text(5_000)).then(Get::Break(5_000));
    let error = store.read().await.unwrap_err();
    assert_eq!(error.to_string(), "broken as told", "the SDK says so of a wrong checksum");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_pass_is_not_asked_for_again() {
    for kind in [StoreErrorKind::NotFound, StoreErrorKind::Forbidden, StoreErrorKind::Refused] {
        let store = Scripted::holding(text(10)).then(Get::Break(5)).then(Get::Fail(kind));
        let error = store.read().await.unwrap_err();
        assert_eq!(error.store_error().unwrap().kind(), kind);
        assert_eq!(store.froms(), [0, 5]);
    }
}

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

#[cfg(all(feature = "gzip", feature = "zstd"))]
mod compressed {
    use super::super::Compression;
    use super::*;

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
}
