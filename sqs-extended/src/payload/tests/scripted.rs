//! A store with scripted failures.

use std::collections::VecDeque;
use std::future::ready;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::error::Error;
use crate::error::ErrorKind;
use crate::format::pointer::Pointer;
use crate::payload::body::Body;
use crate::payload::body::Download;
use crate::payload::body::Options;
use crate::payload::tests::at;
use crate::payload::upload::Payload;
use crate::payload::upload::Uploaded;
use crate::store::Bounded;
use crate::store::Object;
use crate::store::PayloadStore;
use crate::store::StoreFuture;
use crate::store::Upload;
use crate::store::UploadBody;

/// The behaviour of one `get`.
pub(super) enum Get {
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
pub(super) struct Scripted(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    pub(super) body: Bytes,
    pub(super) version: usize,
    pub(super) has_no_tags: bool,
    pub(super) script: VecDeque<Get>,
    pub(super) froms: Vec<u64>,
}

impl Scripted {
    pub(super) fn holding(body: impl Into<Bytes>) -> Self {
        let state = State { body: body.into(), ..State::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    pub(super) fn then(self, get: Get) -> Self {
        self.0.lock().unwrap().script.push_back(get);
        self
    }

    pub(super) fn edit(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().unwrap());
    }

    pub(super) fn froms(&self) -> Vec<u64> {
        self.0.lock().unwrap().froms.clone()
    }

    pub(super) fn length(&self) -> u64 {
        self.0.lock().unwrap().body.len() as u64
    }

    fn bounded(&self) -> Bounded {
        Bounded::new(Arc::new(self.clone()), Duration::from_secs(120))
    }

    pub(super) async fn put(&self, payload: Payload) -> Result<Uploaded, Error> {
        payload.put(&self.bounded(), &at()).await
    }

    pub(super) async fn open(&self, length: u64) -> Result<Body, Error> {
        self.open_with(length, None, Options::default()).await
    }

    pub(super) async fn open_with(
        &self,
        length: u64,
        sha256: Option<String>,
        options: Options,
    ) -> Result<Body, Error> {
        Download { store: self.bounded(), at: at(), length, sha256 }.open(options).await
    }

    /// Reads the whole object, with its current length as the expected one.
    pub(super) async fn read(&self) -> Result<Bytes, Error> {
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
