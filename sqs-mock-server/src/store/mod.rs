//! Durable queues: every change of SQS goes into an SQLite file, and a later server restores them.
//!
//! ```text
//! operation -> Change -> Inbox -> writer thread: all changes since the last commit, in one transaction
//!     |                                |
//! response <---- settled() <-- Commits-+
//!
//! start: open -> check -> migrate -> Restored -> Service
//! ```
//! The changes of a queue arrive in order, because a queue passes them on under its lock. A dead letter is one change
//! of two queues, hence always in exactly one of them.
//!
//! If a transaction fails, the writer keeps its changes and tries again; meanwhile, requests fail and nothing is
//! confirmed.

mod apply;
mod data;
mod inbox;
#[cfg(test)]
mod migration_tests;
mod open;
mod restore;
mod row;
mod writer;

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::service::clock::Clock;
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

impl Store {
    /// Opens or creates the store of a directory, and reads what it has.
    ///
    /// # Errors
    /// The directory cannot be created or written, another server uses it, or its file is damaged, of a later version or
    /// not a store. The text says which, and what to do.
    pub(crate) fn open(data: &Data) -> io::Result<(Self, Restored)> {
        let connection = open::open(data)?;
        let explained = |error| open::explain(&data.file(), &error);
        let (restored, queues) = restore::read(&connection).map_err(explained)?;
        open::prepare(&connection, data.durability).map_err(explained)?;
        let inbox = Arc::new(Inbox::new(restored.clock, data.durability));
        let writer = Writer::new(connection, queues, Arc::clone(&inbox));
        let writer = std::thread::Builder::new().name("sqs-store".into()).spawn(move || writer.run())?;
        Ok((Self { data: data.clone(), inbox, writer: Some(writer) }, restored))
    }

    /// Where it is.
    pub(crate) fn data(&self) -> &Data {
        &self.data
    }

    /// Reads the changes of a service.
    pub(crate) fn reader(&self) -> Arc<dyn ChangeReader> {
        Arc::clone(&self.inbox) as Arc<dyn ChangeReader>
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
