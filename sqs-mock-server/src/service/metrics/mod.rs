//! Metric types shared by all services.

mod connections;
mod exposition;
mod histogram;

pub(crate) use connections::Connections;
pub(crate) use exposition::{CONTENT_TYPE, Exposition, Kind};
pub(crate) use histogram::{Histogram, Reading};

/// The label of requests whose operation is unknown.
pub(crate) const UNKNOWN: &str = "unknown";
/// The label of requests whose caller got no response.
pub(crate) const ABORTED: &str = "aborted";
