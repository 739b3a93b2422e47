//! Counters of a queue.

/// The counters of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Accepted messages.
    pub(crate) accepted: u64,
    /// Received messages, each counted once.
    pub(crate) arrived: u64,
    /// Deliveries.
    pub(crate) deliveries: u64,
    /// Received messages that were stored more often than accepted.
    pub(crate) copies: u64,
    /// Entries of batches that may have been stored without a confirmation.
    pub(crate) in_doubt: u64,
}

impl Tally {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            accepted: self.accepted + other.accepted,
            arrived: self.arrived + other.arrived,
            deliveries: self.deliveries + other.deliveries,
            copies: self.copies + other.copies,
            in_doubt: self.in_doubt + other.in_doubt,
        }
    }
}
