//! Pagination of lists.

use std::collections::BTreeMap;

use serde::Serialize;

use super::answer::Refusal;
use super::ask::Parameters;

/// The number of entries to skip.
pub(super) const SKIP: &str = "skip";
/// The maximum number of entries, 1 to 1,000. The default is 100.
pub(super) const LIMIT: &str = "limit";

const MOST: usize = 1000;
const DEFAULT: usize = 100;

/// The parameters of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Page {
    pub(super) skip: usize,
    pub(super) limit: usize,
}

impl Page {
    pub(super) fn read(parameters: &Parameters<'_>) -> Result<Self, Refusal> {
        let skip = parameters.number(SKIP, 0..=usize::MAX, 0)?;
        Ok(Self { skip, limit: parameters.number(LIMIT, 1..=MOST, DEFAULT)? })
    }

    /// The entries of this page.
    pub(super) fn of<T>(self, all: &[T]) -> impl Iterator<Item = &T> {
        all.iter().skip(self.skip).take(self.limit)
    }

    /// The entries of this page, counted back from the latest one, which is the last of `all`. The oldest comes first.
    pub(super) fn latest<T>(self, all: &[T]) -> impl Iterator<Item = &T> {
        let end = all.len().saturating_sub(self.skip);
        all.iter().take(end).skip(end.saturating_sub(self.limit))
    }

    /// This page of a list with `total` entries.
    pub(super) fn part<T>(
        self,
        list: &'static str,
        total: usize,
        entries: impl Iterator<Item = T>,
    ) -> Part<T> {
        let next = Some(self.skip.saturating_add(self.limit)).filter(|next| *next < total);
        Part { total, entries: [(list, entries.collect())].into(), next }
    }
}

/// A page of a list.
#[derive(Serialize)]
pub(super) struct Part<T> {
    /// The number of entries on all pages.
    total: usize,
    /// The entries, under the name of the list.
    #[serde(flatten)]
    entries: BTreeMap<&'static str, Vec<T>>,
    /// The `skip` of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<usize>,
}
