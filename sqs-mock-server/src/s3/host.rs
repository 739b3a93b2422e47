//! What the S3 server shares with the SQS server.

use std::sync::Arc;

use super::notifications::Configuration;
use super::outbox::Targets;
use crate::http::{Limits, Names};
use crate::service::clock::Clock;
use crate::service::faults::Faults;
use crate::service::journal::Journal;
use crate::service::seed::Seed;

/// The parts that the S3 server shares with the SQS server.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
    /// Its account owns all buckets.
    pub(crate) names: Arc<Names>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) targets: Arc<Targets>,
    /// Names of initial buckets with their notification configurations. Other buckets keep theirs.
    pub(crate) notifications: Vec<(String, Configuration)>,
}
