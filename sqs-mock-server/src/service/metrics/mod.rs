//! What the metrics of all services share.

mod connections;
mod exposition;
mod histogram;

pub(crate) use connections::Connections;
pub(crate) use exposition::{CONTENT_TYPE, Exposition, Kind};
pub(crate) use histogram::Histogram;

/// Label of requests whose operation is unknown.
pub(crate) const UNKNOWN: &str = "unknown";
/// Label of requests whose caller got no answer.
pub(crate) const ABORTED: &str = "aborted";
