//! The memory of a FIFO queue besides its messages.

use crate::service::clock::Timestamp;
use crate::service::seed::Seed;
use crate::sqs::engine::attempts::Attempts;
use crate::sqs::engine::attributes::FifoAttributes;
use crate::sqs::engine::dedup::Deduplication;
use crate::sqs::engine::message::SequenceNumber;

/// Sequence numbers increase by a multiple of this.
const SEQUENCE_STEP: u128 = 256;
/// Sequence numbers start above this, so that they have 20 digits.
const SEQUENCE_BASE: u128 = 18_800_000_000_000_000_000;

/// The memory of a FIFO queue besides its messages.
#[derive(Debug)]
pub(super) struct FifoMemory {
    sequence_start: u128,
    pub(super) deduplication: Deduplication,
    pub(super) attempts: Attempts,
}

impl FifoMemory {
    pub(super) fn new(attributes: FifoAttributes, seed: Seed) -> Box<Self> {
        let mut generator = seed.generator("fifo");
        Box::new(Self {
            sequence_start: SEQUENCE_BASE + u128::from(generator.u32(..)) * SEQUENCE_STEP,
            deduplication: Deduplication::new(attributes.deduplication_scope, generator.u64(..)),
            attempts: Attempts::default(),
        })
    }

    pub(super) fn sequence_number(&self, ticket: u64) -> SequenceNumber {
        SequenceNumber(self.sequence_start + u128::from(ticket) * SEQUENCE_STEP)
    }

    /// All deduplication ids, oldest first.
    #[cfg(test)]
    pub(super) fn known(&self) -> Vec<crate::sqs::engine::dedup::Known> {
        self.deduplication.known()
    }

    /// Removes expired entries.
    pub(super) fn forget(&mut self, now: Timestamp) {
        self.deduplication.forget(now);
        self.attempts.forget(now);
    }

    pub(super) fn clear(&mut self) {
        self.deduplication.clear();
        self.attempts.clear();
    }

    pub(super) fn stored_bytes(&self) -> usize {
        self.deduplication.stored_bytes() + self.attempts.stored_bytes()
    }
}
