//! Buckets and objects on disk.
//!
//! ```text
//! DIR/buckets/<bucket>/notifications.json                     notification configuration, if there ever was one
//!                      objects/<SHA-256 of the key>.json      an object: key, metadata, names of data files
//!                      data/<id>                              bytes, immutable once written
//! ```
//! Records are also in memory. Each bucket has one lock. It is not held while bodies are read or written: a data file
//! is complete before a record refers to it. Objects are therefore replaced atomically, and readers of an old object
//! finish undisturbed. Uploads are only in memory: the next start removes data files without a record.

mod bucket;
mod checksum;
mod data;
mod disk;
mod object;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use fastrand::Rng;
use parking_lot::{Mutex, RwLock};
use s3s::path::check_bucket_name;
use tempfile::TempDir;

pub(super) use bucket::{Bucket, no_such_bucket};
pub(super) use checksum::{Algorithm, Hashes, StoredChecksum, hex};
pub(super) use data::{DataWriter, read, read_all};
pub(super) use object::{Attributes, Object, Segment, Upload, Written};

use crate::service::seed::{self, Seed};

/// All buckets of a directory.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) root: PathBuf,
    /// Removes the directory on drop.
    temporary: Option<TempDir>,
    /// Locked before the lock of a bucket, never while one is held.
    buckets: RwLock<BTreeMap<String, Arc<Bucket>>>,
    ids: Mutex<Rng>,
}

impl Store {
    /// Opens a directory and creates it if it is missing. `None` is a temporary directory, which the drop removes.
    ///
    /// # Errors
    /// The directory cannot be read or written, or a file in it is damaged.
    pub(super) fn open(directory: Option<&Path>, seed: Seed) -> io::Result<Self> {
        let (root, temporary) = match directory {
            Some(directory) => (directory.to_owned(), None),
            None => TempDir::with_prefix("sqs-mock-s3-").map(|made| (made.path().to_owned(), Some(made)))?,
        };
        let ids = Mutex::new(seed.generator("ids of S3"));
        let buckets = root.join("buckets");
        fs::create_dir_all(&buckets)?;
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(&buckets)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() && check_bucket_name(&name) {
                let bucket = Bucket::load(&name, entry.path())?;
                all.insert(name, Arc::new(bucket));
            }
        }
        Ok(Self { root, temporary, buckets: RwLock::new(all), ids })
    }

    /// The bucket with this name.
    pub(super) fn bucket(&self, name: &str) -> Option<Arc<Bucket>> {
        self.buckets.read().get(name).cloned()
    }

    /// All buckets, sorted by name.
    pub(super) fn buckets(&self) -> Vec<Arc<Bucket>> {
        self.buckets.read().values().cloned().collect()
    }

    /// Creates a bucket; `false` if it exists.
    pub(super) fn create(&self, name: &str, now: u64) -> io::Result<bool> {
        let mut buckets = self.buckets.write();
        if buckets.contains_key(name) {
            return Ok(false);
        }
        let bucket = Bucket::create(name, self.root.join("buckets").join(name), now)?;
        buckets.insert(name.to_owned(), Arc::new(bucket));
        Ok(true)
    }

    /// A random id.
    pub(super) fn new_id(&self) -> String {
        seed::uuid(&mut self.ids.lock()).to_string()
    }

    /// Removes a bucket; `false` if it has objects.
    pub(super) fn remove(&self, bucket: &Bucket) -> io::Result<bool> {
        let mut buckets = self.buckets.write();
        let is_empty = bucket.remove()?;
        if is_empty {
            buckets.remove(&bucket.name);
        }
        Ok(is_empty)
    }

    /// Removes all buckets if the directory is temporary.
    pub(super) fn clear_temporary(&self) -> io::Result<()> {
        if self.temporary.is_none() {
            return Ok(());
        }
        let mut removed = Ok(());
        for bucket in std::mem::take(&mut *self.buckets.write()).into_values() {
            bucket.empty();
            removed = fs::remove_dir_all(&bucket.root).and(removed);
        }
        removed
    }
}
