//! The thread that writes changes.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::apply::Applier;
use super::inbox::{Batch, Committed, Inbox};
use super::queues::Queues;
use crate::service::stopwatch::Stopwatch;

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
        self.measure();
        let mut last = Committed::default();
        while let Some(batch) = self.inbox.next(last) {
            let Some(committed) = self.store(&batch) else { return };
            last = committed;
        }
        if let Err((_, error)) = self.connection.close() {
            tracing::error!(%error, "cannot close the data file");
        }
    }

    /// Stores a batch, after as many attempts as it takes. Returns `None` if the server ends before one succeeds.
    fn store(&mut self, batch: &Batch) -> Option<Committed> {
        let mut failed = false;
        loop {
            let stopwatch = Stopwatch::start();
            let error = match self.attempt(batch) {
                Ok(()) => {
                    if failed {
                        tracing::info!("changes are stored again");
                    }
                    let (duration, progress) = (stopwatch.elapsed(), self.inbox.progress());
                    let committed = Committed { waiting: progress.waiting(), duration };
                    progress.stored(batch.recorded, duration);
                    return Some(committed);
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
                return None;
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
        self.measure();
        Ok(())
    }

    /// Notes the size of the file. It includes what is still in the write-ahead log.
    fn measure(&self) {
        let count = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        if let (Ok(pages), Ok(bytes)) = (count("page_count"), count("page_size")) {
            self.inbox.progress().set_stored_bytes((pages * bytes).unsigned_abs());
        }
    }
}
