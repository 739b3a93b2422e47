//! A bucket: its objects and its multipart uploads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use fastrand::Rng;
use parking_lot::{Mutex, MutexGuard};
use s3s::{S3Error, s3_error};

use super::disk;
use super::{DataWriter, Object, Record, Upload, new_id};
use crate::s3::notifications::Configuration;

/// The file of the notification configuration. Without one, the bucket has no rules.
pub(super) const NOTIFICATIONS: &str = "notifications.json";

/// A bucket. Its methods return errors of S3 as [`io::Error::other`].
#[derive(Debug)]
pub(in crate::s3) struct Bucket {
    pub(in crate::s3) name: String,
    pub(super) root: PathBuf,
    /// In milliseconds since the epoch.
    pub(in crate::s3) created: u64,
    ids: Arc<Mutex<Rng>>,
    /// Held while records are written, but not while bodies are.
    pub(super) state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) objects: BTreeMap<String, Arc<Object>>,
    pub(super) uploads: BTreeMap<String, Upload>,
    pub(super) notifications: Arc<Configuration>,
    /// Set when the bucket is removed, for callers that still hold it.
    pub(super) closed: bool,
}

/// The error for a bucket that does not exist.
pub(in crate::s3) fn no_such_bucket() -> S3Error {
    s3_error!(NoSuchBucket, "The specified bucket does not exist")
}

impl Bucket {
    pub(super) fn create(name: &str, root: PathBuf, now: u64, ids: &Arc<Mutex<Rng>>) -> io::Result<Self> {
        for folder in ["objects", "data"] {
            fs::create_dir_all(root.join(folder))?;
        }
        disk::write(&root.join("bucket.json"), &now)?;
        Ok(Self::of(name, root, now, ids, State::default()))
    }

    pub(super) fn of(name: &str, root: PathBuf, created: u64, ids: &Arc<Mutex<Rng>>, state: State) -> Self {
        Self { name: name.to_owned(), root, created, ids: Arc::clone(ids), state: Mutex::new(state) }
    }

    /// Locks the bucket for a write.
    ///
    /// # Errors
    /// The bucket was removed in the meantime.
    pub(super) fn open(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state.lock();
        if state.closed { Err(io::Error::other(no_such_bucket())) } else { Ok(state) }
    }

    /// Removes the directory, and closes the bucket to writes; `false` if it has objects.
    pub(super) fn remove(&self) -> io::Result<bool> {
        let mut state = self.open()?;
        if !state.objects.is_empty() {
            return Ok(false);
        }
        fs::remove_dir_all(&self.root)?;
        *state = State { closed: true, ..State::default() };
        Ok(true)
    }

    /// Closes the bucket to writes and removes its contents from memory.
    pub(super) fn empty(&self) {
        *self.state.lock() = State { closed: true, ..State::default() };
    }

    /// The object with this key.
    pub(in crate::s3) fn object(&self, key: &str) -> Option<Arc<Object>> {
        self.state.lock().objects.get(key).cloned()
    }

    /// Calls `look` with all objects, sorted by key.
    pub(in crate::s3) fn objects<T>(&self, look: impl FnOnce(&BTreeMap<String, Arc<Object>>) -> T) -> T {
        look(&self.state.lock().objects)
    }

    /// Which changes are announced, and where.
    pub(in crate::s3) fn notifications(&self) -> Arc<Configuration> {
        Arc::clone(&self.state.lock().notifications)
    }

    /// Replaces the notification configuration.
    pub(in crate::s3) fn set_notifications(&self, configuration: Configuration) -> io::Result<()> {
        let mut state = self.open()?;
        disk::write(&self.root.join(NOTIFICATIONS), &configuration)?;
        state.notifications = Arc::new(configuration);
        Ok(())
    }

    /// Creates a data file for the body of a request.
    pub(in crate::s3) async fn data_writer(&self) -> io::Result<DataWriter> {
        DataWriter::create(&self.root.join("data"), || new_id(&self.ids)).await
    }

    /// Stores an object in place of an older one, unless `check` rejects the older one. `done` is called under the lock.
    pub(in crate::s3) fn put(
        &self,
        object: Object,
        check: impl FnOnce(Option<&Record>) -> io::Result<()>,
        done: impl FnOnce(&Configuration, &Record),
    ) -> io::Result<Arc<Object>> {
        self.insert(&mut *self.open()?, object, check, done)
    }

    /// Like [`put`](Self::put), for callers that hold the lock.
    pub(super) fn insert(
        &self,
        state: &mut State,
        object: Object,
        check: impl FnOnce(Option<&Record>) -> io::Result<()>,
        done: impl FnOnce(&Configuration, &Record),
    ) -> io::Result<Arc<Object>> {
        let key = object.record.key.clone();
        check(state.objects.get(&key).map(|before| &before.record))?;
        disk::write(&self.object_path(&key), &object.record)?;
        object.files.iter().for_each(|file| file.keep());
        let object = Arc::new(object);
        if let Some(before) = state.objects.insert(key, Arc::clone(&object)) {
            before.delete_on_drop();
        }
        done(&state.notifications, &object.record);
        Ok(object)
    }

    /// Deletes an object, unless `check` rejects it; `false` if it does not exist. `done` is called under the lock, also
    /// if it does not exist.
    pub(in crate::s3) fn delete(
        &self,
        key: &str,
        check: impl FnOnce(Option<&Record>) -> io::Result<()>,
        done: impl FnOnce(&Configuration),
    ) -> io::Result<bool> {
        let mut state = self.state.lock();
        if state.closed {
            return Ok(false);
        }
        check(state.objects.get(key).map(|object| &object.record))?;
        let exists = state.objects.contains_key(key);
        if exists {
            fs::remove_file(self.object_path(key))?;
        }
        if let Some(object) = state.objects.remove(key) {
            object.delete_on_drop();
        }
        done(&state.notifications);
        Ok(exists)
    }

    fn object_path(&self, key: &str) -> PathBuf {
        self.root.join("objects").join(disk::name_of_key(key))
    }
}
