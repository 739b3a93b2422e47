//! Settings of a client.

mod policy;
mod prefix;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use sqs_client::time::{SharedTimeSource, SystemClock};

use crate::event::Listener;
use crate::format::{Compat, PointerRules};

pub use policy::{MissingObject, Threshold};
pub(crate) use prefix::check as check_prefix;

/// The largest payload that is loaded by default.
const DEFAULT_MAX_LOADED_BYTES: u64 = 256 << 20;

/// Payloads that are loaded at a time by default.
const DEFAULT_MEMORY_BUDGET: u64 = 512 << 20;

/// How long a store may take by default.
const DEFAULT_STORE_TIMEOUT: Duration = Duration::from_mins(2);

/// Allowed timeouts of a store, in seconds.
pub(crate) const STORE_TIMEOUT_SECONDS: RangeInclusive<u64> = 1..=3_600;

/// All settings, with their defaults.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) threshold: Threshold,
    pub(crate) stores_all: bool,
    pub(crate) compat: Compat,
    pub(crate) key_prefix: String,
    pub(crate) pointers: PointerRules,
    pub(crate) missing_object: MissingObject,
    /// Whether the object of a deleted message is deleted.
    pub(crate) clean_up: bool,
    /// Downloads, and uploads of one batch, at a time.
    pub(crate) concurrency: usize,
    pub(crate) max_payload_bytes: u64,
    pub(crate) memory_budget: u64,
    pub(crate) store_timeout: Duration,
    pub(crate) time_source: SharedTimeSource,
    pub(crate) listener: Option<Listener>,
}

impl Settings {
    pub(crate) fn new(own_bucket: &str) -> Self {
        Self {
            threshold: Threshold::default(),
            stores_all: false,
            compat: Compat::default(),
            key_prefix: String::new(),
            pointers: PointerRules {
                allowed_buckets: BTreeSet::from([own_bucket.to_owned()]),
                notifications: false,
            },
            missing_object: MissingObject::default(),
            clean_up: true,
            concurrency: 4,
            max_payload_bytes: DEFAULT_MAX_LOADED_BYTES,
            memory_budget: DEFAULT_MEMORY_BUDGET,
            store_timeout: DEFAULT_STORE_TIMEOUT,
            time_source: SharedTimeSource::new(SystemClock),
            listener: None,
        }
    }
}
