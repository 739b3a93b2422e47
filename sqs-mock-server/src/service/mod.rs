//! What all services of a server share. Nothing here knows SQS or S3 beyond the names of their operations.

pub(crate) mod arn;
pub mod clock;
pub mod faults;
pub(crate) mod journal;
pub(crate) mod keys;
pub(crate) mod metrics;
pub(crate) mod seed;
pub(crate) mod stopwatch;
