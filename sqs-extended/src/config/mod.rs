//! What can be set of a client.

mod builder;
mod compat;
mod policy;
mod prefix;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use sqs_client::time::{SharedTimeSource, SystemClock};

use crate::event::Listener;

pub use builder::ExtendedClientBuilder;
pub use compat::Compat;
pub(crate) use compat::RESERVED_ATTRIBUTES;
pub use policy::{MissingObject, Threshold};
pub(crate) use prefix::check as check_prefix;

/// The most that the other libraries can read: a Java array has no more bytes.
pub(crate) const MAX_PAYLOAD_BYTES: u64 = (1 << 31) - 1;

/// The most that is loaded whole, if nobody wants it otherwise.
const DEFAULT_MAX_LOADED_BYTES: u64 = 256 << 20;

/// How long a store may take, if nobody wants it otherwise.
const DEFAULT_STORE_TIMEOUT: Duration = Duration::from_mins(2);

/// How long a store may be allowed to take, in seconds.
pub(crate) const STORE_TIMEOUT_SECONDS: RangeInclusive<u64> = 1..=3_600;

/// All settings, with their defaults.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) threshold: Threshold,
    pub(crate) always_through_store: bool,
    pub(crate) compat: Compat,
    pub(crate) key_prefix: String,
    /// Buckets that pointers may lead to, the own one among them.
    pub(crate) allowed_buckets: BTreeSet<String>,
    pub(crate) missing_object: MissingObject,
    /// Whether a deleted message takes its object with it.
    pub(crate) clean_up: bool,
    /// Downloads, and uploads of one batch, at a time.
    pub(crate) concurrency: usize,
    pub(crate) max_payload_bytes: u64,
    pub(crate) store_timeout: Duration,
    pub(crate) time_source: SharedTimeSource,
    pub(crate) listener: Option<Listener>,
}

impl Settings {
    pub(crate) fn new(own_bucket: &str) -> Self {
        Self {
            threshold: Threshold::default(),
            always_through_store: false,
            compat: Compat::default(),
            key_prefix: String::new(),
            allowed_buckets: BTreeSet::from([own_bucket.to_owned()]),
            missing_object: MissingObject::default(),
            clean_up: true,
            concurrency: 4,
            max_payload_bytes: DEFAULT_MAX_LOADED_BYTES,
            store_timeout: DEFAULT_STORE_TIMEOUT,
            time_source: SharedTimeSource::new(SystemClock),
            listener: None,
        }
    }
}
