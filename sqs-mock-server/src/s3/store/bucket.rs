//! A bucket: its objects and its multipart uploads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use parking_lot::{Mutex, MutexGuard};
use s3s::{S3Error, S3Result, s3_error};

use crate::s3::notifications::Configuration;
use crate::s3::store::object::{DataWriter, Object, Part, Tags, Upload};
use crate::s3::store::{self, Contents};

/// A bucket. Its methods that write files return errors of S3 as [`io::Error::other`].
#[derive(Debug)]
pub(crate) struct Bucket {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    /// In milliseconds since the epoch.
    pub(crate) created: u64,
    /// The location constraint; without one, the bucket is in the region of the server.
    pub(crate) location: Option<String>,
    /// Held while records are written, but not while bodies are.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, Arc<Object>>,
    uploads: BTreeMap<String, Upload>,
    notifications: Arc<Configuration>,
    /// Set when the bucket is removed, for callers that still hold it.
    closed: bool,
}

/// The region of a location constraint.
pub(crate) fn region_of(location: &str) -> &str {
    if location == "EU" { "eu-west-1" } else { location }
}

/// The error for a bucket that does not exist.
pub(crate) fn no_such_bucket() -> S3Error {
    s3_error!(NoSuchBucket, "The specified bucket does not exist")
}

/// The most uploads in progress, which are kept in memory. S3 has no such limit.
pub(crate) const MAX_UPLOADS: usize = 10_000;

/// The error for an upload that does not exist.
fn no_such_upload() -> S3Error {
    let text = "The specified upload does not exist. The upload ID may be invalid, or the upload may have been \
                aborted or completed.";
    s3_error!(NoSuchUpload, "{text}")
}

impl Bucket {
    /// Creates the directory of a bucket.
    pub(crate) fn create(name: &str, location: Option<&str>, root: PathBuf, now: u64) -> io::Result<Self> {
        fs::create_dir_all(&root)?;
        // An interrupted removal may have left other ones.
        store::write(&root.join(store::NOTIFICATIONS), &Configuration::default())?;
        store::write(&root.join(store::LOCATION), &location)?;
        store::write(&root.join(store::BUCKET), &now)?;
        Self::load(name, root)
    }

    /// Opens the directory of a bucket.
    pub(crate) fn load(name: &str, root: PathBuf) -> io::Result<Self> {
        let Contents { created, location, objects, notifications } = store::load(&root)?;
        let notifications = Arc::new(notifications);
        let state = Mutex::new(State { objects, notifications, ..State::default() });
        Ok(Self { name: name.to_owned(), root, created, location, state })
    }

    /// The region of the bucket, if `server` is that of the server.
    pub(crate) fn region<'a>(&'a self, server: &'a str) -> &'a str {
        self.location.as_deref().map_or(server, region_of)
    }

    /// Locks the bucket for a write.
    ///
    /// # Errors
    /// The bucket was removed in the meantime.
    fn open(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state.lock();
        if state.closed { Err(io::Error::other(no_such_bucket())) } else { Ok(state) }
    }

    /// Removes the directory, and closes the bucket to writes; `false` if it has objects.
    pub(crate) fn remove(&self) -> io::Result<bool> {
        let mut state = self.open()?;
        if !state.objects.is_empty() {
            return Ok(false);
        }
        // First, since the next start takes a directory without this file for no bucket.
        fs::remove_file(self.root.join(store::BUCKET))?;
        if let Err(error) = fs::remove_dir_all(&self.root) {
            tracing::warn!(%error, path = %self.root.display(), "cannot remove all files of a deleted bucket");
        }
        *state = State { closed: true, ..State::default() };
        Ok(true)
    }

    /// Closes the bucket to writes and removes its contents from memory.
    pub(crate) fn empty(&self) {
        *self.state.lock() = State { closed: true, ..State::default() };
    }

    /// The object with this key.
    pub(crate) fn object(&self, key: &str) -> Option<Arc<Object>> {
        self.state.lock().objects.get(key).cloned()
    }

    /// Calls `look` with all objects, sorted by key.
    pub(crate) fn objects<T>(&self, look: impl FnOnce(&BTreeMap<String, Arc<Object>>) -> T) -> T {
        look(&self.state.lock().objects)
    }

    /// Which changes are announced, and where.
    pub(crate) fn notifications(&self) -> Arc<Configuration> {
        Arc::clone(&self.state.lock().notifications)
    }

    /// Replaces the notification configuration.
    pub(crate) fn set_notifications(&self, configuration: Configuration) -> io::Result<()> {
        let mut state = self.open()?;
        store::write(&self.root.join(store::NOTIFICATIONS), &configuration)?;
        state.notifications = Arc::new(configuration);
        Ok(())
    }

    /// Creates a data file for the body of a request.
    pub(crate) fn data_writer(&self) -> io::Result<DataWriter> {
        DataWriter::create(&self.data_directory())
    }

    /// The directory of the data files.
    pub(crate) fn data_directory(&self) -> PathBuf {
        self.root.join("data")
    }

    /// Stores an object in place of an older one, unless `check` rejects the older one, and ends the upload that it comes
    /// from, if it does. `done` is called under the lock.
    ///
    /// # Errors
    /// Also if there is no such upload: either this or an abort succeeds.
    pub(crate) fn put(
        &self,
        object: Object,
        upload: Option<&str>,
        check: impl FnOnce(Option<&Object>) -> S3Result<()>,
        done: impl FnOnce(&Configuration, &Object),
    ) -> io::Result<Arc<Object>> {
        let mut state = self.open()?;
        if upload.is_some_and(|id| !state.uploads.contains_key(id)) {
            return Err(io::Error::other(no_such_upload()));
        }
        check(state.objects.get(&object.key).map(AsRef::as_ref)).map_err(io::Error::other)?;
        store::write(&store::object_file(&self.root, &object.key), &object)?;
        object.keep_files(true);
        let object = Arc::new(object);
        if let Some(before) = state.objects.insert(object.key.clone(), Arc::clone(&object)) {
            before.keep_files(false);
        }
        done(&state.notifications, &object);
        upload.and_then(|id| state.uploads.remove(id));
        Ok(object)
    }

    /// Replaces the tags of an object; `false` if it does not exist. `done` is called under the lock.
    pub(crate) fn set_tags(
        &self,
        key: &str,
        tags: Tags,
        done: impl FnOnce(&Configuration, &Object),
    ) -> io::Result<bool> {
        let mut state = self.open()?;
        let Some(before) = state.objects.get(key) else { return Ok(false) };
        // It shares the data files with the object before, and its readers.
        let object = Object { tags, ..Object::clone(before) };
        store::write(&store::object_file(&self.root, key), &object)?;
        done(&state.notifications, &object);
        state.objects.insert(key.to_owned(), Arc::new(object));
        Ok(true)
    }

    /// Deletes an object, unless `check` rejects it; `false` if it does not exist. `done` is called under the lock, also
    /// if it does not exist.
    pub(crate) fn delete(
        &self,
        key: &str,
        check: impl FnOnce(Option<&Object>) -> S3Result<()>,
        done: impl FnOnce(&Configuration),
    ) -> io::Result<bool> {
        let mut state = self.state.lock();
        if state.closed {
            return Ok(false);
        }
        check(state.objects.get(key).map(AsRef::as_ref)).map_err(io::Error::other)?;
        let exists = state.objects.contains_key(key);
        if exists {
            fs::remove_file(store::object_file(&self.root, key))?;
        }
        if let Some(object) = state.objects.remove(key) {
            object.keep_files(false);
        }
        done(&state.notifications);
        Ok(exists)
    }

    /// Begins an upload.
    pub(crate) fn begin(&self, upload: Upload) -> io::Result<()> {
        let mut state = self.open()?;
        if state.uploads.len() >= MAX_UPLOADS {
            return Err(io::Error::other(s3_error!(
                InvalidRequest,
                "A bucket of this server has at most {MAX_UPLOADS} multipart uploads in progress."
            )));
        }
        state.uploads.insert(upload.id.clone(), upload);
        Ok(())
    }

    /// Reads the upload with this id and key, under the lock of the bucket.
    pub(crate) fn upload<T>(&self, id: &str, key: &str, read: impl FnOnce(&Upload) -> T) -> S3Result<T> {
        let state = self.state.lock();
        let found = state.uploads.get(id).filter(|upload| upload.key == key);
        found.map(read).ok_or_else(no_such_upload)
    }

    /// A snapshot of all uploads.
    pub(crate) fn uploads(&self) -> Vec<Upload> {
        self.state.lock().uploads.values().cloned().collect()
    }

    /// Adds a part or replaces the part of the same number.
    pub(crate) fn add_part(&self, id: &str, number: i32, part: Part) -> S3Result<()> {
        let mut state = self.state.lock();
        let upload = state.uploads.get_mut(id).ok_or_else(no_such_upload)?;
        upload.parts.insert(number, part);
        Ok(())
    }

    /// Removes the upload with this id and key, and its parts.
    pub(crate) fn abort(&self, id: &str, key: &str) -> S3Result<()> {
        let mut state = self.state.lock();
        if state.uploads.get(id).is_none_or(|upload| upload.key != key) {
            return Err(no_such_upload());
        }
        state.uploads.remove(id);
        Ok(())
    }
}
