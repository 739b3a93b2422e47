//! How much a batch may hold.

use sqs_client::wire::limits::{MAX_BATCH_BYTES, MAX_BATCH_ENTRIES};

/// How much one batch may hold. The service's limits are the default and the most; values outside are refused when the client
/// is [built](crate::Builder::build).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BatchLimits {
    entries: usize,
    bytes: usize,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self { entries: MAX_BATCH_ENTRIES, bytes: MAX_BATCH_BYTES }
    }
}

impl BatchLimits {
    /// At most this many entries: 1 to 10.
    pub fn entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// At most this many bytes in all: 1 to 1,048,576. A message that is larger than that goes alone.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// How many entries a batch may have.
    pub fn max_entries(&self) -> usize {
        self.entries
    }

    /// How many bytes a batch may have.
    pub fn max_bytes(&self) -> usize {
        self.bytes
    }
}
