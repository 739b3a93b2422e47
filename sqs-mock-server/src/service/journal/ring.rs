//! The latest requests, as many as are kept.

use std::collections::VecDeque;
use std::sync::Arc;

use super::record::RecordedRequest;

/// Bytes of all that is kept, unless the latest request alone is longer.
pub(super) const MAX_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Ring {
    records: VecDeque<Arc<RecordedRequest>>,
    bytes: usize,
    recorded: u64,
}

impl Ring {
    /// Puts in a request, and takes out what has to make room for it. The caller made the record before it took the
    /// lock, and nobody else has it yet.
    pub(super) fn push(&mut self, mut record: Arc<RecordedRequest>, capacity: usize) {
        self.recorded += 1;
        if let Some(record) = Arc::get_mut(&mut record) {
            record.number = self.recorded;
        }
        self.bytes += record.bytes();
        self.records.push_back(record);
        while self.records.len() > capacity || (self.bytes > MAX_BYTES && self.records.len() > 1) {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
    }

    /// Takes all, to be dropped where nobody waits for the lock.
    pub(super) fn take(&mut self) -> VecDeque<Arc<RecordedRequest>> {
        self.bytes = 0;
        std::mem::take(&mut self.records)
    }

    /// All of them, which are shared and not copied.
    pub(super) fn all(&self) -> Vec<Arc<RecordedRequest>> {
        self.records.iter().cloned().collect()
    }
}
