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

/// What a receive under way asked for. Dropped, it got nothing.
#[derive(Debug)]
pub(crate) struct Asked {
    bank: Arc<Bank>,
    messages: usize,
}

/// The credit of one message, returned when it is dropped.
#[derive(Debug)]
pub(crate) struct Credit {
    bank: Arc<Bank>,
    made_room: bool,
}

impl Bank {
    pub(crate) fn new(total: usize) -> Self {
        Self { credits: Mutex::new(Credits::new(total)), freed: Notify::new() }
    }

    /// See [`Credits::ask`].
    pub(crate) fn ask(self: &Arc<Self>) -> Option<Asked> {
        let messages = self.credits.lock().ask()?;
        Some(Asked { bank: Arc::clone(self), messages })
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

impl Asked {
    pub(crate) fn messages(&self) -> usize {
        self.messages
    }

    /// Ends the receive, and gives a credit for each message that it got.
    pub(crate) fn answered(mut self, got: usize) -> Vec<Credit> {
        let asked = std::mem::take(&mut self.messages);
        self.bank.credits.lock().answered(asked, got);
        let credit = || Credit { bank: Arc::clone(&self.bank), made_room: false };
        std::iter::repeat_with(credit).take(got).collect()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.messages > 0 {
            self.bank.credits.lock().answered(self.messages, 0);
            self.bank.freed.notify_one();
        }
    }
}

impl Credit {
    /// See [`Credits::make_room`].
    pub(crate) fn make_room(&mut self) {
        if !self.made_room && self.bank.credits.lock().make_room() {
            self.made_room = true;
            self.bank.freed.notify_one();
        }
    }
}

impl Drop for Credit {
    fn drop(&mut self) {
        self.bank.credits.lock().settled(self.made_room);
        self.bank.freed.notify_one();
    }
}
