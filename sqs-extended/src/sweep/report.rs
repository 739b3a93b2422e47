//! The result of a sweep.

use crate::error::Error;
use crate::store::Listed;

/// Orphans that a report lists.
const LISTED: usize = 1_000;

/// The progress of a sweep.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct SweepProgress {
    /// Objects that were examined.
    pub examined: u64,
    /// Objects that other programs wrote: their keys do not end in a UUID, or they lack the mark of this crate. They are kept.
    pub foreign: u64,
    /// Objects that no message needs.
    pub orphans: u64,
    /// The total bytes of the orphans.
    pub orphaned_bytes: u64,
    /// Orphans that were deleted.
    pub deleted: u64,
    /// Old objects whose mark could not be read, and orphans that could not be deleted.
    pub failed: u64,
}

/// The result of a sweep.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SweepReport {
    /// Counts over all pages.
    pub progress: SweepProgress,
    /// The first 1,000 orphans by key; [`on_orphan`](super::Sweep::on_orphan) gets all.
    pub orphans: Vec<Listed>,
    /// The first error of an object.
    pub first_error: Option<Error>,
}

impl SweepReport {
    pub(super) fn orphan(&mut self, object: &Listed) {
        self.progress.orphans += 1;
        self.progress.orphaned_bytes = self.progress.orphaned_bytes.saturating_add(object.length);
        if self.orphans.len() < LISTED {
            self.orphans.push(object.clone());
        }
    }

    pub(super) fn failed(&mut self, error: Error) {
        self.progress.failed += 1;
        self.first_error.get_or_insert(error);
    }
}
