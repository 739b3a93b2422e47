//! Metric types shared by all services.

mod counters;
mod exposition;
mod gauge;
mod histogram;

pub(crate) use counters::Counters;
pub(crate) use exposition::{CONTENT_TYPE, Exposition, Kind};
pub(crate) use gauge::Gauge;
pub(crate) use histogram::{Histogram, Reading};

/// The label of requests whose operation is unknown.
pub(crate) const UNKNOWN: &str = "unknown";
/// The label of requests whose caller got no response.
pub(crate) const ABORTED: &str = "aborted";
/// The label of successful requests.
pub(crate) const OK: &str = "OK";
/// The code of a response that a fault replaces, as if by a proxy.
pub(crate) const INJECTED_STATUS: &str = "InjectedStatus";
