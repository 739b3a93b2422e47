//! One admitted entry on its way.

use std::sync::Arc;

use tokio::time::Instant;

use crate::produce::error::SendError;

/// What entries are ordered by: the group of a FIFO message, or a receipt handle. No two batches in flight hold
/// entries of the same key.
pub(crate) type Key = Arc<str>;

/// What is to be sent, and who waits for that.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Laden<L, T> {
    pub(crate) load: L,
    pub(crate) item: T,
}

/// A load on its way into a request, with what the request has to know.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Outbound<L> {
    pub(crate) load: L,
    /// See [`Pending`], as of the others.
    pub(crate) bytes: usize,
    pub(crate) admitted: Instant,
    pub(crate) deadline: Instant,
    pub(crate) attempts: u32,
    pub(crate) maybe_sent: bool,
}

/// What is known of an admitted entry. `T` is [`Laden`], or its item alone while a request has the load.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    pub(crate) item: T,
    pub(crate) key: Option<Key>,
    /// Its size as the service counts it.
    pub(crate) bytes: usize,
    /// When it was admitted.
    pub(crate) admitted: Instant,
    /// When it is given up, unless it is in flight then.
    pub(crate) deadline: Instant,
    /// Requests that it was in and that count.
    pub(super) attempts: u32,
    /// Why it was not done the last time.
    pub(super) last_error: Option<SendError>,
    /// Whether the service may have it although no answer says so.
    pub(super) maybe_sent: bool,
    /// The lowest sequence number of accepted entries of its key that were admitted after it.
    pub(super) overtaken_at: Option<u128>,
    /// The highest sequence number of accepted entries of its key that were admitted before it.
    pub(super) preceded_by: Option<u128>,
    /// Whether what it asks for is pointless by now: it is not tried again.
    pub(super) is_superseded: bool,
    /// Which flush has to wait for it; the ledger knows.
    pub(super) epoch: u64,
}

/// An entry whose load is here.
pub(super) type Waiting<L, T> = Pending<Laden<L, T>>;

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

    /// The same of another item.
    fn replace<U>(self, item: U) -> (T, Pending<U>) {
        let Self { item: before, key, bytes, admitted, deadline, attempts, last_error, maybe_sent, .. } =
            self;
        let Self { overtaken_at, preceded_by, is_superseded, epoch, .. } = self;
        let after = Pending {
            item,
            key,
            bytes,
            admitted,
            deadline,
            attempts,
            last_error,
            maybe_sent,
            overtaken_at,
            preceded_by,
            is_superseded,
            epoch,
        };
        (before, after)
    }

    /// With the load that its request gave back.
    pub(super) fn laden<L>(self, load: L) -> Waiting<L, T> {
        let (item, rest) = self.replace(());
        rest.replace(Laden { load, item }).1
    }
}

impl<L, T> Waiting<L, T> {
    /// Parts the load, which goes into a request, from what stays.
    pub(super) fn unladen(self) -> (Outbound<L>, Pending<T>) {
        let Self { bytes, admitted, deadline, attempts, maybe_sent, .. } = self;
        let (Laden { load, item }, rest) = self.replace(());
        (Outbound { load, bytes, admitted, deadline, attempts, maybe_sent }, rest.replace(item).1)
    }
}
