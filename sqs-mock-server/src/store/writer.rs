//! The thread that writes changes.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::apply::{Applier, Queues};
use super::inbox::{Batch, Inbox};

/// Pause before a failed transaction is tried again.
const RETRY: Duration = Duration::from_millis(250);

/// Makes requests fail if the writer panics. Otherwise, they would wait forever.
struct Guard(Arc<Inbox>);

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.progress().end("the writer of the data directory panicked; restart the server");
        }
    }
}

/// The only user of the file.
pub(super) struct Writer {
    connection: Connection,
    queues: Queues,
    inbox: Arc<Inbox>,
}

impl Writer {
    pub(super) fn new(connection: Connection, queues: Queues, inbox: Arc<Inbox>) -> Self {
        Self { connection, queues, inbox }
    }

    /// Writes all changes, until the inbox is closed and empty. Closing the connection moves the write-ahead log into the
    /// file.
    pub(super) fn run(mut self) {
        let _guard = Guard(Arc::clone(&self.inbox));
        while let Some(batch) = self.inbox.next() {
            if !self.store(&batch) {
                return;
            }
        }
        if let Err((_, error)) = self.connection.close() {
            tracing::error!(%error, "cannot close the data file");
        }
    }

    /// Stores a batch, after as many attempts as it takes. Returns `false` if the server ends before one succeeds.
    fn store(&mut self, batch: &Batch) -> bool {
        let mut failed = false;
        loop {
            let error = match self.attempt(batch) {
                Ok(()) => {
                    if failed {
                        tracing::info!("changes are stored again");
                    }
                    self.inbox.progress().stored(batch.recorded);
                    return true;
                }
                Err(error) => error,
            };
            if !failed {
                tracing::error!(%error, "cannot store changes; requests fail until they are stored");
            }
            failed = true;
            self.inbox.progress().failed(&error.to_string());
            if self.inbox.closed_within(RETRY) {
                tracing::error!("stopped without storing the last changes, which were not confirmed");
                return false;
            }
        }
    }

    fn attempt(&mut self, batch: &Batch) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut applier = Applier::new(&transaction, &mut self.queues);
        for change in &batch.changes {
            applier.apply(change)?;
        }
        let deleted = applier.finish()?;
        transaction.commit()?;
        self.queues.forget(&deleted);
        Ok(())
    }
}
