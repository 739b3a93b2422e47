//! Deliveries that wait for a retry, in their table.

use rusqlite::{Connection, Result, Row, params};

use super::row::{arn, execute, from_json, integer, json, parse_arn, unsigned};
use crate::service::delivery::KeptDelivery;
use crate::sns::engine::backlog::Group;
use crate::sns::engine::{WaitingChange, WaitingDelivery};

/// Writes a change.
pub(super) fn apply(transaction: &Connection, change: &WaitingChange) -> Result<()> {
    match change {
        WaitingChange::Added(waiting) => add(transaction, waiting),
        WaitingChange::Ended(number) => {
            execute(transaction, "DELETE FROM waiting_delivery WHERE number = ?", [integer(*number)])
        }
        WaitingChange::Cleared => execute(transaction, "DELETE FROM waiting_delivery", []),
    }
}

fn add(transaction: &Connection, waiting: &WaitingDelivery) -> Result<()> {
    let insert = "INSERT OR REPLACE INTO waiting_delivery (number, subscription, message_group, queue, dead_letter_queue, \
                  service, source, source_account, sender, queue_group, deduplication_id, trace_header, keeps_size_limit, attributes, body) \
                  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let WaitingDelivery { number, group, delivery, dead_letter_queue } = waiting;
    execute(
        transaction,
        insert,
        params![
            integer(*number),
            group.as_ref().map(|group| &*group.subscription),
            group.as_ref().map(|group| &*group.name),
            delivery.queue.to_string(),
            dead_letter_queue.as_ref().map(ToString::to_string),
            delivery.service,
            delivery.source_arn,
            delivery.source_account,
            delivery.sender,
            delivery.group,
            delivery.deduplication_id,
            delivery.trace_header,
            delivery.keeps_size_limit,
            delivery.attributes.as_ref().map(json).transpose()?,
            delivery.body,
        ],
    )
}

/// All deliveries that wait, in the order of their numbers.
pub(super) fn read(connection: &Connection) -> Result<Vec<WaitingDelivery>> {
    let mut select = connection.prepare(
        "SELECT number, subscription, message_group, queue, dead_letter_queue, service, source, source_account, sender, \
         queue_group, deduplication_id, trace_header, keeps_size_limit, attributes, body FROM waiting_delivery ORDER BY number",
    )?;
    select.query_map([], waiting)?.collect()
}

fn waiting(row: &Row<'_>) -> Result<WaitingDelivery> {
    let group = row.get::<_, Option<Box<str>>>(1)?.zip(row.get::<_, Option<Box<str>>>(2)?);
    let delivery = KeptDelivery {
        queue: parse_arn(&row.get::<_, String>(3)?, 3)?,
        service: row.get(5)?,
        source_arn: row.get(6)?,
        source_account: row.get(7)?,
        sender: row.get(8)?,
        group: row.get(9)?,
        deduplication_id: row.get(10)?,
        trace_header: row.get(11)?,
        keeps_size_limit: row.get(12)?,
        attributes: from_json(row, 13)?,
        body: row.get(14)?,
    };
    Ok(WaitingDelivery {
        number: unsigned(row, 0)?,
        group: group.map(|(subscription, name)| Group { subscription, name }),
        delivery,
        dead_letter_queue: arn(row, 4)?,
    })
}
