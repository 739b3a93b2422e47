//! What happened: events, logs, statistics and metrics.

pub(crate) mod meter;
pub(crate) mod receives;
pub(crate) mod sends;
