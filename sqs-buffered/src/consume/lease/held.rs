//! The state of a lease that its handles and the table share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::table::Number;

/// The lease of one message, shared by its handles and the table.
pub(crate) struct Held {
    pub(super) number: Number,
    pub(super) receipt_handle: Arc<str>,
    pub(super) message_id: Arc<str>,
    /// The time of the receive.
    pub(super) received: Instant,
    is_lost: AtomicBool,
    /// Renewals and the loss of the lease wake all waiting tasks.
    pub(super) changed: Notify,
}

impl Held {
    pub(super) fn new(
        number: Number,
        message_id: Arc<str>,
        receipt_handle: Arc<str>,
        received: Instant,
    ) -> Self {
        let (is_lost, changed) = (AtomicBool::new(false), Notify::new());
        Self { number, receipt_handle, message_id, received, is_lost, changed }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// Marks the lease as lost. Returns whether it was not lost before.
    pub(super) fn lose(&self) -> bool {
        let is_news = !self.is_lost.swap(true, Ordering::AcqRel);
        self.changed.notify_waiters();
        is_news
    }
}
