//! What a consumer has done, when it has ended.

use crate::consume::observe::ReceiveStats;
use std::time::Duration;

/// What a consumer has done, when it has ended.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The numbers.
    pub stats: ReceiveStats,
    /// What the first ten panics of handlers said.
    pub panics: Vec<String>,
    /// Whether all handlers and receives ended by themselves during the shutdown: none was stopped or given up.
    pub is_clean: bool,
    /// From start to end.
    pub elapsed: Duration,
}
