//! A folder for what benchmarks write and nobody keeps, up to gigabytes: a benchmark that is stopped leaves it as it is.

use std::path::{Path, PathBuf};

use sqs_benchmarks::arguments::Failed;

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// Below the folder for temporary files that the caller has chosen, or else below that of the report.
    pub(crate) fn beside(out: &Path) -> Result<Self, Failed> {
        let chosen = std::env::var_os("TMPDIR").filter(|place| !place.is_empty()).map(PathBuf::from);
        Self::below(&chosen.unwrap_or_else(|| out.to_owned()))
    }

    fn below(parent: &Path) -> Result<Self, Failed> {
        let path = std::path::absolute(parent)?.join(format!("bench-all-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("warning: {} stays: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_removed() {
        let temporary = Temporary::below(&std::env::temp_dir()).unwrap();
        let path = temporary.path().to_owned();
        std::fs::create_dir(path.join("queue")).unwrap();
        std::fs::write(path.join("queue/payload"), "x").unwrap();
        drop(temporary);
        assert!(!path.exists());
    }
}
