//! A directory for temporary files of a benchmark. A stopped benchmark may leave gigabytes there.

use std::path::{Path, PathBuf};

use sqs_benchmarks::arguments::BoxError;

/// A directory that is removed on drop.
#[derive(Debug)]
pub(crate) struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    /// Creates a directory in `TMPDIR`, or in the directory of the report if that is not set.
    pub(crate) fn for_report(out: &Path) -> Result<Self, BoxError> {
        let parent = std::env::var_os("TMPDIR").filter(|path| !path.is_empty()).map(PathBuf::from);
        Self::create_in(&parent.unwrap_or_else(|| out.to_owned()))
    }

    fn create_in(parent: &Path) -> Result<Self, BoxError> {
        let path = std::path::absolute(parent)?.join(format!("bench-all-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|error| format!("cannot create {}: {error}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("warning: cannot remove {}: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_removes_the_directory_with_its_files() {
        let temporary = TemporaryDirectory::create_in(&std::env::temp_dir()).unwrap();
        let path = temporary.path().to_owned();
        std::fs::create_dir(path.join("queue")).unwrap();
        std::fs::write(path.join("queue/payload"), "x").unwrap();
        drop(temporary);
        assert!(!path.exists());
    }
}
