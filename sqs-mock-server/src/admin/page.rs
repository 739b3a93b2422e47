//! Pagination of lists.

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

    /// The `skip` of the next page of a list with `total` entries; `None` on the last page.
    pub(super) fn next(self, total: usize) -> Option<usize> {
        Some(self.skip.saturating_add(self.limit)).filter(|next| *next < total)
    }

    /// The page of `all` requests, counted back from the latest one. It lists its oldest request first.
    pub(super) fn of_latest<'r, T, R>(self, all: &'r [T], show: impl Fn(&'r T) -> R) -> Latest<R> {
        let end = all.len().saturating_sub(self.skip);
        let start = end.saturating_sub(self.limit);
        let requests = all.iter().take(end).skip(start).map(show).collect();
        Latest { total: all.len(), requests, next: self.next(all.len()) }
    }
}

/// A page of recorded requests.
#[derive(Serialize)]
pub(super) struct Latest<R> {
    /// The number of all requests.
    total: usize,
    requests: Vec<R>,
    /// The `skip` of the next, older page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
}
