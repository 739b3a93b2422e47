//! Writes changes into the tables.

use std::collections::HashSet;

use rusqlite::{Connection, Result, params};

use super::inbox::Recorded;
use super::queues::{QueueWriter, Queues};
use super::row::{execute, millis};
use super::tasks;
#[cfg(feature = "sns")]
use super::topics::TopicWriter;
#[cfg(feature = "sns")]
use super::waiting;
use crate::service::clock::ClockSetting;
use crate::sqs::engine::QueueId;
use crate::sqs::ops::changes::Change;

/// Writes changes in one transaction. All statements can be repeated: a failed transaction is tried again.
pub(super) struct Applier<'a> {
    transaction: &'a Connection,
    queues: QueueWriter<'a>,
    #[cfg(feature = "sns")]
    topics: TopicWriter<'a>,
}

impl<'a> Applier<'a> {
    pub(super) fn new(transaction: &'a Connection, queues: &'a mut Queues) -> Self {
        Self {
            transaction,
            queues: QueueWriter::new(transaction, queues),
            #[cfg(feature = "sns")]
            topics: TopicWriter::new(transaction),
        }
    }

    pub(super) fn apply(&mut self, change: &Recorded) -> Result<()> {
        match change {
            Recorded::Sqs(change) => self.sqs(change),
            #[cfg(feature = "sns")]
            Recorded::Topic(topic, changes) => {
                changes.iter().try_for_each(|change| self.topics.apply(*topic, change))
            }
            #[cfg(feature = "sns")]
            Recorded::Waiting(change) => waiting::apply(self.transaction, change),
        }
    }

    /// Ends the transaction. Returns the deleted queues.
    pub(super) fn finish(self) -> Result<HashSet<QueueId>> {
        #[cfg(feature = "sns")]
        self.topics.finish()?;
        self.queues.finish()
    }

    fn sqs(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::Queue(id, changes) => changes.iter().try_for_each(|change| self.queues.apply(id, change)),
            Change::MoveTask(change) => tasks::apply(self.transaction, change),
            Change::ClockSet(setting) => self.clock(*setting),
            Change::Reset => self.reset(),
        }
    }

    fn clock(&self, setting: ClockSetting) -> Result<()> {
        let (name, value) = match setting {
            ClockSetting::Running(offset) => ("clock offset", offset),
            ClockSetting::Frozen(at) => ("clock frozen at", millis(at)),
        };
        execute(self.transaction, "DELETE FROM setting WHERE name LIKE 'clock %'", params![])?;
        execute(self.transaction, "INSERT INTO setting VALUES (?, ?)", params![name, value])
    }

    /// Also removes topics that a server with topics has stored, if this one has none.
    fn reset(&mut self) -> Result<()> {
        let queues = ["queue", "message", "deduplication", "move_task"];
        let topics = ["topic", "subscription", "topic_deduplication", "waiting_delivery"];
        for table in queues.iter().chain(&topics) {
            self.transaction.execute(&format!("DELETE FROM {table}"), [])?;
        }
        self.queues.reset();
        Ok(())
    }
}
