//! One admitted entry until it has ended.

use std::sync::Arc;

use tokio::time::Instant;

use crate::produce::error::SendError;

/// The order key of entries: the group of a FIFO message, or a receipt handle. At most one batch in flight contains a key.
pub(crate) type Key = Arc<str>;

/// An admitted entry.
#[derive(Debug)]
pub(crate) struct Pending<L, T> {
    /// The load of the request; `None` while a request has it.
    pub(super) load: Option<L>,
    /// The tickets.
    pub(super) item: T,
    pub(super) key: Option<Key>,
    /// Its size as SQS counts it.
    pub(super) bytes: usize,
    pub(super) admitted: Instant,
    /// The time at which it fails, unless it is in flight.
    pub(super) deadline: Instant,
    /// The number of attempts.
    pub(super) attempts: u32,
    /// The error of the last attempt.
    pub(super) last_error: Option<SendError>,
    /// Whether SQS may have executed it although no response confirms it.
    pub(super) maybe_sent: bool,
    /// The lowest sequence number of accepted entries of its key that were admitted after it.
    pub(super) overtaken_at: Option<u128>,
    /// The highest sequence number of accepted entries of its key that were admitted before it.
    pub(super) preceded_by: Option<u128>,
    /// Whether another entry has superseded it. If so, it is not retried.
    pub(super) is_superseded: bool,
    /// The epoch of the ledger: which flushes wait for it.
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
