//! The accumulator: entries go in, in order, until one does not fit.

use sqs_client::limits::{MAX_BATCH_BYTES, MAX_BATCH_ENTRIES};

/// How much one batch may hold. The service's limits are the default and the most.
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
    /// At most this many entries: 1 to 10; values outside are brought inside.
    pub fn entries(mut self, entries: usize) -> Self {
        self.entries = entries.clamp(1, MAX_BATCH_ENTRIES);
        self
    }

    /// At most this many bytes in all: 1 to 1,048,576; values outside are brought inside.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes.clamp(1, MAX_BATCH_BYTES);
        self
    }

    /// At most this many bytes in all, also more than the service takes: for a client below that makes messages smaller
    /// before it sends them, such as that of `sqs-extended`. At least 1. The largest message that is taken is a setting of its
    /// own.
    pub fn layered_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes.max(1);
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

/// A batch that is being filled.
///
/// Next fit: the first entry that does not fit closes the batch, and later ones do not overtake it, so that
/// batches keep the order of their entries.
#[derive(Clone, Debug)]
pub struct BatchBuilder<T> {
    limits: BatchLimits,
    entries: Vec<T>,
    bytes: usize,
}

/// An entry that did not go in, handed back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rejected<T> {
    /// The entry.
    pub entry: T,
    /// Its size.
    pub bytes: usize,
    /// Why it did not go in.
    pub reason: RejectReason,
}

/// Why an entry did not go into a batch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RejectReason {
    /// The batch is full; the entry fits into an empty one.
    Full,
    /// The entry alone is larger than a batch may be.
    TooLarge,
}

impl<T> BatchBuilder<T> {
    /// An empty batch.
    pub fn new(limits: BatchLimits) -> Self {
        Self { limits, entries: Vec::new(), bytes: 0 }
    }

    /// Adds an entry of that size; see [`message_size`](sqs_client::checksum::message_size).
    ///
    /// # Errors
    /// The entry does not fit. It comes back, and the batch is unchanged.
    pub fn push(&mut self, entry: T, bytes: usize) -> Result<(), Rejected<T>> {
        if bytes > self.limits.bytes {
            return Err(Rejected { entry, bytes, reason: RejectReason::TooLarge });
        }
        if self.entries.len() == self.limits.entries || self.bytes + bytes > self.limits.bytes {
            return Err(Rejected { entry, bytes, reason: RejectReason::Full });
        }
        self.bytes += bytes;
        self.entries.push(entry);
        Ok(())
    }

    /// Takes the entries out; the batch is empty afterwards.
    pub fn take(&mut self) -> Vec<T> {
        self.bytes = 0;
        std::mem::take(&mut self.entries)
    }

    /// Entries in the batch.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes in the batch.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether no further entry can go in, however small.
    pub fn is_full(&self) -> bool {
        self.entries.len() == self.limits.entries || self.bytes == self.limits.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_batch_of_exactly_the_limit_is_legal() {
        let mut batch = BatchBuilder::new(BatchLimits::default());
        assert_eq!(batch.push("all", MAX_BATCH_BYTES), Ok(()));
        assert!(batch.is_full());
        assert_eq!(batch.push("more", 1).expect_err("full").reason, RejectReason::Full);
        let too_large = batch.push("huge", MAX_BATCH_BYTES + 1).expect_err("never fits");
        assert_eq!(too_large.reason, RejectReason::TooLarge);
    }

    #[test]
    fn limits_stay_within_those_of_the_service() {
        let limits = BatchLimits::default().entries(0).bytes(usize::MAX);
        assert_eq!(limits, BatchLimits { entries: 1, bytes: MAX_BATCH_BYTES });
        assert_eq!(limits.layered_bytes(8 << 20).max_bytes(), 8 << 20);
        assert_eq!(limits.layered_bytes(0).max_bytes(), 1);
    }

    proptest! {
        /// Nothing lost, nothing twice, order kept, limits kept, and no two neighbours that would fit in one.
        #[test]
        fn batches_are_within_limits_and_as_full_as_order_allows(
            sizes in prop::collection::vec(0_usize..500, 0..200),
            max_entries in 1_usize..=10,
            max_bytes in 1_usize..1_000,
        ) {
            let mut batch = BatchBuilder::new(BatchLimits::default().entries(max_entries).bytes(max_bytes));
            let mut closed: Vec<Vec<(usize, usize)>> = Vec::new();
            let mut expected = Vec::new();
            for (index, size) in sizes.into_iter().enumerate() {
                match batch.push((index, size), size) {
                    Ok(()) => expected.push((index, size)),
                    Err(rejected) if rejected.reason == RejectReason::TooLarge => prop_assert!(size > max_bytes),
                    Err(rejected) => {
                        closed.push(batch.take());
                        prop_assert_eq!(batch.push(rejected.entry, rejected.bytes), Ok(()));
                        expected.push(rejected.entry);
                    }
                }
            }
            closed.push(batch.take());
            for filled in &closed {
                prop_assert!(filled.len() <= max_entries);
                prop_assert!(filled.iter().map(|(_, size)| size).sum::<usize>() <= max_bytes);
            }
            for pair in closed.windows(2) {
                let entries = pair[0].len() + 1;
                let bytes: usize = pair[0].iter().map(|(_, size)| size).sum::<usize>() + pair[1][0].1;
                prop_assert!(entries > max_entries || bytes > max_bytes);
            }
            prop_assert_eq!(closed.concat(), expected);
        }
    }
}
