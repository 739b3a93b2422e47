//! Writes changes of queues.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::{Connection, Result, Row, params};
use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum;
use sqs_client::wire::checksum::Md5Hex;

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Uuid;
use crate::sqs::engine::change::{Creation, QueueChange, QueueId};
use crate::sqs::engine::directory::COOL_DOWN;
use crate::sqs::engine::messages::{Checksums, Core, Payload, Slot, State, StoredMessage};
use crate::sqs::engine::move_task::{MAX_TASKS_OF_SOURCE, MoveStatus, MoveTask, MoveTaskChange, NewMoveTask};
use crate::sqs::engine::send::Known;
use crate::store::open::{
    arn, damaged_column, execute, from_json, integer, json, millis, parse_arn, time, timestamp, unsigned,
};

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
pub(crate) struct Queues {
    pub(crate) numbers: HashMap<QueueId, i64>,
    pub(crate) last_number: i64,
    /// When the rows of deleted queues were last removed.
    cleaned: Option<Timestamp>,
}

impl Queues {
    /// Removes deleted queues, after their transaction.
    pub(crate) fn forget(&mut self, deleted: &HashSet<QueueId>) {
        for id in deleted {
            self.numbers.remove(id);
        }
    }
}

/// Writes changes of queues in one transaction.
pub(crate) struct QueueWriter<'a> {
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
    pub(crate) fn new(transaction: &'a Connection, queues: &'a mut Queues) -> Self {
        let (tickets, deduplicated) = (HashMap::new(), HashMap::new());
        Self { transaction, queues, tickets, deduplicated, deleted: HashSet::new() }
    }

    /// Ends the transaction. Returns the deleted queues.
    pub(crate) fn finish(self) -> Result<HashSet<QueueId>> {
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
    pub(crate) fn apply(&mut self, id: &QueueId, change: &QueueChange) -> Result<()> {
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
                clear(self.transaction, queue)
            }
            QueueChange::Deleted { at } => self.delete(id, queue, *at),
            QueueChange::MessageStored { message, deduplication } => {
                deduplication.map_or(Ok(()), |known| self.deduplicate(queue, known))?;
                self.store(queue, message)
            }
            QueueChange::MessageMoved { from, ticket, task, message } => {
                // Otherwise a move that is interrupted here would move a later message instead.
                if let Some(task) = task {
                    let update = "UPDATE move_task SET moved = moved + 1 WHERE id = ?";
                    self.execute(update, params![task.into_bytes()])?;
                }
                if let Some(from) = self.queues.numbers.get(from).copied() {
                    remove(self.transaction, from, *ticket)?;
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
                let (name, until) = columns_of_state(*state);
                self.execute(update, params![name, until, integer(*turn), message_id(queue, *ticket)])
            }
            QueueChange::MessageDeleted { ticket } => remove(self.transaction, queue, *ticket),
            QueueChange::MessagesExpired { tickets } => {
                tickets.iter().try_for_each(|ticket| remove(self.transaction, queue, *ticket))
            }
        }
    }

    /// Empties all tables but the settings, also those of topics that a server with topics has stored. Later changes of the
    /// present queues have no effect.
    pub(crate) fn reset(&mut self) -> Result<()> {
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
                scope.into_str(),
                json(tags.all())?,
            ],
        )?;
        // Later queues of this name must differ from this one, also after it was deleted and forgotten.
        let raise = "INSERT INTO setting VALUES ('deletions', ?1) \
                     ON CONFLICT (name) DO UPDATE SET value = max(value, ?1)";
        self.execute(raise, params![integer(id.incarnation + 1)])
    }

    fn delete(&mut self, id: &QueueId, queue: i64, at: Timestamp) -> Result<()> {
        clear(self.transaction, queue)?;
        self.execute("UPDATE queue SET deleted = ? WHERE number = ?", params![millis(at), queue])?;
        self.execute("DELETE FROM move_task WHERE source = ?", params![id.arn.to_string()])?;
        // Their names are free again. This reads all rows, so that it is not done for each.
        let over = at.saturating_before(COOL_DOWN);
        if self.queues.cleaned.is_none_or(|cleaned| cleaned <= over) {
            self.execute("DELETE FROM queue WHERE deleted <= ?", params![millis(over)])?;
            self.queues.cleaned = Some(at);
        }
        self.deleted.insert(id.clone());
        Ok(())
    }

    fn store(&mut self, queue: i64, message: &StoredMessage) -> Result<()> {
        let next = self.tickets.entry(queue).or_default();
        *next = (*next).max(message.ticket + 1);
        store(self.transaction, queue, message)
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

/// Bits of a message id for its number in the queue.
const TICKET_BITS: u32 = 40;

/// The columns of a message, in the order of [`message`].
macro_rules! message_columns {
    () => {
        "id, slot, turn, state, visible_at, received, receives, receives_elsewhere, first_received, message_id, sent, \
         retained_since, sender, message_group, deduplication_id, source, trace_header, attributes, md5_of_body, body"
    };
}

/// Takes the columns in their order.
const INSERT_MESSAGE: &str = concat!(
    "INSERT OR REPLACE INTO message (",
    message_columns!(),
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
);

/// All messages, by queue, oldest first.
pub(crate) const SELECT_MESSAGES: &str = concat!("SELECT ", message_columns!(), " FROM message ORDER BY id");

/// The id of a message.
pub(crate) fn message_id(queue: i64, ticket: u64) -> i64 {
    (queue << TICKET_BITS) | integer(ticket)
}

/// Stores a message.
pub(crate) fn store(connection: &Connection, queue: i64, message: &StoredMessage) -> Result<()> {
    let (name, until) = columns_of_state(message.state);
    let core = &message.core;
    let payload = &core.payload;
    let attributes = payload.attributes().map(json).transpose()?;
    execute(
        connection,
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
            core.id.into_bytes(),
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

/// Removes a message.
pub(crate) fn remove(connection: &Connection, queue: i64, ticket: u64) -> Result<()> {
    execute(connection, "DELETE FROM message WHERE id = ?", params![message_id(queue, ticket)])
}

/// Removes all messages and deduplication ids of a queue.
pub(crate) fn clear(connection: &Connection, queue: i64) -> Result<()> {
    let range = params![message_id(queue, 0), message_id(queue + 1, 0)];
    execute(connection, "DELETE FROM message WHERE id >= ? AND id < ?", range)?;
    execute(connection, "DELETE FROM deduplication WHERE queue = ?", params![queue])
}

/// The name of a state, and when it ends.
pub(crate) fn columns_of_state(state: State) -> (&'static str, Option<i64>) {
    match state {
        State::Available => ("available", None),
        State::Delayed { until } => ("delayed", Some(millis(until))),
        State::InFlight { until } => ("in flight", Some(millis(until))),
    }
}

/// The number of the queue in a message id.
pub(crate) fn queue_of(message_id: i64) -> i64 {
    message_id >> TICKET_BITS
}

/// Reads a message. Whether the body has its checksum remains to be checked.
pub(crate) fn message(row: &Row<'_>, texts: &mut Texts) -> Result<StoredMessage> {
    let state = match (&*row.get::<_, String>(3)?, row.get::<_, Option<i64>>(4)?) {
        ("available", None) => State::Available,
        ("delayed", Some(until)) => State::Delayed { until: timestamp(until, 4)? },
        ("in flight", Some(until)) => State::InFlight { until: timestamp(until, 4)? },
        (other, _) => return Err(damaged_column(3, format!("a message has the state {other:?}"))),
    };
    let attributes: Option<HashMap<String, MessageAttributeValue>> = from_json(row, 17)?;
    let body: String = row.get(19)?;
    let checksums = Checksums {
        md5_of_body: Md5Hex::from_hash(row.get(18)?),
        md5_of_attributes: attributes.as_ref().and_then(checksum::md5_of_attributes),
    };
    let (receives, receives_elsewhere): (u32, u32) = (row.get(6)?, row.get(7)?);
    if receives_elsewhere > receives {
        return Err(damaged_column(
            7,
            format!("a message has {receives} receives, {receives_elsewhere} of them elsewhere"),
        ));
    }
    let sender = texts.shared(row.get(12)?);
    Ok(StoredMessage {
        ticket: unsigned(row, 0)? & ((1 << TICKET_BITS) - 1),
        slot: Slot(row.get(1)?),
        turn: unsigned(row, 2)?,
        state,
        received: time(row, 5)?,
        group: row.get::<_, Option<String>>(13)?.map(|group| texts.shared(group)),
        core: Core {
            payload: Arc::new(Payload::new(body, attributes, checksums, row.get(16)?, sender)),
            id: Uuid::from_bytes(row.get(9)?),
            sent: time(row, 10)?,
            born: time(row, 11)?,
            first_received: time(row, 8)?,
            receives,
            receives_elsewhere,
            deduplication_id: row.get::<_, Option<String>>(14)?.map(Into::into),
            source: texts.arn(row, 15)?,
        },
    })
}

/// Values that many messages have, each stored once.
#[derive(Default)]
pub(crate) struct Texts {
    texts: HashMap<String, Arc<str>>,
    arns: HashMap<String, Arc<QueueArn>>,
}

impl Texts {
    fn shared(&mut self, text: String) -> Arc<str> {
        Arc::clone(self.texts.entry(text).or_insert_with_key(|text| text.as_str().into()))
    }

    fn arn(&mut self, row: &Row<'_>, column: usize) -> Result<Option<Arc<QueueArn>>> {
        let Some(text) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
        if let Some(known) = self.arns.get(&text) {
            return Ok(Some(Arc::clone(known)));
        }
        let new = Arc::new(parse_arn(&text, column)?);
        self.arns.insert(text, Arc::clone(&new));
        Ok(Some(new))
    }
}

/// Writes a change.
pub(crate) fn apply(connection: &Connection, change: &MoveTaskChange) -> Result<()> {
    match change {
        MoveTaskChange::Updated(task) => update(connection, task),
        MoveTaskChange::Forgotten(source) => {
            execute(connection, "DELETE FROM move_task WHERE source = ?", params![source.to_string()])
        }
    }
}

fn update(connection: &Connection, task: &MoveTask) -> Result<()> {
    let insert = "INSERT INTO move_task (id, source, destination, messages_per_second, to_move, moved, started, \
                  status, failure_reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET \
                  moved = max(moved, excluded.moved), status = excluded.status, failure_reason = excluded.failure_reason";
    let order = &task.order;
    let reason = match &task.status {
        MoveStatus::Failed(reason) => Some(reason.into_str()),
        _ => None,
    };
    execute(
        connection,
        insert,
        params![
            task.id.into_bytes(),
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
    if task.moved > 0 {
        return Ok(());
    }
    let delete = "DELETE FROM move_task WHERE source = ?1 AND number IN \
                  (SELECT number FROM move_task WHERE source = ?1 ORDER BY number DESC LIMIT -1 OFFSET ?2)";
    execute(connection, delete, params![order.source.to_string(), integer(MAX_TASKS_OF_SOURCE as u64)])
}

/// All tasks, in the order of their start.
pub(crate) fn read(connection: &Connection) -> Result<Vec<MoveTask>> {
    let mut select = connection.prepare(
        "SELECT id, source, destination, messages_per_second, to_move, moved, started, status, failure_reason \
         FROM move_task ORDER BY number",
    )?;
    let tasks = select.query_map([], |row| {
        let status: String = row.get(7)?;
        let reason: Option<String> = row.get(8)?;
        let unknown = || damaged_column(7, format!("{status:?} is not the status of a move task"));
        let source = arn(row, 1)?.ok_or_else(|| damaged_column(1, "a move task has no source".to_owned()))?;
        Ok(MoveTask {
            id: Uuid::from_bytes(row.get(0)?),
            order: NewMoveTask {
                source: Arc::new(source),
                destination: arn(row, 2)?.map(Arc::new),
                rate: row.get(3)?,
                to_move: unsigned(row, 4)?,
            },
            started: time(row, 6)?,
            moved: unsigned(row, 5)?,
            status: MoveStatus::parse(&status, reason.as_deref()).ok_or_else(unknown)?,
        })
    })?;
    tasks.collect()
}
