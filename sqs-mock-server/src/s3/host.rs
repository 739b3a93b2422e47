//! What the S3 server shares with the SQS server.

use std::sync::Arc;

use super::notifications::Configuration;
use super::outbox::Targets;
use crate::http::{Guard, Limits};
use crate::service::clock::Clock;
use crate::service::faults::Faults;
use crate::service::journal::Journal;
use crate::service::keys::Keys;
use crate::service::seed::Seed;

/// The parts that the S3 server shares with the SQS server.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
    /// The accepted access keys; `None` accepts requests with any signature or none.
    pub(crate) keys: Option<Keys>,
    /// The rules for requests of browsers.
    pub(crate) guard: Guard,
    /// The account that owns all buckets.
    pub(crate) account: String,
    pub(crate) region: String,
    pub(crate) journal: Arc<Journal>,
    pub(crate) targets: Arc<Targets>,
    /// Names of initial buckets with their notification configurations. Other buckets keep theirs.
    pub(crate) notifications: Vec<(String, Configuration)>,
}
