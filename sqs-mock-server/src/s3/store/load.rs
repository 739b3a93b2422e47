//! Loads a bucket from disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use fastrand::Rng;
use parking_lot::Mutex;

use super::bucket::{NOTIFICATIONS, State};
use super::{Bucket, DataFile, Object, Record, disk};

/// Loads a bucket, and removes files of incomplete writes and deletes.
pub(super) fn bucket(name: &str, root: PathBuf, ids: &Arc<Mutex<Rng>>) -> io::Result<Bucket> {
    let created = disk::read(&root.join("bucket.json"))?;
    let data = root.join("data");
    let mut unreferenced: BTreeSet<_> = finished(&data)?.into_iter().collect();
    let mut objects = BTreeMap::new();
    for path in finished(&root.join("objects"))? {
        let record: Record = disk::read(&path)?;
        let files = record.segments.iter().map(|segment| data_file(data.join(&segment.file), segment.size));
        let files: Vec<_> = files.collect::<io::Result<_>>()?;
        for file in &files {
            unreferenced.remove(&file.path);
        }
        objects.insert(record.key.clone(), Arc::new(Object { record, files }));
    }
    unreferenced.iter().try_for_each(fs::remove_file)?;
    let notifications = root.join(NOTIFICATIONS);
    let notifications =
        if notifications.exists() { Arc::new(disk::read(&notifications)?) } else { Arc::default() };
    let state = State { objects, notifications, ..State::default() };
    Ok(Bucket::of(name, root, created, ids, state))
}

fn data_file(path: PathBuf, expected: u64) -> io::Result<Arc<DataFile>> {
    let explain =
        |text: String| io::Error::new(io::ErrorKind::InvalidData, format!("{} {text}", path.display()));
    let size = fs::metadata(&path).map_err(|error| explain(format!("cannot be read: {error}")))?.len();
    if size != expected {
        return Err(explain(format!("has {size} bytes, not {expected}")));
    }
    Ok(Arc::new(DataFile::new(path, true)))
}

/// Lists a directory, and removes temporary files of incomplete writes.
fn finished(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == disk::UNFINISHED) {
            fs::remove_file(path)?;
        } else {
            paths.push(path);
        }
    }
    Ok(paths)
}
