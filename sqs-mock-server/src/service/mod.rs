//! What the services of a server share. Nothing here depends on a service; only names and resources are known.

pub(crate) mod arn;
pub mod clock;
pub mod faults;
pub(crate) mod journal;
pub(crate) mod keys;
pub(crate) mod metrics;
pub(crate) mod operation;
pub(crate) mod resource;
pub(crate) mod seed;
pub(crate) mod stopwatch;
