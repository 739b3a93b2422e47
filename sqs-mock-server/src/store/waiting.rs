//! Deliveries that wait for a retry, in their table.

use std::collections::HashMap;

use rusqlite::{Connection, Result, Row, params};
use sqs_client::types::MessageAttributeValue;

use super::row::{arn, execute, from_json, integer, json, parse_arn, unsigned};
use crate::service::delivery::{Delivery, KeptDelivery, Source};
use crate::sns::engine::backlog::Group;
use crate::sns::ops::changes::{WaitingChange, WaitingDelivery};

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
    let Delivery {
        queue,
        source,
        body,
        attributes,
        group: queue_group,
        deduplication_id,
        trace_header,
        sender,
        keeps_size_limit,
    } = delivery.as_delivery();
    execute(
        transaction,
        insert,
        params![
            integer(*number),
            group.as_ref().map(|group| &*group.subscription),
            group.as_ref().map(|group| &*group.name),
            queue.to_string(),
            dead_letter_queue.as_ref().map(ToString::to_string),
            source.service,
            source.arn,
            source.account,
            sender,
            queue_group,
            deduplication_id,
            trace_header,
            keeps_size_limit,
            attributes.map(json).transpose()?,
            body,
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
    let text = |column: usize| row.get::<_, String>(column);
    let optional = |column: usize| row.get::<_, Option<String>>(column);
    let group = optional(1)?.zip(optional(2)?);
    let queue = parse_arn(&text(3)?, 3)?;
    let (service, source_arn, account) = (text(5)?, text(6)?, text(7)?);
    let (sender, body) = (text(8)?, text(14)?);
    let (queue_group, deduplication_id, trace_header) = (optional(9)?, optional(10)?, optional(11)?);
    let attributes: Option<HashMap<String, MessageAttributeValue>> = from_json(row, 13)?;
    let delivery = KeptDelivery::of(Delivery {
        queue: &queue,
        source: Source { service: &service, arn: &source_arn, account: &account },
        body: &body,
        attributes: attributes.as_ref(),
        group: queue_group.as_deref(),
        deduplication_id: deduplication_id.as_deref(),
        trace_header: trace_header.as_deref(),
        sender: &sender,
        keeps_size_limit: row.get(12)?,
    });
    Ok(WaitingDelivery {
        number: unsigned(row, 0)?,
        group: group
            .map(|(subscription, name)| Group { subscription: subscription.into(), name: name.into() }),
        delivery,
        dead_letter_queue: arn(row, 4)?,
    })
}
