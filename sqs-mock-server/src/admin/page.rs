//! Parts of long lists.

use serde::Serialize;

use super::answer::Refusal;
use super::ask::Parameters;

/// How many entries are passed over.
pub(super) const SKIP: &str = "skip";
/// How many entries there are at most, 1 to 1,000; 100 when it is not there.
pub(super) const LIMIT: &str = "limit";

const MOST: usize = 1000;
const DEFAULT: usize = 100;

/// A part of a list.
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

    /// Where the next page of a list of `total` entries begins, unless this is the last.
    pub(super) fn next(self, total: usize) -> Option<usize> {
        Some(self.skip.saturating_add(self.limit)).filter(|next| *next < total)
    }

    /// The page of `all` requests that is counted from the latest one back; it shows its oldest first.
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
    /// How many there are, of which the latest are shown.
    total: usize,
    requests: Vec<R>,
    /// What `skip` has to be for the requests before these; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
}
