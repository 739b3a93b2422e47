//! What a sweep has found.

use super::Verdict;
use crate::store::{Listed, StoreError, Unfinished};

/// Orphans that a report names, and uploads.
const NAMED: usize = 1_000;

/// How far a sweep is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct SweepProgress {
    /// Objects that were looked at.
    pub examined: u64,
    /// Of these, objects whose names do not end in a UUID; they are left alone.
    pub foreign: u64,
    /// Objects that no message needs any more.
    pub orphans: u64,
    /// Bytes of these.
    pub orphaned_bytes: u64,
    /// Orphans that were deleted.
    pub deleted: u64,
    /// Orphans that could not be deleted.
    pub delete_failed: u64,
    /// Uploads that were begun and never ended, and are too old to be under way.
    pub unfinished: u64,
    /// Of these, those that were ended and whose parts are gone.
    pub aborted: u64,
    /// Those that could not be ended.
    pub abort_failed: u64,
}

/// What a sweep has found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SweepReport {
    /// Counts over all pages.
    pub progress: SweepProgress,
    /// The first thousand orphans, by key; [`on_orphan`](super::Sweep::on_orphan) tells all.
    pub orphans: Vec<Listed>,
    /// The first thousand uploads that never ended, by key; [`on_unfinished`](super::Sweep::on_unfinished) tells all.
    pub unfinished: Vec<Unfinished>,
    /// Why the first delete of an object or end of an upload failed, if one did.
    pub first_error: Option<StoreError>,
}

impl SweepReport {
    pub(super) fn saw(&mut self, object: &Listed, verdict: Verdict) {
        let progress = &mut self.progress;
        progress.examined += 1;
        match verdict {
            Verdict::Foreign => progress.foreign += 1,
            Verdict::Young => {}
            Verdict::Orphan => {
                progress.orphans += 1;
                progress.orphaned_bytes = progress.orphaned_bytes.saturating_add(object.length);
            }
        }
    }

    pub(super) fn deleted(&mut self, result: Result<(), StoreError>) {
        match result {
            Ok(()) => self.progress.deleted += 1,
            Err(error) => {
                self.progress.delete_failed += 1;
                self.first_error.get_or_insert(error);
            }
        }
    }

    pub(super) fn aborted(&mut self, result: Result<(), StoreError>) {
        match result {
            Ok(()) => self.progress.aborted += 1,
            Err(error) => {
                self.progress.abort_failed += 1;
                self.first_error.get_or_insert(error);
            }
        }
    }

    pub(super) fn keep(&mut self, orphans: Vec<Listed>) {
        let room = NAMED.saturating_sub(self.orphans.len());
        self.orphans.extend(orphans.into_iter().take(room));
    }

    pub(super) fn keep_unfinished(&mut self, uploads: Vec<Unfinished>) {
        self.progress.unfinished += uploads.len() as u64;
        let room = NAMED.saturating_sub(self.unfinished.len());
        self.unfinished.extend(uploads.into_iter().take(room));
    }
}
