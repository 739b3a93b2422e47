//! A data file, and when it is removed.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// A data file. On drop it is removed, unless a record on disk refers to it. A reader holds it until it is done.
#[derive(Debug)]
pub(in crate::s3) struct DataFile {
    pub(super) path: PathBuf,
    kept: AtomicBool,
}

impl DataFile {
    pub(super) fn new(path: PathBuf, kept: bool) -> Self {
        Self { path, kept: AtomicBool::new(kept) }
    }

    /// Keeps the file on disk.
    pub(super) fn keep(&self) {
        self.kept.store(true, Ordering::Release);
    }

    /// Removes the file once its last reader drops it.
    pub(super) fn delete_on_drop(&self) {
        self.kept.store(false, Ordering::Release);
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        if !*self.kept.get_mut() {
            // If this fails, the next start removes the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}
