//! Temporary directories of objects. Their drop removes them; those of killed processes are removed by later ones.
//!
//! A process holds the lock of the file `lock` in each of its directories, which the system releases when the process
//! ends. A directory whose lock is free belongs to nobody.

use std::fs::{DirBuilder, File};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::{env, fs, io, process, thread};

use parking_lot::Mutex;

/// The start of the names of all directories.
const PREFIX: &str = "sqs-mock-s3-";

/// The number of random characters in a name.
const RANDOM: usize = 16;

/// The locked file.
const LOCK: &str = "lock";

/// A temporary directory, which exists once it is [created](Self::create).
#[derive(Debug)]
pub(crate) struct Temporary {
    pub(crate) path: PathBuf,
    /// The open file with the lock, once the directory is created.
    lock: Mutex<Option<File>>,
}

impl Temporary {
    /// Chooses a name. The first call in a process removes the directories of killed ones, without waiting for it.
    pub(crate) fn new() -> Self {
        static REMOVAL: Once = Once::new();
        let parent = env::temp_dir();
        REMOVAL.call_once(|| {
            let parent = parent.clone();
            // A removal that ends with the process is continued by a later one.
            let removal = thread::Builder::new().name("s3-temporary".to_owned());
            if let Err(error) = removal.spawn(move || remove_abandoned(&parent)) {
                tracing::warn!(%error, "cannot remove temporary directories of killed processes");
            }
        });
        Self::in_directory(&parent)
    }

    fn in_directory(parent: &Path) -> Self {
        let random: String = (0..RANDOM).map(|_| fastrand::alphanumeric()).collect();
        let path = parent.join(format!("{PREFIX}{}-{random}", process::id()));
        Self { path, lock: Mutex::default() }
    }

    /// Creates the directory, which only this user may read, unless it exists.
    pub(crate) fn create(&self) -> io::Result<()> {
        let mut lock = self.lock.lock();
        if lock.is_some() && self.path.exists() {
            return Ok(());
        }
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.path)?;
        // If it stayed, the next call would fail.
        let locked = self.locked().inspect_err(|_| drop(fs::remove_dir_all(&self.path)));
        *lock = Some(locked?);
        Ok(())
    }

    /// Creates the file with the lock.
    fn locked(&self) -> io::Result<File> {
        // Locked before it gets its name, so that nobody finds it without its lock.
        let unlocked = self.path.join("lock.new");
        let file = File::create_new(&unlocked)?;
        match file.try_lock() {
            Ok(()) => fs::rename(unlocked, self.path.join(LOCK))?,
            // Then no other process removes the directory.
            Err(error) => tracing::debug!(%error, path = %self.path.display(), "no lock"),
        }
        Ok(file)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Some systems do not remove open files.
        if self.lock.get_mut().take().is_some()
            && let Err(error) = remove(&self.path)
        {
            tracing::warn!(%error, path = %self.path.display(), "cannot remove a temporary directory");
        }
    }
}

/// Removes a directory. Its lock comes last, so that an interrupted removal can be continued.
fn remove(path: &Path) -> io::Result<()> {
    let missing =
        |error: io::Error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) };
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path()).or_else(missing)?;
        }
    }
    fs::remove_dir_all(path).or_else(missing)
}

/// Removes the directories whose processes are gone.
fn remove_abandoned(parent: &Path) {
    let (Ok(entries), Ok(user)) = (fs::read_dir(parent), user()) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        // A link may lead to any directory.
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Another user could replace parts of a directory by links while it is removed.
        if !entry.metadata().is_ok_and(|found| owner(&found) == user) {
            continue;
        }
        let (path, lock) = (entry.path(), entry.path().join(LOCK));
        // Opening anything else could wait.
        if !fs::symlink_metadata(&lock).is_ok_and(|found| found.is_file()) {
            continue;
        }
        let Ok(file) = File::open(&lock) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        match remove(&path) {
            Ok(()) => tracing::info!(path = %path.display(), "removed the objects of a killed process"),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "cannot remove a temporary directory");
            }
        }
    }
}

/// The user of this process, as the owner of a file that it creates.
fn user() -> io::Result<u32> {
    tempfile::tempfile().and_then(|file| file.metadata()).map(|found| owner(&found))
}

#[cfg(unix)]
fn owner(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(metadata)
}

/// On other systems, each user has a temporary directory.
#[cfg(not(unix))]
fn owner(_: &fs::Metadata) -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_exists_from_its_creation_to_its_drop() {
        let parent = tempfile::tempdir().unwrap();
        let temporary = Temporary::in_directory(parent.path());
        let path = temporary.path.clone();
        assert!(!path.exists());
        for _ in 0..2 {
            temporary.create().unwrap();
            fs::create_dir_all(path.join("buckets/a")).unwrap();
        }
        fs::remove_dir_all(&path).unwrap();
        temporary.create().unwrap();
        assert!(path.join(LOCK).exists(), "a directory that somebody removed is created again");
        drop(temporary);
        assert!(!path.exists());
    }

    #[test]
    fn only_unlocked_directories_with_a_lock_file_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let (live, dead) = (Temporary::in_directory(parent.path()), Temporary::in_directory(parent.path()));
        for one in [&live, &dead] {
            one.create().unwrap();
            fs::create_dir_all(one.path.join("buckets/a/data")).unwrap();
        }
        // As if its process was killed.
        *dead.lock.lock() = None;
        for other in ["sqs-mock-s3-unlocked", "other"] {
            fs::create_dir(parent.path().join(other)).unwrap();
        }
        fs::write(parent.path().join("other").join(LOCK), "").unwrap();
        remove_abandoned(parent.path());
        assert!(live.path.join("buckets/a/data").exists() && !dead.path.exists());
        assert!(parent.path().join("sqs-mock-s3-unlocked").exists() && parent.path().join("other").exists());
    }
}
