//! Parts of long lists.

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
}
