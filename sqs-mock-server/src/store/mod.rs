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

mod apply;
mod data;
mod inbox;
#[cfg(all(test, feature = "sns"))]
mod inbox_tests;
mod messages;
#[cfg(test)]
mod migration_tests;
mod open;
mod queues;
mod restore;
mod row;
mod tasks;
#[cfg(feature = "sns")]
mod topics;
#[cfg(all(test, feature = "sns"))]
mod topics_tests;
#[cfg(feature = "sns")]
mod waiting;
mod writer;

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::service::clock::Clock;
#[cfg(feature = "sns")]
use crate::sns::ops::Restored as RestoredTopics;
#[cfg(feature = "sns")]
use crate::sns::ops::changes::TopicReader;
use crate::sqs::ops::Restored;
use crate::sqs::ops::changes::ChangeReader;
pub use data::{Data, Durability};
use inbox::Inbox;
use writer::Writer;

/// A store that is open. Dropping it writes the last changes and closes the file.
#[derive(Debug)]
pub(crate) struct Store {
    data: Data,
    inbox: Arc<Inbox>,
    writer: Option<JoinHandle<()>>,
}

/// What a store has when it is opened.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) sqs: Restored,
    #[cfg(feature = "sns")]
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
        #[cfg(feature = "sns")]
        let topics = topics::read(&connection)
            .and_then(|topics| Ok(RestoredTopics { topics, waiting: waiting::read(&connection)? }));
        #[cfg(feature = "sns")]
        let topics = topics.map_err(explained)?;
        open::prepare(&connection, data.durability).map_err(explained)?;
        let inbox = Arc::new(Inbox::new(sqs.clock, data.durability));
        let writer = Writer::new(connection, queues, Arc::clone(&inbox));
        let writer = std::thread::Builder::new().name("sqs-store".into()).spawn(move || writer.run())?;
        let contents = Contents {
            sqs,
            #[cfg(feature = "sns")]
            topics,
        };
        Ok((Self { data: data.clone(), inbox, writer: Some(writer) }, contents))
    }

    /// Where it is.
    pub(crate) fn data(&self) -> &Data {
        &self.data
    }

    /// Reads the changes of a service.
    pub(crate) fn reader(&self) -> Arc<dyn ChangeReader> {
        Arc::clone(&self.inbox) as Arc<dyn ChangeReader>
    }

    /// Reads the changes of topics.
    #[cfg(feature = "sns")]
    pub(crate) fn topic_reader(&self) -> Arc<dyn TopicReader> {
        Arc::clone(&self.inbox) as Arc<dyn TopicReader>
    }

    /// Stores the last setting of the clock when the store closes, too.
    pub(crate) fn follow(&self, clock: &Clock) {
        self.inbox.follow(clock);
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
