//! The multipart uploads of a bucket. They are only in memory: no record on disk refers to the data files of their parts.

use std::io;
use std::sync::Arc;

use super::bucket::Bucket;
use super::{Object, Record, Upload, Written};
use crate::s3::notifications::Configuration;

impl Bucket {
    /// Begins an upload.
    pub(in crate::s3) fn begin(&self, upload: Upload) -> io::Result<()> {
        self.open()?.uploads.insert(upload.id.clone(), upload);
        Ok(())
    }

    /// A snapshot of the upload with this id.
    pub(in crate::s3) fn upload(&self, id: &str) -> Option<Upload> {
        self.state.lock().uploads.get(id).cloned()
    }

    /// A snapshot of all uploads.
    pub(in crate::s3) fn uploads(&self) -> Vec<Upload> {
        self.state.lock().uploads.values().cloned().collect()
    }

    /// Adds a part or replaces the part of the same number; `false` if the upload does not exist.
    pub(in crate::s3) fn add_part(&self, id: &str, number: i32, part: Written) -> bool {
        let mut state = self.state.lock();
        let upload = state.uploads.get_mut(id);
        upload.map(|upload| upload.parts.insert(number, Arc::new(part))).is_some()
    }

    /// Replaces an upload by its object under one lock, so that either this or an abort succeeds. `done` is called under
    /// that lock. `None` if the upload does not exist.
    pub(in crate::s3) fn complete(
        &self,
        id: &str,
        object: Object,
        check: impl FnOnce(Option<&Record>) -> io::Result<()>,
        done: impl FnOnce(&Configuration, &Record),
    ) -> io::Result<Option<Arc<Object>>> {
        let mut state = self.state.lock();
        if !state.uploads.contains_key(id) {
            return Ok(None);
        }
        let object = self.insert(&mut state, object, check, done)?;
        state.uploads.remove(id);
        Ok(Some(object))
    }

    /// Removes an upload and its parts; `false` if it does not exist.
    pub(in crate::s3) fn abort(&self, id: &str) -> bool {
        self.state.lock().uploads.remove(id).is_some()
    }
}
