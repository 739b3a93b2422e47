//! Writes changes of queues.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Result, params};

use super::messages::{self, message_id};
use super::row::{execute, integer, json, millis};
use crate::service::clock::Timestamp;
use crate::sqs::engine::{COOL_DOWN, Creation, Known, QueueChange, QueueId, StoredMessage};

/// All tables but that of settings.
const TABLES: [&str; 8] = [
    "queue",
    "message",
    "deduplication",
    "move_task",
    "topic",
    "subscription",
    "topic_deduplication",
    "waiting_delivery",
];

/// The numbers of the queues.
#[derive(Debug, Default)]
pub(super) struct Queues {
    pub(super) numbers: HashMap<QueueId, i64>,
    pub(super) last_number: i64,
}

impl Queues {
    /// Removes deleted queues, after their transaction.
    pub(super) fn forget(&mut self, deleted: &HashSet<QueueId>) {
        if deleted.is_empty() {
            return;
        }
        self.numbers.retain(|id, _| !deleted.contains(id));
    }
}

/// Writes changes of queues in one transaction.
pub(super) struct QueueWriter<'a> {
    transaction: &'a Connection,
    queues: &'a mut Queues,
    /// The next tickets of queues with new messages.
    tickets: HashMap<i64, u64>,
    /// Queues with new deduplication ids, and the time of the latest.
    deduplicated: HashMap<i64, Timestamp>,
    /// Queues whose later changes have no effect.
    deleted: HashSet<QueueId>,
}

impl<'a> QueueWriter<'a> {
    pub(super) fn new(transaction: &'a Connection, queues: &'a mut Queues) -> Self {
        let (tickets, deduplicated) = (HashMap::new(), HashMap::new());
        Self { transaction, queues, tickets, deduplicated, deleted: HashSet::new() }
    }

    /// Ends the transaction. Returns the deleted queues.
    pub(super) fn finish(self) -> Result<HashSet<QueueId>> {
        for (queue, ticket) in &self.tickets {
            let update = "UPDATE queue SET next_ticket = max(next_ticket, ?) WHERE number = ?";
            self.execute(update, params![integer(*ticket), queue])?;
        }
        for (queue, now) in &self.deduplicated {
            let delete = "DELETE FROM deduplication WHERE queue = ? AND ends <= ?";
            self.execute(delete, params![queue, millis(*now)])?;
        }
        Ok(self.deleted)
    }

    /// Writes a change.
    pub(super) fn apply(&mut self, id: &QueueId, change: &QueueChange) -> Result<()> {
        if let QueueChange::Created(creation) = change {
            return self.create(id, creation);
        }
        let known = self.queues.numbers.get(id).filter(|_| !self.deleted.contains(id));
        let Some(queue) = known.copied() else { return Ok(()) };
        match change {
            QueueChange::Created(_) => Ok(()),
            QueueChange::AttributesSet { attributes, at } => {
                let update = "UPDATE queue SET attributes = ?, modified = ? WHERE number = ?";
                self.execute(update, params![json(&attributes.to_requested())?, millis(*at), queue])
            }
            QueueChange::TagsSet(tags) => {
                self.execute("UPDATE queue SET tags = ? WHERE number = ?", params![json(tags.all())?, queue])
            }
            QueueChange::Purged { at } => {
                self.execute("UPDATE queue SET purged = ? WHERE number = ?", params![millis(*at), queue])?;
                messages::clear(self.transaction, queue)
            }
            QueueChange::Deleted { at } => self.delete(id, queue, *at),
            QueueChange::MessageStored { message, deduplication } => {
                deduplication.map_or(Ok(()), |known| self.deduplicate(queue, known))?;
                self.store(queue, message)
            }
            QueueChange::MessageMoved { from, ticket, message } => {
                if let Some(from) = self.queues.numbers.get(from).copied() {
                    messages::remove(self.transaction, from, *ticket)?;
                }
                self.store(queue, message)
            }
            QueueChange::MessagesDelivered { at, messages } => {
                let update = "UPDATE message SET state = 'in flight', visible_at = ?1, received = ?2, receives = ?3, \
                              first_received = iif(receives = 0, ?2, first_received) WHERE id = ?4";
                messages.iter().try_for_each(|delivered| {
                    let id = message_id(queue, delivered.ticket);
                    self.execute(
                        update,
                        params![millis(delivered.until), millis(*at), delivered.receives, id],
                    )
                })
            }
            QueueChange::VisibilityChanged { ticket, state, turn } => {
                let update = "UPDATE message SET state = ?, visible_at = ?, turn = ? WHERE id = ?";
                let (name, until) = messages::state(*state);
                self.execute(update, params![name, until, integer(*turn), message_id(queue, *ticket)])
            }
            QueueChange::MessageDeleted { ticket } => messages::remove(self.transaction, queue, *ticket),
            QueueChange::MessagesExpired { tickets } => {
                tickets.iter().try_for_each(|ticket| messages::remove(self.transaction, queue, *ticket))
            }
        }
    }

    /// Empties all tables but the settings, also those of topics that a server with topics has stored. Later changes of the
    /// present queues have no effect.
    pub(super) fn reset(&mut self) -> Result<()> {
        for table in TABLES {
            self.execute(&format!("DELETE FROM {table}"), [])?;
        }
        self.deleted.extend(self.queues.numbers.keys().cloned());
        Ok(())
    }

    fn create(&mut self, id: &QueueId, creation: &Creation) -> Result<()> {
        let number = self.queues.numbers.get(id).copied().unwrap_or(self.queues.last_number + 1);
        self.queues.last_number = self.queues.last_number.max(number);
        self.queues.numbers.insert(id.clone(), number);
        // A second attempt finds it among those that the reset has removed.
        self.deleted.remove(id);
        let insert = "INSERT OR REPLACE INTO queue (number, region, account, name, incarnation, created, modified, seed, \
                      attributes, deduplication_scope, tags, next_ticket) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9, ?10, 0)";
        let Creation { at, seed, attributes, tags } = creation;
        let scope = attributes.fifo.map(|fifo| fifo.deduplication_scope).unwrap_or_default();
        let arn = &id.arn;
        self.execute(
            insert,
            params![
                number,
                arn.region,
                arn.account,
                arn.name,
                integer(id.incarnation),
                millis(*at),
                seed.0.cast_signed(),
                json(&attributes.to_requested())?,
                scope.as_str(),
                json(tags.all())?,
            ],
        )?;
        // Later queues of this name must differ from this one, also after it was deleted and forgotten.
        let raise = "INSERT INTO setting VALUES ('deletions', ?1) \
                     ON CONFLICT (name) DO UPDATE SET value = max(value, ?1)";
        self.execute(raise, params![integer(id.incarnation + 1)])
    }

    fn delete(&mut self, id: &QueueId, queue: i64, at: Timestamp) -> Result<()> {
        messages::clear(self.transaction, queue)?;
        self.execute("UPDATE queue SET deleted = ? WHERE number = ?", params![millis(at), queue])?;
        self.execute("DELETE FROM move_task WHERE source = ?", params![id.arn.to_string()])?;
        // Their names are free again.
        let over = millis(at.saturating_before(COOL_DOWN));
        self.execute("DELETE FROM queue WHERE deleted <= ?", params![over])?;
        self.deleted.insert(id.clone());
        Ok(())
    }

    fn store(&mut self, queue: i64, message: &StoredMessage) -> Result<()> {
        let next = self.tickets.entry(queue).or_default();
        *next = (*next).max(message.ticket + 1);
        messages::store(self.transaction, queue, message)
    }

    fn deduplicate(&mut self, queue: i64, known: Known) -> Result<()> {
        let latest = self.deduplicated.entry(queue).or_insert(known.sent());
        *latest = (*latest).max(known.sent());
        let insert = "INSERT OR REPLACE INTO deduplication (queue, ends, mark, ticket) VALUES (?, ?, ?, ?)";
        let (ends, mark) = (millis(known.forget), known.mark.to_be_bytes());
        self.execute(insert, params![queue, ends, mark, integer(known.ticket)])
    }

    fn execute(&self, statement: &str, parameters: impl rusqlite::Params) -> Result<()> {
        execute(self.transaction, statement, parameters)
    }
}
