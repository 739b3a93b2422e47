//! Messages and deduplication ids in their tables.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, Result, Row, params};
use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::{self, Md5Hex};

use super::row::{damaged, execute, from_json, integer, json, millis, parse_arn, time, timestamp, unsigned};
use crate::service::arn::QueueArn;
use crate::service::seed::Uuid;
use crate::sqs::engine::{Checksums, Core, Payload, Slot, State, StoredMessage};

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
pub(super) const SELECT_MESSAGES: &str = concat!("SELECT ", message_columns!(), " FROM message ORDER BY id");

/// The id of a message.
pub(super) fn message_id(queue: i64, ticket: u64) -> i64 {
    (queue << TICKET_BITS) | integer(ticket)
}

/// Stores a message.
pub(super) fn store(connection: &Connection, queue: i64, message: &StoredMessage) -> Result<()> {
    let (name, until) = state(message.state);
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

/// Removes a message.
pub(super) fn remove(connection: &Connection, queue: i64, ticket: u64) -> Result<()> {
    execute(connection, "DELETE FROM message WHERE id = ?", params![message_id(queue, ticket)])
}

/// Removes all messages and deduplication ids of a queue.
pub(super) fn clear(connection: &Connection, queue: i64) -> Result<()> {
    let range = params![message_id(queue, 0), message_id(queue + 1, 0)];
    execute(connection, "DELETE FROM message WHERE id >= ? AND id < ?", range)?;
    execute(connection, "DELETE FROM deduplication WHERE queue = ?", params![queue])
}

/// The name of a state, and when it ends.
pub(super) fn state(state: State) -> (&'static str, Option<i64>) {
    match state {
        State::Available => ("available", None),
        State::Delayed { until } => ("delayed", Some(millis(until))),
        State::InFlight { until } => ("in flight", Some(millis(until))),
    }
}

/// The number of the queue in a message id.
pub(super) fn queue_of(message_id: i64) -> i64 {
    message_id >> TICKET_BITS
}

/// Reads a message. Whether the body has its checksum remains to be checked.
pub(super) fn message(row: &Row<'_>, texts: &mut Texts) -> Result<StoredMessage> {
    let state = match (&*row.get::<_, String>(3)?, row.get::<_, Option<i64>>(4)?) {
        ("available", None) => State::Available,
        ("delayed", Some(until)) => State::Delayed { until: timestamp(until, 4)? },
        ("in flight", Some(until)) => State::InFlight { until: timestamp(until, 4)? },
        (other, _) => return Err(damaged(3, format!("a message has the state {other:?}"))),
    };
    let attributes: Option<HashMap<String, MessageAttributeValue>> = from_json(row, 17)?;
    let body: String = row.get(19)?;
    let checksums = Checksums {
        md5_of_body: Md5Hex::from_hash(row.get(18)?),
        md5_of_attributes: attributes.as_ref().and_then(checksum::md5_of_attributes),
    };
    let (receives, receives_elsewhere): (u32, u32) = (row.get(6)?, row.get(7)?);
    if receives_elsewhere > receives {
        return Err(damaged(
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
pub(super) struct Texts {
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
