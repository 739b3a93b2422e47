//! Durable queues and topics: every change goes into an SQLite file, and a later server restores them.
//!
//! ```text
//! operation -> Change -> Inbox -> writer thread: all changes since the last commit, in one transaction
//!     |                                |
//! response <---- settled() <-- Commits-+
//!
//! start: open -> check -> migrate -> Contents -> services
//! ```
//! The changes of a queue arrive in order, because a queue passes them on under its lock. A dead letter is one change
//! of two queues, hence always in exactly one of them. The messages of a publish are changes of many queues; the writer
//! takes no changes until all those of a step have arrived, see [`Commits::together`](crate::control::commits::Commits::together).
//!
//! If a transaction fails, the writer keeps its changes and tries again; meanwhile, requests fail and nothing is
//! confirmed.

#[cfg(test)]
pub(crate) mod inbox_tests;
#[cfg(test)]
pub(crate) mod migration_tests;
pub(crate) mod open;
pub(crate) mod queues;
pub(crate) mod restore;
pub(crate) mod topics;
#[cfg(test)]
pub(crate) mod topics_tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

use rusqlite::{Connection, Result, TransactionBehavior, params};
use serde::Deserialize;

use crate::control::clock::{Clock, ClockSetting};
use crate::control::metrics::Stopwatch;
use crate::sns::Restored as RestoredTopics;
use crate::sns::engine::topic::TopicReader;
use crate::sqs::locked_queue::{Change, ChangeReader};
use crate::sqs::ops::restore::Restored;
use crate::store::open::{execute, millis};
use crate::store::queues::{QueueWriter, Queues};
use crate::store::topics::{Batch, Committed, Inbox, Recorded};

/// The name of the file.
const FILE: &str = "sqs.db";

/// Where a server keeps queues, messages and topics, and what they survive.
///
/// ```
/// use sqs_mock_server::{Data, Durability};
///
/// let data = Data::new("./data").durability(Durability::Power);
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Data {
    /// The directory. It is created if it is missing.
    #[serde(rename = "dir")]
    pub directory: PathBuf,
    /// What acknowledged changes survive.
    #[serde(default)]
    pub durability: Durability,
}

/// What an acknowledged change survives.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Durability {
    /// The end of the process, including SIGKILL.
    #[default]
    Process,
    /// Loss of power, too: each commit waits for the disk.
    Power,
}

impl Data {
    /// A directory whose changes survive the end of the process.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), durability: Durability::default() }
    }

    /// Sets what acknowledged changes survive.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The path of the SQLite file. Copy it only while no server uses it.
    pub fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }
}

impl<P: Into<PathBuf>> From<P> for Data {
    fn from(directory: P) -> Self {
        Self::new(directory)
    }
}

impl Durability {
    /// The name in settings.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Power => "power",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A store that is open. Dropping it writes the last changes and closes the file.
#[derive(Debug)]
pub(crate) struct Store {
    /// Where it is.
    pub(crate) data: Data,
    inbox: Arc<Inbox>,
    writer: Option<JoinHandle<()>>,
}

/// What a store has when it is opened.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) sqs: Restored,
    pub(crate) topics: RestoredTopics,
}

impl Store {
    /// Opens or creates the store of a directory, and reads what it has.
    ///
    /// # Errors
    /// The directory cannot be created or written, another server uses it, or its file is damaged, of a later version or
    /// not a store. The text says which, and what to do.
    pub(crate) fn open(data: &Data) -> io::Result<(Self, Contents)> {
        let connection = open::open(data)?;
        let explained = |error| open::explain(&data.file(), &error);
        let (sqs, queues) = restore::read(&connection).map_err(explained)?;
        let inbox = Arc::new(Inbox::new(sqs.clock, data.durability));
        let contents = Contents {
            sqs,
            topics: RestoredTopics {
                topics: topics::read_topics(&connection).map_err(explained)?,
                waiting: topics::read_waiting(&connection).map_err(explained)?,
                requests: topics::read_requests(&connection).map_err(explained)?,
            },
        };
        open::prepare(&connection, data.durability).map_err(explained)?;
        let writer = Writer { connection, queues, inbox: Arc::clone(&inbox) };
        let writer = std::thread::Builder::new().name("sqs-store".into()).spawn(move || writer.run())?;
        Ok((Self { data: data.clone(), inbox, writer: Some(writer) }, contents))
    }

    /// Reads the changes of a service.
    pub(crate) fn reader(&self) -> Arc<dyn ChangeReader> {
        Arc::clone(&self.inbox) as Arc<dyn ChangeReader>
    }

    /// Reads the changes of topics.
    pub(crate) fn topic_reader(&self) -> Arc<dyn TopicReader> {
        Arc::clone(&self.inbox) as Arc<dyn TopicReader>
    }

    /// Stores the last setting of the clock when the store closes, too.
    pub(crate) fn follow(&self, clock: &Clock) {
        let _ = self.inbox.clock.set(clock.clone());
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.inbox.close();
        if let Some(Err(_)) = self.writer.take().map(JoinHandle::join) {
            tracing::error!("the writer of the data directory panicked; its last changes may be lost");
        }
    }
}

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
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) queues: Queues,
    pub(crate) inbox: Arc<Inbox>,
}

impl Writer {
    /// Writes all changes, until the inbox is closed and empty. Closing the connection moves the write-ahead log into the
    /// file.
    pub(crate) fn run(mut self) {
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
                Recorded::Sqs(Change::MoveTask(change)) => queues::apply(&transaction, change)?,
                Recorded::Sqs(Change::ClockSet(setting)) => set_clock(&transaction, *setting)?,
                Recorded::Sqs(Change::Reset) => queues.reset()?,
                Recorded::Topic(topic, change) => {
                    topics::apply_topics(&transaction, *topic, change, &mut messages)?;
                }
                Recorded::Waiting(change) => topics::apply_waiting(&transaction, change)?,
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
