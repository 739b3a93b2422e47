//! Writes changes into the tables.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Result, params};

use super::row::{INSERT_MESSAGE, integer, json, message_id, millis, state};
use crate::service::clock::{ClockSetting, Timestamp};
use crate::sqs::engine::{
    COOL_DOWN, Creation, Known, MAX_TASKS_OF_SOURCE, MoveStatus, MoveTask, MoveTaskChange, QueueChange,
    QueueId, StoredMessage,
};
use crate::sqs::ops::changes::Change;

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

/// Writes changes in one transaction. All statements can be repeated: a failed transaction is tried again.
pub(super) struct Applier<'a> {
    transaction: &'a Connection,
    queues: &'a mut Queues,
    /// The next tickets of queues with new messages.
    tickets: HashMap<i64, u64>,
    /// Queues with new deduplication ids, and the time of the latest.
    deduplicated: HashMap<i64, Timestamp>,
    /// Queues whose later changes have no effect.
    deleted: HashSet<QueueId>,
}

impl<'a> Applier<'a> {
    pub(super) fn new(transaction: &'a Connection, queues: &'a mut Queues) -> Self {
        let (tickets, deduplicated) = (HashMap::new(), HashMap::new());
        Self { transaction, queues, tickets, deduplicated, deleted: HashSet::new() }
    }

    pub(super) fn apply(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::Queue(id, changes) => changes.iter().try_for_each(|change| self.queue(id, change)),
            Change::MoveTask(MoveTaskChange::Updated(task)) => self.task(task),
            Change::MoveTask(MoveTaskChange::Forgotten(source)) => {
                self.execute("DELETE FROM move_task WHERE source = ?", params![source.to_string()])
            }
            Change::ClockSet(setting) => self.clock(*setting),
            Change::Reset => self.reset(),
        }
    }

    /// Ends the transaction. Returns the deleted queues.
    pub(super) fn finish(self) -> Result<HashSet<QueueId>> {
        for (queue, ticket) in &self.tickets {
            let update = "UPDATE queue SET next_ticket = max(next_ticket, ?) WHERE number = ?";
            self.execute(update, params![integer(*ticket), queue])?;
        }
        for (queue, now) in &self.deduplicated {
            self.execute(
                "DELETE FROM deduplication WHERE queue = ? AND ends <= ?",
                params![queue, millis(*now)],
            )?;
        }
        Ok(self.deleted)
    }

    fn queue(&mut self, id: &QueueId, change: &QueueChange) -> Result<()> {
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
                self.clear(queue)
            }
            QueueChange::Deleted { at } => self.delete(id, queue, *at),
            QueueChange::MessageStored { message, deduplication } => {
                deduplication.map_or(Ok(()), |known| self.deduplicate(queue, known))?;
                self.store(queue, message)
            }
            QueueChange::MessageMoved { from, ticket, message } => {
                if let Some(from) = self.queues.numbers.get(from).copied() {
                    self.remove(from, *ticket)?;
                }
                self.store(queue, message)
            }
            QueueChange::MessagesDelivered { at, messages } => messages.iter().try_for_each(|delivered| {
                let update = "UPDATE message SET state = 'in flight', visible_at = ?1, received = ?2, receives = ?3, \
                              first_received = iif(receives = 0, ?2, first_received) WHERE id = ?4";
                let id = message_id(queue, delivered.ticket);
                self.execute(update, params![millis(delivered.until), millis(*at), delivered.receives, id])
            }),
            QueueChange::VisibilityChanged { ticket, state: new, turn } => {
                let update = "UPDATE message SET state = ?, visible_at = ?, turn = ? WHERE id = ?";
                let (name, until) = state(*new);
                self.execute(update, params![name, until, integer(*turn), message_id(queue, *ticket)])
            }
            QueueChange::MessageDeleted { ticket } => self.remove(queue, *ticket),
            QueueChange::MessagesExpired { tickets } => {
                tickets.iter().try_for_each(|ticket| self.remove(queue, *ticket))
            }
        }
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
        self.clear(queue)?;
        self.execute("UPDATE queue SET deleted = ? WHERE number = ?", params![millis(at), queue])?;
        self.execute("DELETE FROM move_task WHERE source = ?", params![id.arn.to_string()])?;
        // Their names are free again.
        let over = millis(at.saturating_before(COOL_DOWN));
        self.execute("DELETE FROM queue WHERE deleted <= ?", params![over])?;
        self.deleted.insert(id.clone());
        Ok(())
    }

    fn clear(&mut self, queue: i64) -> Result<()> {
        let range = params![message_id(queue, 0), message_id(queue + 1, 0)];
        self.execute("DELETE FROM message WHERE id >= ? AND id < ?", range)?;
        self.execute("DELETE FROM deduplication WHERE queue = ?", params![queue])
    }

    fn store(&mut self, queue: i64, message: &StoredMessage) -> Result<()> {
        let next = self.tickets.entry(queue).or_default();
        *next = (*next).max(message.ticket + 1);
        let (name, until) = state(message.state);
        let core = &message.core;
        let payload = &core.payload;
        let attributes = payload.attributes().map(json).transpose()?;
        self.execute(
            INSERT_MESSAGE,
            params![
                message_id(queue, message.ticket),
                message.slot.0,
                integer(message.turn),
                name,
                until,
                millis(message.received),
                core.receives,
                core.receives_elsewhere,
                millis(core.first_received),
                core.id.bytes(),
                millis(core.sent),
                millis(core.born),
                payload.sender,
                message.group,
                core.deduplication_id,
                core.source.as_ref().map(ToString::to_string),
                payload.trace_header(),
                attributes,
                payload.md5_of_body().hash(),
                payload.body,
            ],
        )
    }

    fn remove(&self, queue: i64, ticket: u64) -> Result<()> {
        self.execute("DELETE FROM message WHERE id = ?", params![message_id(queue, ticket)])
    }

    fn deduplicate(&mut self, queue: i64, known: Known) -> Result<()> {
        let latest = self.deduplicated.entry(queue).or_insert(known.sent());
        *latest = (*latest).max(known.sent());
        let insert = "INSERT OR REPLACE INTO deduplication (queue, ends, mark, ticket) VALUES (?, ?, ?, ?)";
        let (ends, mark) = (millis(known.forget), known.mark.to_be_bytes());
        self.execute(insert, params![queue, ends, mark, integer(known.ticket)])
    }

    fn task(&self, task: &MoveTask) -> Result<()> {
        let insert = "INSERT INTO move_task (id, source, destination, messages_per_second, to_move, moved, started, \
                      status, failure_reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET \
                      moved = excluded.moved, status = excluded.status, failure_reason = excluded.failure_reason";
        let order = &task.order;
        let reason = match &task.status {
            MoveStatus::Failed(reason) => Some(reason.as_str()),
            _ => None,
        };
        self.execute(
            insert,
            params![
                task.id.bytes(),
                order.source.to_string(),
                order.destination.as_ref().map(ToString::to_string),
                order.rate,
                integer(order.to_move),
                integer(task.moved),
                millis(task.started),
                task.status.as_str(),
                reason,
            ],
        )?;
        // Only a new task exceeds the limit.
        if task.moved == 0 { self.forget_old_tasks(&order.source.to_string()) } else { Ok(()) }
    }

    /// Keeps as many tasks of a source as the server remembers.
    fn forget_old_tasks(&self, source: &str) -> Result<()> {
        let delete = "DELETE FROM move_task WHERE source = ?1 AND number IN \
                      (SELECT number FROM move_task WHERE source = ?1 ORDER BY number DESC LIMIT -1 OFFSET ?2)";
        self.execute(delete, params![source, integer(MAX_TASKS_OF_SOURCE as u64)])
    }

    fn clock(&self, setting: ClockSetting) -> Result<()> {
        let (name, value) = match setting {
            ClockSetting::Running(offset) => ("clock offset", offset),
            ClockSetting::Frozen(at) => ("clock frozen at", millis(at)),
        };
        self.execute("DELETE FROM setting WHERE name LIKE 'clock %'", params![])?;
        self.execute("INSERT INTO setting VALUES (?, ?)", params![name, value])
    }

    fn reset(&mut self) -> Result<()> {
        for table in ["queue", "message", "deduplication", "move_task"] {
            self.transaction.execute(&format!("DELETE FROM {table}"), [])?;
        }
        self.deleted.extend(self.queues.numbers.keys().cloned());
        Ok(())
    }

    fn execute(&self, statement: &str, parameters: impl rusqlite::Params) -> Result<()> {
        self.transaction.prepare_cached(statement)?.execute(parameters).map(drop)
    }
}
