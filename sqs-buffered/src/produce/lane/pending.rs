//! One admitted entry until it has ended.

use std::sync::Arc;

use tokio::time::Instant;

use crate::produce::error::SendError;

/// What entries are ordered by: the group of a FIFO message, or a receipt handle. No two batches in flight hold entries of
/// the same key.
pub(crate) type Key = Arc<str>;

/// What is known of an admitted entry.
#[derive(Debug)]
pub(crate) struct Pending<L, T> {
    /// What is to be sent; `None` while a request has it.
    pub(super) load: Option<L>,
    /// Who waits for the result.
    pub(super) item: T,
    pub(super) key: Option<Key>,
    /// Its size as the service counts it.
    pub(super) bytes: usize,
    pub(super) admitted: Instant,
    /// When it is given up, unless it is in flight then.
    pub(super) deadline: Instant,
    /// Requests that it was in and that count.
    pub(super) attempts: u32,
    /// Why the last attempt failed.
    pub(super) last_error: Option<SendError>,
    /// Whether the service may have it although no answer says so.
    pub(super) maybe_sent: bool,
    /// The lowest sequence number of accepted entries of its key that were admitted after it.
    pub(super) overtaken_at: Option<u128>,
    /// The highest sequence number of accepted entries of its key that were admitted before it.
    pub(super) preceded_by: Option<u128>,
    /// Whether another entry made it pointless: it is not retried.
    pub(super) is_superseded: bool,
    /// Which flush has to wait for it; the ledger knows.
    pub(super) epoch: u64,
}

impl<L, T> Pending<L, T> {
    pub(crate) fn new(
        load: L,
        item: T,
        key: Option<Key>,
        bytes: usize,
        (admitted, deadline): (Instant, Instant),
    ) -> Self {
        Self {
            load: Some(load),
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
