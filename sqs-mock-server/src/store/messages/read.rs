//! Reads the table of messages.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Result, Row};
use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::{self, Md5Hex};

use super::TICKET_BITS;
use crate::service::arn::QueueArn;
use crate::service::seed::Uuid;
use crate::sqs::engine::{Checksums, Core, Payload, Slot, State, StoredMessage};
use crate::store::row::{damaged, from_json, parse_arn, time, timestamp, unsigned};

/// All messages, by queue, oldest first.
pub(in crate::store) const SELECT_MESSAGES: &str =
    concat!("SELECT ", message_columns!(), " FROM message ORDER BY id");

/// The number of the queue in a message id.
pub(in crate::store) fn queue_of(message_id: i64) -> i64 {
    message_id >> TICKET_BITS
}

/// Reads a message. Whether the body has its checksum remains to be checked.
pub(in crate::store) fn message(row: &Row<'_>, texts: &mut Texts) -> Result<StoredMessage> {
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
pub(in crate::store) struct Texts {
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
