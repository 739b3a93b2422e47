//! Reads the tables.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, mpsc};

use rusqlite::{Connection, OptionalExtension as _, Result, Row};
use sqs_client::types::QueueAttributeName;
use sqs_client::wire::checksum;

use crate::control::arn::QueueArn;
use crate::control::clock::ClockSetting;
use crate::control::seed::Seed;
use crate::sqs::engine::attributes::{Attributes, Tags};
use crate::sqs::engine::change::{Creation, QueueId};
use crate::sqs::engine::messages::Payload;
use crate::sqs::engine::send::Known;
use crate::sqs::engine::state::QueueState;
use crate::sqs::ops::restore::Restored;
use crate::store::open::{damaged_column, from_json, time, timestamp, unsigned};
use crate::store::queues;
use crate::store::queues::{Queues, SELECT_MESSAGES, Texts, message, queue_of};

/// The number of bodies that another thread checks at once.
const CHECKED_AT_ONCE: usize = 256;

/// The number of such groups that may wait.
const CHECKED_AHEAD: usize = 16;

/// Queues, move tasks and settings, and the numbers of the queues.
pub(crate) fn read(connection: &Connection) -> Result<(Restored, Queues)> {
    let mut queues = Queues::default();
    let mut restored = Restored {
        clock: clock(connection)?,
        deletions: setting(connection, "deletions")?.unwrap_or(0).cast_unsigned(),
        starts: setting(connection, "starts")?.unwrap_or(0).cast_unsigned(),
        tasks: queues::read(connection)?,
        ..Restored::default()
    };
    let mut states = States::new();
    let mut select = connection.prepare(
        "SELECT number, region, account, name, incarnation, created, modified, purged, deleted, seed, attributes, \
         deduplication_scope, tags, next_ticket FROM queue ORDER BY deleted",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let number = row.get(0)?;
        queues.last_number = queues.last_number.max(number);
        let [region, account, name] = [1, 2, 3].map(|column| row.get::<_, String>(column));
        let arn = QueueArn::new(&region?, &account?, &name?);
        if row.get::<_, Option<i64>>(8)?.is_some() {
            restored.deleted.push((arn, time(row, 8)?));
            continue;
        }
        let state = state(row, &arn.name)?;
        let id = QueueId { arn: Arc::new(arn), incarnation: unsigned(row, 4)? };
        queues.numbers.insert(id.clone(), number);
        states.insert(number, (id, state));
    }
    messages(connection, &mut states)?;
    deduplication(connection, &mut states)?;
    restored.queues = states.into_values().collect();
    Ok((restored, queues))
}

/// By the numbers of the queues.
type States = BTreeMap<i64, (QueueId, QueueState)>;

fn state(row: &Row<'_>, name: &str) -> Result<QueueState> {
    let requested: HashMap<QueueAttributeName, String> = from_json(row, 10)?.unwrap_or_default();
    let attributes = Attributes::restore(name, requested)
        .map_err(|error| damaged_column(10, error.message.clone().unwrap_or_default()))?;
    let tags: HashMap<String, String> = from_json(row, 12)?.unwrap_or_default();
    let tags =
        Tags::new(tags).map_err(|error| damaged_column(12, error.message.clone().unwrap_or_default()))?;
    let seed = Seed(row.get::<_, i64>(9)?.cast_unsigned());
    let mut state = QueueState::new(Creation { at: time(row, 5)?, seed, attributes, tags });
    state.modified = time(row, 6)?;
    state.purged = row.get::<_, Option<i64>>(7)?.map(|millis| timestamp(millis, 7)).transpose()?;
    let scope: String = row.get(11)?;
    let unknown = |_| damaged_column(11, format!("{scope:?} is not a deduplication scope"));
    state.deduplication_scope = scope.parse().map_err(unknown)?;
    state.next_ticket = unsigned(row, 13)?;
    Ok(state)
}

/// Reads the messages, while another thread checks their bodies: of a large file, that takes a quarter of the time of the
/// start.
fn messages(connection: &Connection, states: &mut States) -> Result<()> {
    let (bodies, to_check) = mpsc::sync_channel::<Vec<Arc<Payload>>>(CHECKED_AHEAD);
    let check = |payload: Arc<Payload>| checksum::md5_of_body(&payload.body) == payload.md5_of_body();
    let checker = std::thread::spawn(move || to_check.into_iter().flatten().all(check));
    // An error means that the checker has found a damaged body and ended.
    let read = read_messages(connection, states, |payloads| drop(bodies.send(payloads)));
    // Ends the checker, after the last body.
    drop(bodies);
    let is_intact = checker.join().unwrap_or(false);
    read?;
    let damage = || damaged_column(19, "the body of a message does not have its checksum".to_owned());
    if is_intact { Ok(()) } else { Err(damage()) }
}

fn read_messages(
    connection: &Connection,
    states: &mut States,
    check: impl Fn(Vec<Arc<Payload>>),
) -> Result<()> {
    let mut select = connection.prepare(SELECT_MESSAGES)?;
    let mut rows = select.query([])?;
    let (mut texts, mut unchecked) = (Texts::default(), Vec::new());
    while let Some(row) = rows.next()? {
        let read = message(row, &mut texts)?;
        unchecked.push(Arc::clone(&read.core.payload));
        if unchecked.len() == CHECKED_AT_ONCE {
            check(std::mem::take(&mut unchecked));
        }
        let state = queue(states, queue_of(row.get(0)?), "message")?;
        state.next_ticket = state.next_ticket.max(read.ticket + 1);
        state.messages.insert(read.ticket, read);
    }
    check(unchecked);
    Ok(())
}

fn deduplication(connection: &Connection, states: &mut States) -> Result<()> {
    let mut select =
        connection.prepare("SELECT queue, ends, mark, ticket FROM deduplication ORDER BY queue, ends")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let mark = u128::from_be_bytes(row.get(2)?);
        let state = queue(states, row.get(0)?, "deduplication id")?;
        state.deduplication.push(Known { mark, forget: time(row, 1)?, ticket: unsigned(row, 3)? });
    }
    Ok(())
}

fn clock(connection: &Connection) -> Result<Option<ClockSetting>> {
    if let Some(at) = setting(connection, "clock frozen at")? {
        return timestamp(at, 0).map(ClockSetting::Frozen).map(Some);
    }
    Ok(setting(connection, "clock offset")?.map(ClockSetting::Running))
}

fn setting(connection: &Connection, name: &str) -> Result<Option<i64>> {
    let select = "SELECT value FROM setting WHERE name = ?";
    connection.query_row(select, [name], |row| row.get(0)).optional()
}

/// The queue that something belongs to.
fn queue<'a>(states: &'a mut States, number: i64, what: &str) -> Result<&'a mut QueueState> {
    let missing = || damaged_column(0, format!("a {what} belongs to queue {number}, which is not there"));
    states.get_mut(&number).map(|(_, state)| state).ok_or_else(missing)
}
