//! The multipart uploads of a bucket.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use super::bucket::{Bucket, BucketRemoved};
use super::disk;
use super::{DataFile, Object, Part, Record, Upload, UploadHead, new_id};

impl Bucket {
    /// Begins an upload and returns its id, which is also set in `head`.
    pub(in crate::s3) fn begin<E: From<BucketRemoved> + From<io::Error>>(
        &self,
        mut head: UploadHead,
    ) -> Result<String, E> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(BucketRemoved.into());
        }
        head.id = new_id(&self.ids);
        while state.uploads.contains_key(&head.id) {
            head.id = new_id(&self.ids);
        }
        let id = head.id.clone();
        fs::create_dir_all(self.upload_path(&id))?;
        disk::write(&self.upload_path(&id).join("upload.json"), &head)?;
        state.uploads.insert(id.clone(), Upload { head: Arc::new(head), parts: BTreeMap::new() });
        Ok(id)
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
    pub(in crate::s3) fn add_part(&self, id: &str, part: Part, file: &Arc<DataFile>) -> io::Result<bool> {
        let mut state = self.state.lock();
        let Some(upload) = state.uploads.get_mut(id) else { return Ok(false) };
        disk::write(&self.upload_path(id).join(format!("{}.json", part.number)), &part)?;
        file.keep();
        if let Some((_, before)) = upload.parts.insert(part.number, (Arc::new(part), Arc::clone(file))) {
            before.delete_on_drop();
        }
        Ok(true)
    }

    /// Replaces an upload by its object under one lock, so that either this or an abort succeeds. `done` is called under
    /// that lock. `None` if the upload does not exist.
    pub(in crate::s3) fn complete<E: From<BucketRemoved> + From<io::Error>>(
        &self,
        id: &str,
        object: Object,
        check: impl FnOnce(Option<&Record>) -> Result<(), E>,
        done: impl FnOnce(&Record),
    ) -> Result<Option<Arc<Object>>, E> {
        let mut state = self.state.lock();
        if !state.uploads.contains_key(id) {
            return Ok(None);
        }
        let object = self.insert(&mut state, object, check, done)?;
        if let Some(upload) = state.uploads.remove(id) {
            let files = upload.parts.values().map(|(_, file)| file);
            let is_unused = |file: &&Arc<DataFile>| !object.files.iter().any(|used| Arc::ptr_eq(used, file));
            files.filter(is_unused).for_each(|file| file.delete_on_drop());
        }
        // The object is stored, so the request succeeds. The next start removes the directory.
        if let Err(error) = fs::remove_dir_all(self.upload_path(id)) {
            tracing::warn!(%error, id, "cannot remove the directory of a completed upload");
        }
        Ok(Some(object))
    }

    /// Removes an upload and its parts; `false` if it does not exist.
    pub(in crate::s3) fn abort(&self, id: &str) -> io::Result<bool> {
        let mut state = self.state.lock();
        if !state.uploads.contains_key(id) {
            return Ok(false);
        }
        fs::remove_dir_all(self.upload_path(id))?;
        if let Some(upload) = state.uploads.remove(id) {
            upload.parts.values().for_each(|(_, file)| file.delete_on_drop());
        }
        Ok(true)
    }

    fn upload_path(&self, id: &str) -> PathBuf {
        self.root().join("uploads").join(id)
    }
}
