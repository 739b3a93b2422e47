//! A file that is not whole yet.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::random;

/// A file that lies beside its name until all of it is there, and is removed unless it gets there. It is used on threads
/// for files and goes with each call: whoever stops waiting for a call leaves it to the thread, which removes it then.
#[derive(Debug)]
pub(super) struct Partial {
    pub(super) file: File,
    path: PathBuf,
    name: PathBuf,
    is_named: bool,
}

impl Partial {
    pub(super) fn create(name: PathBuf) -> io::Result<Self> {
        let path = beside(&name);
        Ok(Self { file: File::create_new(&path)?, path, name, is_named: false })
    }

    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    pub(super) fn append(mut self, batch: &[Bytes]) -> io::Result<Self> {
        batch.iter().try_for_each(|piece| self.file.write_all(piece))?;
        Ok(self)
    }

    /// Gives it its name. Its bytes are on the disk before, so that not even a crash leaves the name to something else.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.path, &self.name)?;
        self.is_named = true;
        Ok(())
    }
}

fn beside(name: &Path) -> PathBuf {
    let mut partial = name.file_name().unwrap_or_default().to_owned();
    partial.push(format!(".{}.partial", random::uuid()));
    name.with_file_name(partial)
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_named {
            // There is nobody to tell otherwise.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
