//! A bounded list of records.

use std::collections::VecDeque;
use std::sync::Arc;

use super::record::Record;

/// The maximum total size of the records; the latest record alone may exceed it.
pub(super) const MAX_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Ring {
    records: VecDeque<Arc<Record>>,
    bytes: usize,
}

impl Ring {
    /// Adds a record, and removes the oldest ones over the limits.
    pub(super) fn push(&mut self, record: Arc<Record>, capacity: usize) {
        self.bytes += record.bytes();
        self.records.push_back(record);
        while self.records.len() > capacity || (self.bytes > MAX_BYTES && self.records.len() > 1) {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
    }

    /// Takes all records, so that the caller can drop them after it releases the lock.
    pub(super) fn take(&mut self) -> VecDeque<Arc<Record>> {
        self.bytes = 0;
        std::mem::take(&mut self.records)
    }

    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// All records, shared.
    pub(super) fn all(&self) -> Vec<Arc<Record>> {
        self.records.iter().cloned().collect()
    }
}
