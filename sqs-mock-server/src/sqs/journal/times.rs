//! An expected number of requests.

use std::fmt;
use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};

/// An expected number of requests: `3`, `1..`, `..=2` or `2..=4`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Times {
    least: usize,
    most: usize,
}

impl Times {
    pub(super) fn has(self, count: usize) -> bool {
        (self.least..=self.most).contains(&count)
    }
}

impl From<usize> for Times {
    fn from(count: usize) -> Self {
        Self { least: count, most: count }
    }
}

impl From<RangeFrom<usize>> for Times {
    fn from(range: RangeFrom<usize>) -> Self {
        Self { least: range.start, most: usize::MAX }
    }
}

impl From<RangeToInclusive<usize>> for Times {
    fn from(range: RangeToInclusive<usize>) -> Self {
        Self { least: 0, most: range.end }
    }
}

impl From<RangeInclusive<usize>> for Times {
    fn from(range: RangeInclusive<usize>) -> Self {
        Self { least: *range.start(), most: *range.end() }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (1, 1) => f.write_str("1 request"),
            (least, most) if least == most => write!(f, "{least} requests"),
            (0, most) => write!(f, "at most {most} requests"),
            (least, usize::MAX) => write!(f, "at least {least} requests"),
            (least, most) => write!(f, "{least} to {most} requests"),
        }
    }
}
