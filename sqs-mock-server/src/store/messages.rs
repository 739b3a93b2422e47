//! Messages and deduplication ids in their tables.

/// The columns of a message, in the order of [`message`].
macro_rules! message_columns {
    () => {
        "id, slot, turn, state, visible_at, received, receives, receives_elsewhere, first_received, message_id, sent, \
         retained_since, sender, message_group, deduplication_id, source, trace_header, attributes, md5_of_body, body"
    };
}

mod read;

use rusqlite::{Connection, Result, params};

use super::row::{execute, integer, json, millis};
use crate::service::clock::Timestamp;
use crate::sqs::engine::{Delivered, Known, State, StoredMessage};

pub(super) use read::{SELECT_MESSAGES, Texts, message, queue_of};

/// Bits of a message id for its number in the queue.
const TICKET_BITS: u32 = 40;

/// Takes the columns in their order.
const INSERT_MESSAGE: &str = concat!(
    "INSERT OR REPLACE INTO message (",
    message_columns!(),
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
);

/// The id of a message.
fn message_id(queue: i64, ticket: u64) -> i64 {
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

/// Notes a receive of a message.
pub(super) fn deliver(
    connection: &Connection,
    queue: i64,
    at: Timestamp,
    delivered: &Delivered,
) -> Result<()> {
    let update = "UPDATE message SET state = 'in flight', visible_at = ?1, received = ?2, receives = ?3, \
                  first_received = iif(receives = 0, ?2, first_received) WHERE id = ?4";
    let id = message_id(queue, delivered.ticket);
    execute(connection, update, params![millis(delivered.until), millis(at), delivered.receives, id])
}

/// Hides or shows a message.
pub(super) fn set_state(
    connection: &Connection,
    (queue, ticket): (i64, u64),
    new: State,
    turn: u64,
) -> Result<()> {
    let update = "UPDATE message SET state = ?, visible_at = ?, turn = ? WHERE id = ?";
    let (name, until) = state(new);
    execute(connection, update, params![name, until, integer(turn), message_id(queue, ticket)])
}

/// Removes a message.
pub(super) fn remove(connection: &Connection, queue: i64, ticket: u64) -> Result<()> {
    execute(connection, "DELETE FROM message WHERE id = ?", params![message_id(queue, ticket)])
}

/// Stores a deduplication id.
pub(super) fn deduplicate(connection: &Connection, queue: i64, known: Known) -> Result<()> {
    let insert = "INSERT OR REPLACE INTO deduplication (queue, ends, mark, ticket) VALUES (?, ?, ?, ?)";
    let (ends, mark) = (millis(known.forget), known.mark.to_be_bytes());
    execute(connection, insert, params![queue, ends, mark, integer(known.ticket)])
}

/// Removes all messages and deduplication ids of a queue.
pub(super) fn clear(connection: &Connection, queue: i64) -> Result<()> {
    let range = params![message_id(queue, 0), message_id(queue + 1, 0)];
    execute(connection, "DELETE FROM message WHERE id >= ? AND id < ?", range)?;
    execute(connection, "DELETE FROM deduplication WHERE queue = ?", params![queue])
}

/// The name of a state, and when it ends.
fn state(state: State) -> (&'static str, Option<i64>) {
    match state {
        State::Available => ("available", None),
        State::Delayed { until } => ("delayed", Some(millis(until))),
        State::InFlight { until } => ("in flight", Some(millis(until))),
    }
}
