//! Buckets and objects in files.
//!
//! ```text
//! DIR/buckets/<bucket>/objects/<SHA-256 of the key>.json      one object: key, metadata, names of its data files
//!                      uploads/<id>/upload.json, <part>.json  one multipart upload
//!                      data/<id>                              bytes, never changed once written
//! ```
//! What is there is also kept in memory, but for the bytes. A bucket has one lock, which nobody holds while bytes are read
//! or written: they are complete in files of their own before an object names them. So an object changes all at once,
//! and whoever reads an older one reads it to its end. Data files that no object names are removed at the next start.

mod bucket;
mod data;
mod disk;
mod load;
mod record;
mod sum;
mod uploads;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use fastrand::Rng;
use parking_lot::{Mutex, RwLock};
use s3s::path::check_bucket_name;

pub(super) use bucket::{Bucket, Gone};
pub(super) use data::{DataFile, Draft, Pieces, Written};
pub(super) use record::{Attributes, Object, Part, Record, Segment, Upload, UploadHead};
pub(super) use sum::{Algorithm, Hashes, Sum};

use crate::seed::{self, Seed};

/// All buckets of one directory.
#[derive(Debug)]
pub(super) struct Store {
    root: PathBuf,
    is_temporary: bool,
    /// Locked before any bucket's own lock, and never by a holder of one.
    buckets: RwLock<BTreeMap<String, Arc<Bucket>>>,
    ids: Arc<Mutex<Rng>>,
}

impl Store {
    /// Opens a directory, which is made if it is missing.
    ///
    /// # Errors
    /// It cannot be read or written, or a file in it is damaged.
    pub(super) fn open(root: PathBuf, is_temporary: bool, seed: Seed) -> io::Result<Self> {
        let ids = Arc::new(Mutex::new(seed.generator("ids of S3")));
        let buckets = root.join("buckets");
        fs::create_dir_all(&buckets)?;
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(&buckets)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() && check_bucket_name(&name) {
                let bucket = load::bucket(&name, entry.path(), &ids)?;
                all.insert(name, Arc::new(bucket));
            }
        }
        Ok(Self { root, is_temporary, buckets: RwLock::new(all), ids })
    }

    /// Where it is.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The bucket of this name.
    pub(super) fn bucket(&self, name: &str) -> Option<Arc<Bucket>> {
        self.buckets.read().get(name).cloned()
    }

    /// All of them, by name.
    pub(super) fn buckets(&self) -> Vec<Arc<Bucket>> {
        self.buckets.read().values().cloned().collect()
    }

    /// Makes a bucket; `false` when there is one of this name.
    pub(super) fn create(&self, name: &str, now: u64) -> io::Result<bool> {
        let mut buckets = self.buckets.write();
        if buckets.contains_key(name) {
            return Ok(false);
        }
        let bucket = Bucket::create(name, self.root.join("buckets").join(name), now, &self.ids)?;
        buckets.insert(name.to_owned(), Arc::new(bucket));
        Ok(true)
    }

    /// Removes a bucket without objects; `false` when it has some.
    pub(super) fn remove(&self, bucket: &Bucket) -> io::Result<bool> {
        let mut buckets = self.buckets.write();
        if !bucket.close() {
            return Ok(false);
        }
        buckets.remove(bucket.name());
        fs::remove_dir_all(bucket.root())?;
        Ok(true)
    }

    /// Forgets all that is in a temporary directory.
    pub(super) fn clear_temporary(&self) -> io::Result<()> {
        if !self.is_temporary {
            return Ok(());
        }
        let mut buckets = self.buckets.write();
        for bucket in std::mem::take(&mut *buckets).into_values() {
            bucket.empty();
            fs::remove_dir_all(bucket.root())?;
        }
        Ok(())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.is_temporary
            && let Err(error) = fs::remove_dir_all(&self.root)
        {
            tracing::warn!(%error, directory = %self.root.display(), "a temporary directory stays");
        }
    }
}

/// A name for a file that has none yet.
fn new_id(ids: &Mutex<Rng>) -> String {
    seed::uuid(&mut ids.lock()).to_string()
}
