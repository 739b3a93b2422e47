//! Messages over HTTP, without receiving them.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::json;
use sqs_client::types::MessageAttributeValue;

use super::answer::{Answered, Refusal, json};
use super::ask::{Ask, Parameters};
use super::page::{LIMIT, Page, Part, SKIP};
use super::queues::{home, unknown};
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::service::seed::Uuid;
use crate::sqs::engine::SequenceNumber;
use crate::sqs::ops::{Kinds, PeekedMessage, Visibility, fitting};

#[derive(Serialize)]
struct Shown<'m> {
    queue: &'m QueueArn,
    #[serde(flatten)]
    page: Part<Message<'m>>,
}

#[derive(Serialize)]
struct Message<'m> {
    id: Uuid,
    body: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'m HashMap<String, MessageAttributeValue>>,
    #[serde(flatten)]
    state: State,
    receive_count: u32,
    sent: Timestamp,
    first_received: Option<Timestamp>,
    sender: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deduplication_id: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence_number: Option<SequenceNumber>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dead_letter_source: Option<&'m QueueArn>,
}

/// Whether a message can be received.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum State {
    Visible,
    Delayed { until: Timestamp },
    InFlight { until: Timestamp },
    GroupLocked { by: Uuid, until: Timestamp },
    BeyondWindow,
}

/// `GET /_mock/messages`.
pub(super) fn peek(ask: &Ask<'_>) -> Answered {
    let parameters = ask.parameters(&["queue", "region", "account", "state", SKIP, LIMIT])?;
    let page = Page::read(&parameters)?;
    let kinds = kinds(parameters.get("state"))?;
    let arn = arn(ask, &parameters)?;
    let service = ask.services.sqs.service();
    let total = kinds.count(service.counts(&arn).ok_or_else(|| unknown(&arn))?);
    let peeked = service.peek_at(&arn, (page.skip, page.limit), |visibility| kinds.include(visibility));
    let peeked = peeked.ok_or_else(|| unknown(&arn))?;
    let fitting = fitting(&peeked);
    let mut part = page.part("messages", total, peeked.iter().take(fitting).map(message));
    if fitting < peeked.len() {
        part.next = Some(page.skip + fitting);
    }
    json(&Shown { queue: &arn, page: part })
}

/// `DELETE /_mock/messages/{name}`.
pub(super) fn remove(ask: &Ask<'_>) -> Answered {
    let arn = arn(ask, &ask.parameters(&["queue", "region", "account"])?)?;
    let id = ask.name.parse().map_err(|_| Refusal::bad(format!("{:?} is not a message id", ask.name)))?;
    match ask.services.sqs.service().discard(&arn, id) {
        Some(true) => json(&json!({ "deleted": true })),
        Some(false) => Err(Refusal::not_found(format!("{arn} has no message {id}"))),
        None => Err(unknown(&arn)),
    }
}

fn arn(ask: &Ask<'_>, parameters: &Parameters<'_>) -> Result<QueueArn, Refusal> {
    let (region, account) = home(ask, parameters);
    Ok(QueueArn::named(parameters.required_queue()?, region, account))
}

/// The messages of one of the three counts, or all.
fn kinds(state: Option<&str>) -> Result<Kinds, Refusal> {
    match state {
        None => Ok(Kinds { available: true, in_flight: true, delayed: true }),
        Some("available") => Ok(Kinds { available: true, ..Kinds::default() }),
        Some("in_flight") => Ok(Kinds { in_flight: true, ..Kinds::default() }),
        Some("delayed") => Ok(Kinds { delayed: true, ..Kinds::default() }),
        Some(other) => {
            Err(Refusal::bad(format!("state must be available, in_flight or delayed, not {other:?}")))
        }
    }
}

fn message(peeked: &PeekedMessage) -> Message<'_> {
    Message {
        id: peeked.id,
        body: peeked.body(),
        attributes: peeked.payload.attributes(),
        state: match peeked.visibility {
            Visibility::Visible => State::Visible,
            Visibility::BeyondWindow => State::BeyondWindow,
            Visibility::DelayedUntil(until) => State::Delayed { until },
            Visibility::InFlightUntil(until) => State::InFlight { until },
            Visibility::GroupLockedBy { id, until } => State::GroupLocked { by: id, until },
        },
        receive_count: peeked.receive_count,
        sent: peeked.sent,
        first_received: peeked.first_received,
        sender: &peeked.payload.sender,
        group: peeked.group.as_deref(),
        deduplication_id: peeked.deduplication_id.as_deref(),
        sequence_number: peeked.sequence_number,
        dead_letter_source: peeked.dead_letter_source.as_deref(),
    }
}
