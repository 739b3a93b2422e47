//! The JSON files of a bucket, and how a start reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use s3s::crypto::{Checksum as _, Sha256};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checksum::hex;
use super::object::{DataFile, Object};
use crate::s3::notifications::Configuration;

/// The file of the date of creation.
pub(super) const BUCKET: &str = "bucket.json";
/// The file of the notification configuration. Without one, the bucket has no rules.
pub(super) const NOTIFICATIONS: &str = "notifications.json";
/// The extension of files that are being written.
const UNFINISHED: &str = "tmp";

/// The date of creation of a bucket, its objects and its notification configuration.
type Contents = (u64, BTreeMap<String, Arc<Object>>, Configuration);

/// The file of an object: keys may have characters and lengths that file names may not have.
pub(super) fn object_file(bucket: &Path, key: &str) -> PathBuf {
    bucket.join("objects").join(hex(Sha256::checksum(key.as_bytes())) + ".json")
}

/// Replaces a file atomically.
pub(super) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let unfinished = path.with_extension(UNFINISHED);
    fs::write(&unfinished, serde_json::to_vec(value)?)?;
    fs::rename(&unfinished, path)
}

/// Reads a JSON file; an error names the file.
fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let read = fs::read(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    read.map_err(|error| io::Error::new(error.kind(), format!("{} is damaged: {error}", path.display())))
}

/// Reads a bucket, and removes files of incomplete writes and deletes.
pub(super) fn load(bucket: &Path) -> io::Result<Contents> {
    // First, since nothing may be removed from a directory that is not a bucket.
    let created = read(&bucket.join(BUCKET))?;
    let notifications = bucket.join(NOTIFICATIONS);
    let notifications = if notifications.exists() { read(&notifications)? } else { Configuration::default() };
    let data = bucket.join("data");
    let mut unreferenced: BTreeSet<_> = finished(&data)?.into_iter().collect();
    let mut objects = BTreeMap::new();
    for path in finished(&bucket.join("objects"))? {
        let mut object: Object = read(&path)?;
        for segment in &mut object.segments {
            let path = data.join(&segment.file);
            check(&path, segment.size)?;
            unreferenced.remove(&path);
            segment.data = Arc::new(DataFile { path, is_temporary: false.into() });
        }
        objects.insert(object.key.clone(), Arc::new(object));
    }
    unreferenced.iter().try_for_each(fs::remove_file)?;
    Ok((created, objects, notifications))
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
