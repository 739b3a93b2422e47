//! The uploads in parts of a bucket.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use super::bucket::{Bucket, Gone};
use super::disk;
use super::{DataFile, Object, Part, Upload, UploadHead, new_id};

impl Bucket {
    /// Begins an upload; `head` gets its id.
    pub(in crate::s3) fn begin<E: From<Gone> + From<io::Error>>(
        &self,
        mut head: UploadHead,
    ) -> Result<String, E> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(Gone.into());
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

    /// The upload of this id, as it is now.
    pub(in crate::s3) fn upload(&self, id: &str) -> Option<Upload> {
        self.state.lock().uploads.get(id).cloned()
    }

    /// All of them, as they are now.
    pub(in crate::s3) fn uploads(&self) -> Vec<Upload> {
        self.state.lock().uploads.values().cloned().collect()
    }

    /// Adds a part, in place of another of its number; `false` when there is no such upload any more.
    pub(in crate::s3) fn add_part(&self, id: &str, part: Part, file: &Arc<DataFile>) -> io::Result<bool> {
        let mut state = self.state.lock();
        let Some(upload) = state.uploads.get_mut(id) else { return Ok(false) };
        disk::write(&self.upload_path(id).join(format!("{}.json", part.number)), &part)?;
        file.keep();
        if let Some((_, before)) = upload.parts.insert(part.number, (Arc::new(part), Arc::clone(file))) {
            before.doom();
        }
        Ok(true)
    }

    /// Ends an upload; its bytes go unless an object has them. `false` when there is no such upload.
    pub(in crate::s3) fn end(&self, id: &str, object: Option<&Object>) -> io::Result<bool> {
        let mut state = self.state.lock();
        let Some(upload) = state.uploads.remove(id) else { return Ok(false) };
        fs::remove_dir_all(self.upload_path(id))?;
        let is_needed = |file: &Arc<DataFile>| {
            object.is_some_and(|object| object.files.iter().any(|kept| Arc::ptr_eq(kept, file)))
        };
        let files = upload.parts.values().map(|(_, file)| file);
        files.filter(|file| !is_needed(file)).for_each(|file| file.doom());
        Ok(true)
    }

    fn upload_path(&self, id: &str) -> PathBuf {
        self.root().join("uploads").join(id)
    }
}
