//! The thread that writes changes.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, Result, TransactionBehavior, params};

use super::inbox::{Batch, Committed, Inbox, Recorded};
use super::queues::{QueueWriter, Queues};
use super::row::{execute, millis};
use super::tasks;
use super::{topics, waiting};
use crate::service::clock::ClockSetting;
use crate::service::stopwatch::Stopwatch;
use crate::sqs::ops::changes::Change;

/// Pause before a failed transaction is tried again.
const RETRY: Duration = Duration::from_millis(250);

/// Makes requests fail if the writer panics. Otherwise, they would wait forever.
struct Guard(Arc<Inbox>);

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.commits.end("the writer of the data directory panicked; restart the server");
        }
    }
}

/// The only user of the file.
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) queues: Queues,
    pub(super) inbox: Arc<Inbox>,
}

impl Writer {
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
            let Err(error) = self.attempt(batch) else {
                if failed {
                    tracing::info!("changes are stored again");
                }
                let (duration, commits) = (stopwatch.elapsed(), &self.inbox.commits);
                let committed = Committed { waiting: commits.waiting(), duration };
                commits.stored(batch.recorded, duration);
                return Some(committed);
            };
            if !failed {
                tracing::error!(%error, "cannot store changes; requests fail until they are stored");
            }
            failed = true;
            self.inbox.commits.failed(&error.to_string());
            if self.inbox.closed_within(RETRY) {
                tracing::error!("stopped without storing the last changes, which were not confirmed");
                return None;
            }
        }
    }

    /// All statements can be repeated: a failed transaction is tried again.
    fn attempt(&mut self, batch: &Batch) -> Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut queues = QueueWriter::new(&transaction, &mut self.queues);
        let mut messages = topics::PublishedCounts::new();
        for change in &batch.changes {
            match change {
                Recorded::Sqs(Change::Queue(id, changes)) => {
                    changes.iter().try_for_each(|change| queues.apply(id, change))?;
                }
                Recorded::Sqs(Change::MoveTask(change)) => tasks::apply(&transaction, change)?,
                Recorded::Sqs(Change::ClockSet(setting)) => set_clock(&transaction, *setting)?,
                Recorded::Sqs(Change::Reset) => queues.reset()?,
                Recorded::Topic(topic, change) => topics::apply(&transaction, *topic, change, &mut messages)?,
                Recorded::Waiting(change) => waiting::apply(&transaction, change)?,
            }
        }
        topics::finish(&transaction, &messages)?;
        let deleted = queues.finish()?;
        transaction.commit()?;
        self.queues.forget(&deleted);
        self.measure();
        Ok(())
    }

    /// Notes the size of the file. It includes what is still in the write-ahead log.
    fn measure(&self) {
        let count = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        if let (Ok(pages), Ok(bytes)) = (count("page_count"), count("page_size")) {
            self.inbox.commits.set_stored_bytes((pages * bytes).unsigned_abs());
        }
    }
}

fn set_clock(transaction: &Connection, setting: ClockSetting) -> Result<()> {
    let (name, value) = match setting {
        ClockSetting::Running(offset) => ("clock offset", offset),
        ClockSetting::Frozen(at) => ("clock frozen at", millis(at)),
    };
    execute(transaction, "DELETE FROM setting WHERE name LIKE 'clock %'", params![])?;
    execute(transaction, "INSERT INTO setting VALUES (?, ?)", params![name, value])
}
