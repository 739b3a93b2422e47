//! Payloads through a store with scripted failures.

use std::collections::VecDeque;
use std::future::ready;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::payload::body::{Body, Download, Options};
use crate::payload::checks::Progress;
use crate::payload::upload::{Payload, Uploaded};
use crate::store::{Bounded, Object, PayloadStore, StoreFuture, Upload, UploadBody};

fn at() -> Pointer {
    Pointer::new("b", "k")
}

fn text(length: usize) -> Bytes {
    (0..length).map(|index| b'a' + u8::try_from(index * 7 % 26).unwrap()).collect()
}

/// The behavior of one `get`.
enum Get {
    /// The body fails after this number of bytes.
    Break(usize),
    /// The body ends after this number of bytes.
    End(usize),
    /// The call fails.
    Fail(ErrorKind),
    /// This body replaces the object before the read.
    Overwrite(Bytes),
}

/// A store of one object.
#[derive(Clone, Default)]
struct Scripted(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    body: Bytes,
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

    fn bounded(&self) -> Bounded {
        Bounded::new(Arc::new(self.clone()), Duration::from_secs(120))
    }

    async fn put(&self, payload: Payload) -> Result<Uploaded, Error> {
        payload.put(&self.bounded(), &at()).await
    }

    async fn open(&self, length: u64) -> Result<Body, Error> {
        self.open_with(length, None, Options::default()).await
    }

    async fn open_with(&self, length: u64, sha256: Option<String>, options: Options) -> Result<Body, Error> {
        Download { store: self.bounded(), at: at(), length, sha256 }.open(options).await
    }

    /// Reads the whole object, with its current length as the expected one.
    async fn read(&self) -> Result<Bytes, Error> {
        self.open(self.length()).await?.collect(usize::MAX).await
    }
}

impl PayloadStore for Scripted {
    fn bucket(&self) -> &'static str {
        "b"
    }

    fn put<'a>(&'a self, _: &'a Pointer, upload: Upload) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let body = match upload.body {
                UploadBody::Bytes(bytes) => bytes,
                UploadBody::Stream(pieces) => pieces.try_collect::<Vec<_>>().await?.concat().into(),
            };
            self.edit(|state| state.body = body);
            Ok(())
        })
    }

    fn get<'a>(
        &'a self,
        _: &'a Pointer,
        range: Option<Range<u64>>,
        tag: Option<&'a str>,
    ) -> StoreFuture<'a, Object> {
        Box::pin(ready(self.get_now(&range.unwrap_or(0..u64::MAX), tag)))
    }

    fn delete<'a>(&'a self, _: &'a Pointer) -> StoreFuture<'a, ()> {
        Box::pin(ready(Ok(())))
    }
}

impl Scripted {
    fn get_now(&self, range: &Range<u64>, tag: Option<&str>) -> Result<Object, Error> {
        let mut state = self.0.lock().unwrap();
        state.froms.push(range.start);
        let get = state.script.pop_front();
        if let Some(Get::Overwrite(body)) = &get {
            (state.body, state.version) = (body.clone(), state.version + 1);
        }
        let version = state.version.to_string();
        if let Some(Get::Fail(kind)) = get {
            return Err(Error::new(kind, "injected"));
        }
        if tag.is_some_and(|tag| tag != version) {
            return Err(Error::new(ErrorKind::Damaged, "injected"));
        }
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(state.body.len());
        let rest = state.body.slice(place(range.start)..place(range.end));
        let upto = match get {
            Some(Get::Break(upto) | Get::End(upto)) => upto.min(rest.len()),
            _ => rest.len(),
        };
        let mut pieces: Vec<_> = rest[..upto].chunks(1_000).map(|piece| Ok(rest.slice_ref(piece))).collect();
        // A range that ends inside the object is cut off before a later error.
        let is_seen = upto < rest.len() || range.end > state.body.len() as u64;
        if is_seen && matches!(get, Some(Get::Break(_))) {
            pieces.push(Err(Error::new(ErrorKind::Unavailable, "injected break")));
        }
        let mut object = Object::new(state.body.len() as u64, stream::iter(pieces).boxed());
        object.tag = (!state.has_no_tags).then_some(version);
        Ok(object)
    }
}

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

/// Others may free memory, so that a later attempt succeeds.
#[tokio::test]
async fn shortage_of_memory_is_retryable() {
    let body = Body::new(u64::MAX, stream::empty().boxed());
    let error = body.collect(usize::MAX).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unavailable, true), "{error}");
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

/// Reads in ranges of 1,000 bytes, three at once.
async fn in_ranges(store: &Scripted, length: usize) -> Body {
    let mut options = Options::default();
    (options.plan.range, options.plan.at_once) = (1_000, 3);
    store.open_with(length as u64, None, options).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn concurrent_ranges_are_returned_in_order() {
    for length in [0, 1, 1_000, 1_001, 10_500] {
        let store =
            Scripted::holding(text(length)).then(Get::End(600)).then(Get::Break(300)).then(Get::Break(9));
        assert_eq!(in_ranges(&store, length).await.collect(length).await.unwrap(), text(length), "{length}");
    }
}

#[tokio::test(start_paused = true)]
async fn ranges_that_are_read_ahead_are_limited() {
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
async fn ranges_of_two_versions_are_damaged() {
    let store = Scripted::holding(text(5_000)).then(Get::End(1_000)).then(Get::End(1_000));
    let store = store.then(Get::Overwrite(text(5_000)));
    let error = in_ranges(&store, 5_000).await.collect(5_000).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
}

#[tokio::test(start_paused = true)]
async fn object_without_tags_is_read_in_one_request() {
    let store = Scripted::holding(text(5_000));
    store.edit(|state| state.has_no_tags = true);
    assert_eq!(in_ranges(&store, 5_000).await.collect(5_000).await.unwrap(), text(5_000));
    assert_eq!(store.froms(), [0, 0]);
}

#[tokio::test(start_paused = true)]
async fn interrupted_read_is_resumed_where_it_broke() {
    let store = Scripted::holding(text(10_500)).then(Get::Break(3_000)).then(Get::End(2_500));
    let store = store.then(Get::Fail(ErrorKind::Unavailable));
    assert_eq!(store.read().await.unwrap(), text(10_500));
    assert_eq!(store.froms(), [0, 3_000, 5_500, 5_500]);
}

#[tokio::test(start_paused = true)]
async fn read_is_given_up_after_six_interruptions() {
    let store = (0..9).fold(Scripted::holding(text(5_000)), |store, _| store.then(Get::End(100)));
    let error = store.read().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(error.to_string(), "reading s3://b/k: the body ended after 600 of 5000 bytes");
    assert_eq!(store.froms().len(), 6, "one attempt and five retries");
}

#[tokio::test(start_paused = true)]
async fn object_that_is_overwritten_while_it_is_read_is_damaged() {
    for other in [text(5_000), text(4_000)] {
        let store = Scripted::holding(text(5_000)).then(Get::Break(1_000)).then(Get::Overwrite(other));
        let error = store.read().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn read_without_tags_is_not_resumed() {
    let store = Scripted::holding(text(5_000)).then(Get::Break(1_000));
    store.edit(|state| state.has_no_tags = true);
    assert_eq!(store.read().await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(store.froms(), [0]);
}

#[tokio::test(start_paused = true)]
async fn error_after_the_last_byte_is_reported() {
    let store = Scripted::holding(text(5_000)).then(Get::Break(5_000));
    let error = store.read().await.unwrap_err();
    assert_eq!(error.to_string(), "injected break");
}

#[tokio::test(start_paused = true)]
async fn permanent_error_is_not_retried() {
    for kind in [ErrorKind::NotFound, ErrorKind::Forbidden, ErrorKind::Rejected] {
        let store = Scripted::holding(text(10)).then(Get::Break(5)).then(Get::Fail(kind));
        let error = store.read().await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(store.froms(), [0, 5]);
    }
}
