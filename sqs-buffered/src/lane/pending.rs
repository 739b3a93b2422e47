//! One admitted entry on its way.

use std::sync::Arc;

use tokio::time::Instant;

use crate::error::SendError;

/// What entries are ordered by: the group of a FIFO message, or a receipt handle. No two batches in flight hold
/// entries of the same key.
pub(crate) type Key = Arc<str>;

/// An admitted entry.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    /// The entry, with those who wait for it.
    pub(crate) item: T,
    pub(crate) key: Option<Key>,
    /// Its size as the service counts it.
    pub(crate) bytes: usize,
    /// When it was admitted.
    pub(crate) admitted: Instant,
    /// When it is given up, unless it is in flight then.
    pub(crate) deadline: Instant,
    /// Requests that it was in and that count.
    pub(crate) attempts: u32,
    /// Why it was not done the last time.
    pub(super) last_error: Option<SendError>,
    /// Whether the service may have it although no answer says so.
    pub(crate) maybe_sent: bool,
    /// The lowest sequence number of accepted entries of its key that were admitted after it.
    pub(super) overtaken_at: Option<u128>,
    /// The highest sequence number of accepted entries of its key that were admitted before it.
    pub(super) preceded_by: Option<u128>,
    /// Whether what it asks for is pointless by now: it is not tried again.
    pub(super) is_superseded: bool,
    /// Which flush has to wait for it; the ledger knows.
    pub(super) epoch: u64,
}

impl<T> Pending<T> {
    /// An entry that was admitted now.
    pub(crate) fn new(item: T, key: Option<Key>, bytes: usize, admitted: Instant, deadline: Instant) -> Self {
        Self {
            item,
            key,
            bytes,
            admitted,
            deadline,
            attempts: 0,
            last_error: None,
            maybe_sent: false,
            overtaken_at: None,
            preceded_by: None,
            is_superseded: false,
            epoch: 0,
        }
    }
}
