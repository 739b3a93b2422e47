//! Loads a bucket from disk.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use fastrand::Rng;
use parking_lot::Mutex;

use super::bucket::{NOTIFICATIONS, State};
use super::{Bucket, DataFile, Object, Part, Record, Segment, Upload, UploadHead, disk};

/// Loads a bucket, and removes files of incomplete writes.
pub(super) fn bucket(name: &str, root: PathBuf, ids: &Arc<Mutex<Rng>>) -> io::Result<Bucket> {
    let created = disk::read(&root.join("bucket.json"))?;
    let data = Data { root: root.join("data") };
    let objects = objects(&root, &data)?;
    let uploads = uploads(&root, &data, &objects)?;
    let notifications = root.join(NOTIFICATIONS);
    let notifications =
        if notifications.exists() { Arc::new(disk::read(&notifications)?) } else { Arc::default() };
    let state = State { objects, uploads, notifications, closed: false };
    data.remove_unreferenced(&state)?;
    Ok(Bucket::of(name, root, created, ids, state))
}

fn objects(root: &Path, data: &Data) -> io::Result<BTreeMap<String, Arc<Object>>> {
    let mut objects = BTreeMap::new();
    for path in finished(&root.join("objects"))? {
        let record: Record = disk::read(&path)?;
        let files = record.segments.iter().map(|segment| data.file(segment)).collect::<io::Result<_>>()?;
        objects.insert(record.key.clone(), Arc::new(Object { record, files }));
    }
    Ok(objects)
}

fn uploads(
    root: &Path,
    data: &Data,
    objects: &BTreeMap<String, Arc<Object>>,
) -> io::Result<BTreeMap<String, Upload>> {
    let of_objects = objects.values().flat_map(|object| &object.record.segments);
    let of_objects: HashSet<_> = of_objects.map(|segment| segment.file.as_str()).collect();
    let mut uploads = BTreeMap::new();
    for directory in finished(&root.join("uploads"))? {
        let head = directory.join("upload.json");
        if !head.exists() {
            // The process ended while it created or removed the upload.
            fs::remove_dir_all(&directory)?;
            continue;
        }
        let head: UploadHead = disk::read(&head)?;
        let paths = finished(&directory)?.into_iter().filter(|path| !path.ends_with("upload.json"));
        let parts = paths.map(|path| disk::read(&path)).collect::<io::Result<Vec<Part>>>()?;
        if parts.iter().any(|part| of_objects.contains(part.segment.file.as_str())) {
            // The upload is complete. The object has the files of its parts; files of unused parts may be removed.
            fs::remove_dir_all(&directory)?;
            continue;
        }
        let with_file = |part: Part| {
            let file = data.file(&part.segment)?;
            Ok((part.number, (Arc::new(part), file)))
        };
        let parts = parts.into_iter().map(with_file).collect::<io::Result<_>>()?;
        uploads.insert(head.id.clone(), Upload { head: Arc::new(head), parts });
    }
    Ok(uploads)
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

/// The data files of a bucket.
struct Data {
    root: PathBuf,
}

impl Data {
    fn file(&self, segment: &Segment) -> io::Result<Arc<DataFile>> {
        let path = self.root.join(&segment.file);
        let explain =
            |text: String| io::Error::new(io::ErrorKind::InvalidData, format!("{} {text}", path.display()));
        let size = fs::metadata(&path).map_err(|error| explain(format!("cannot be read: {error}")))?.len();
        if size != segment.size {
            return Err(explain(format!("has {size} bytes, not {}", segment.size)));
        }
        Ok(Arc::new(DataFile::new(path, true)))
    }

    /// Removes data files without a record, left over from an incomplete write or delete.
    fn remove_unreferenced(&self, state: &State) -> io::Result<()> {
        let of_objects = state.objects.values().flat_map(|object| &object.files);
        let of_parts = state.uploads.values().flat_map(|upload| upload.parts.values()).map(|(_, file)| file);
        let named: HashSet<_> = of_objects.chain(of_parts).map(|file| file.path().to_owned()).collect();
        for entry in fs::read_dir(&self.root)? {
            let path = entry?.path();
            if !named.contains(&path) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}
