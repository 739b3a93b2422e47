//! Credits as tasks share them.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::credits::Credits;

/// The account of one receiver. The lock is held for a few instructions.
#[derive(Debug)]
pub(crate) struct Bank {
    credits: Mutex<Credits>,
    /// The pump waits here for credit.
    freed: Notify,
}

/// The credit of one message, returned when it is dropped.
#[derive(Debug)]
pub(crate) struct Credit(Arc<Bank>);

impl Bank {
    pub(crate) fn new(total: usize) -> Self {
        Self { credits: Mutex::new(Credits::new(total)), freed: Notify::new() }
    }

    /// See [`Credits::ask`].
    pub(crate) fn ask(&self) -> Option<usize> {
        self.credits.lock().ask()
    }

    /// Ends a receive, and gives a credit for each message that it got.
    pub(crate) fn answered(self: &Arc<Self>, asked: usize, got: usize) -> Vec<Credit> {
        self.credits.lock().answered(asked, got);
        std::iter::repeat_with(|| Credit(Arc::clone(self))).take(got).collect()
    }

    /// Waits until a credit was returned.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    /// Messages that are here, and receives under way.
    pub(crate) fn levels(&self) -> (usize, usize) {
        let credits = self.credits.lock();
        (credits.held(), credits.receives())
    }
}

impl Drop for Credit {
    fn drop(&mut self) {
        self.0.credits.lock().settled();
        self.0.freed.notify_one();
    }
}
