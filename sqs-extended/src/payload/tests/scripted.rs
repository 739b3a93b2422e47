//! A store that fails as it is told to.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::at;
use crate::payload::{Body, Download, PayloadError};
use crate::pointer::Pointer;
use crate::store::{Object, ObjectPage, PayloadStore, StoreError, StoreErrorKind, Upload, UploadBody};

/// What one `get` does.
pub(super) enum Get {
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
pub(super) struct Scripted(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    pub(super) body: Bytes,
    pub(super) encoding: Option<String>,
    pub(super) metadata: HashMap<String, String>,
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

    pub(super) async fn open(&self, length: u64) -> Result<Body, PayloadError> {
        Download::new(self, at(), length).open().await
    }

    /// All bytes, of the length that the object has now.
    pub(super) async fn read(&self) -> Result<Bytes, PayloadError> {
        self.open(self.length()).await?.collect(usize::MAX).await
    }
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
