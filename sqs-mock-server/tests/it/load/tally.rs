//! Numbers.

/// What has happened to a queue so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Messages that were accepted.
    pub(crate) accepted: u64,
    /// Messages that came, each counted once.
    pub(crate) arrived: u64,
    /// Messages that came, each counted as often as it did.
    pub(crate) deliveries: u64,
    /// Messages that were stored once more than accepted, and came.
    pub(crate) copies: u64,
    /// Entries of batches that may have been stored without their sender being told.
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
