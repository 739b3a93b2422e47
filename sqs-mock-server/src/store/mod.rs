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
//! takes no changes until all of them have arrived, see [`Commits::together`](crate::service::commits::Commits::together).
//!
//! If a transaction fails, the writer keeps its changes and tries again; meanwhile, requests fail and nothing is
//! confirmed.

mod inbox;
#[cfg(test)]
mod inbox_tests;
mod messages;
#[cfg(test)]
mod migration_tests;
mod open;
mod queues;
mod restore;
mod row;
mod tasks;
mod topics;
#[cfg(test)]
mod topics_tests;
mod waiting;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::{fmt, io};

use serde::Deserialize;

use crate::service::clock::Clock;
use crate::sns::engine::TopicReader;
use crate::sns::ops::Restored as RestoredTopics;
use crate::sqs::ops::Restored;
use crate::sqs::ops::changes::ChangeReader;
use inbox::Inbox;
use writer::Writer;

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
                topics: topics::read(&connection).map_err(explained)?,
                waiting: waiting::read(&connection).map_err(explained)?,
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
