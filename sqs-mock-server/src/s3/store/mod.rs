//! Buckets and objects on disk.
//!
//! ```text
//! DIR/buckets/<bucket>/bucket.json                            date of creation; without it, this is not a bucket
//!                      location.json                          location constraint
//!                      notifications.json                     notification configuration
//!                      objects/<SHA-256 of the key>.json      an object: key, metadata, names of data files
//!                      data/<id>                              bytes, immutable once written
//! ```
//! Records are also in memory. Each bucket has one lock. It is not held while bodies are read or written: a data file
//! is complete before a record refers to it. Objects are therefore replaced atomically, and readers of an old object
//! finish undisturbed. Uploads are only in memory: the next start removes data files without a record.

pub(crate) mod bucket;
pub(crate) mod object;
mod temporary;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use fastrand::Rng;
use parking_lot::{Mutex, RwLock};
use s3s::crypto::{Checksum as _, Sha256};
use s3s::path::check_bucket_name;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::control::arn::with_partitions;
use crate::control::seed;
use crate::control::seed::Seed;
use crate::s3::notifications::{Configuration, Rule};
use crate::s3::store::bucket::Bucket;
use crate::s3::store::object::{DataFile, Object, hex};
use crate::s3::store::temporary::Temporary;

/// All buckets of a directory.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) root: PathBuf,
    /// Removes the directory on drop. The first bucket creates it.
    temporary: Option<Temporary>,
    /// Locked before the lock of a bucket, never while one is held.
    buckets: RwLock<BTreeMap<String, Arc<Bucket>>>,
    ids: Mutex<Rng>,
}

impl Store {
    /// Opens a directory, which may be missing until the first bucket creates it. `None` is a temporary directory, which
    /// the drop removes.
    ///
    /// # Errors
    /// The directory cannot be read or written, or a file in it is damaged.
    pub(crate) fn open(directory: Option<&Path>, seed: Seed) -> io::Result<Self> {
        let (root, temporary) = if let Some(directory) = directory {
            (directory.to_owned(), None)
        } else {
            let temporary = Temporary::new();
            (temporary.path.clone(), Some(temporary))
        };
        let ids = Mutex::new(seed.generator("ids of S3"));
        let entries = match fs::read_dir(root.join("buckets")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(io::Error::new(error.kind(), "it is not a directory"));
            }
            entries => Some(entries?),
        };
        let mut all = BTreeMap::new();
        for entry in entries.into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() && check_bucket_name(&name) {
                if !entry.path().join(BUCKET).exists() {
                    let path = entry.path();
                    tracing::warn!(path = %path.display(), "ignored: without {BUCKET}, a directory is not a bucket");
                    continue;
                }
                let bucket = Bucket::load(&name, entry.path())?;
                all.insert(name, Arc::new(bucket));
            }
        }
        Ok(Self { root, temporary, buckets: RwLock::new(all), ids })
    }

    /// The bucket with this name.
    pub(crate) fn bucket(&self, name: &str) -> Option<Arc<Bucket>> {
        self.buckets.read().get(name).cloned()
    }

    /// All buckets, sorted by name.
    pub(crate) fn buckets(&self) -> Vec<Arc<Bucket>> {
        self.buckets.read().values().cloned().collect()
    }

    /// Creates a bucket; `false` if it exists.
    pub(crate) fn create(&self, name: &str, location: Option<&str>, now: u64) -> io::Result<bool> {
        let mut buckets = self.buckets.write();
        if buckets.contains_key(name) {
            return Ok(false);
        }
        if let Some(temporary) = &self.temporary {
            temporary.create()?;
        }
        let bucket = Bucket::create(name, location, self.root.join("buckets").join(name), now)?;
        buckets.insert(name.to_owned(), Arc::new(bucket));
        Ok(true)
    }

    /// A random id.
    pub(crate) fn new_id(&self) -> String {
        seed::uuid(&mut self.ids.lock()).to_string()
    }

    /// Removes a bucket; `false` if it has objects.
    pub(crate) fn remove(&self, bucket: &Bucket) -> io::Result<bool> {
        let mut buckets = self.buckets.write();
        let is_empty = bucket.remove()?;
        if is_empty {
            buckets.remove(&bucket.name);
        }
        Ok(is_empty)
    }

    /// Removes all buckets if the directory is temporary.
    pub(crate) fn clear_temporary(&self) -> io::Result<()> {
        if self.temporary.is_none() {
            return Ok(());
        }
        let mut removed = Ok(());
        for bucket in std::mem::take(&mut *self.buckets.write()).into_values() {
            bucket.empty();
            removed = match fs::remove_dir_all(&bucket.root) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => removed,
            };
        }
        removed
    }

    /// Checks that the directories of all buckets still exist.
    pub(crate) fn check_directories(&self) -> io::Result<()> {
        let missing = self.buckets().into_iter().find(|bucket| !bucket.root.join(BUCKET).exists());
        let error = |bucket: Arc<Bucket>| {
            let text = format!("{} was removed meanwhile", bucket.root.display());
            io::Error::new(io::ErrorKind::NotFound, text)
        };
        missing.map_or(Ok(()), |bucket| Err(error(bucket)))
    }
}

/// The file of the date of creation.
pub(crate) const BUCKET: &str = "bucket.json";

/// The file of the location constraint. Buckets of earlier versions have none.
pub(crate) const LOCATION: &str = "location.json";

/// The file of the notification configuration. Buckets of earlier versions have none without rules.
pub(crate) const NOTIFICATIONS: &str = "notifications.json";

/// The extension of files that are being written.
const UNFINISHED: &str = "tmp";

/// The contents of the directory of a bucket.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) created: u64,
    pub(crate) location: Option<String>,
    pub(crate) objects: BTreeMap<String, Arc<Object>>,
    pub(crate) notifications: Configuration,
}

/// The file of an object: keys may have characters and lengths that file names may not have.
pub(crate) fn object_file(bucket: &Path, key: &str) -> PathBuf {
    bucket.join("objects").join(hex(Sha256::checksum(key.as_bytes())) + ".json")
}

/// Replaces a file atomically.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let unfinished = path.with_extension(UNFINISHED);
    fs::write(&unfinished, serde_json::to_vec(value)?)?;
    fs::rename(&unfinished, path)
}

/// Reads a JSON file; an error names the file.
fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let read = fs::read(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    read.map_err(|error| io::Error::new(error.kind(), format!("{} is damaged: {error}", path.display())))
}

/// Reads a JSON file that may be missing.
fn read_optional<T: DeserializeOwned + Default>(path: &Path) -> io::Result<T> {
    if path.exists() { read_json(path) } else { Ok(T::default()) }
}

/// Reads a bucket, and removes files of incomplete writes and deletes.
pub(crate) fn load(bucket: &Path) -> io::Result<Contents> {
    // First, since nothing may be removed from a directory that is not a bucket.
    let created = read_json(&bucket.join(BUCKET))?;
    // A process that was killed may not have created or have removed them.
    for folder in ["objects", "data"] {
        fs::create_dir_all(bucket.join(folder))?;
    }
    let location = read_optional(&bucket.join(LOCATION))?;
    let mut notifications: Configuration = read_optional(&bucket.join(NOTIFICATIONS))?;
    for Rule { target, .. } in &mut notifications.rules {
        target.arn = with_partitions(&target.arn);
    }
    let data = bucket.join("data");
    let mut unreferenced: BTreeSet<_> = finished(&data)?.into_iter().collect();
    let mut objects = BTreeMap::new();
    for path in finished(&bucket.join("objects"))? {
        let mut object: Object = read_json(&path)?;
        for segment in &mut object.segments {
            let path = data.join(&segment.file);
            check(&path, segment.size)?;
            unreferenced.remove(&path);
            segment.data = Arc::new(DataFile { path, is_temporary: false.into() });
        }
        objects.insert(object.key.clone(), Arc::new(object));
    }
    unreferenced.iter().try_for_each(fs::remove_file)?;
    Ok(Contents { created, location, objects, notifications })
}

/// Checks that a data file is complete.
fn check(path: &Path, expected: u64) -> io::Result<()> {
    let problem = match fs::metadata(path) {
        Ok(found) if found.len() == expected => return Ok(()),
        Ok(found) => format!("has {} bytes, not {expected}", found.len()),
        Err(error) => format!("cannot be read: {error}"),
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("{} {problem}", path.display())))
}

/// Lists a directory, and removes temporary files of incomplete writes.
fn finished(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == UNFINISHED) {
            fs::remove_file(path)?;
        } else {
            paths.push(path);
        }
    }
    Ok(paths)
}
