//! The report of a consumer that has ended.

use crate::consume::observe::ReceiveStats;
use std::time::Duration;

/// The result of a run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The totals.
    pub stats: ReceiveStats,
    /// The texts of the first ten panics of handlers.
    pub panics: Vec<String>,
    /// Whether all handlers and receives ended by themselves during the shutdown: none was stopped or abandoned.
    pub is_clean: bool,
    /// The duration of the run.
    pub elapsed: Duration,
}
