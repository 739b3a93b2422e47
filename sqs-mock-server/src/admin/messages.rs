//! Messages over HTTP, without receiving them.

use std::collections::HashMap;

use serde::Serialize;
use sqs_client::types::MessageAttributeValue;

use super::answer::{Answered, json};
use super::ask::Ask;
use super::page::{LIMIT, Page, SKIP};
use super::queues::{home, unknown};
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::sqs::ops::MAX_PEEKED;
use crate::sqs::ops::{PeekedMessage, Visibility};

#[derive(Serialize)]
struct Part<'m> {
    queue: String,
    total: usize,
    messages: Vec<Message<'m>>,
    /// The `skip` of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
}

#[derive(Serialize)]
struct Message<'m> {
    id: String,
    body: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'m HashMap<String, MessageAttributeValue>>,
    #[serde(flatten)]
    state: State,
    receive_count: u32,
    sent: Moment,
    first_received: Option<Moment>,
    sender: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deduplication_id: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dead_letter_source: Option<String>,
}

/// Whether a message can be received.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum State {
    Visible,
    Delayed { until: Moment },
    InFlight { until: Moment },
    GroupLocked { by: String, until: Moment },
    BeyondWindow,
}

/// A timestamp in RFC 3339.
struct Moment(Timestamp);

impl Serialize for Moment {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// `GET /_mock/messages`.
pub(super) fn peek(ask: &Ask<'_>) -> Answered {
    let parameters = ask.parameters(&["queue", "region", "account", SKIP, LIMIT])?;
    let page = Page::read(&parameters)?;
    let (region, account) = home(ask, &parameters);
    let arn = QueueArn::named(parameters.required_queue()?, region, account);
    let service = ask.services.sqs.service();
    let counts = service.counts(&arn).ok_or_else(|| unknown(&arn))?;
    let total = counts.available + counts.in_flight + counts.delayed;
    let peeked = service.peek(&arn, page.skip, page.limit).ok_or_else(|| unknown(&arn))?;
    let fitting = fitting(&peeked);
    let next = if fitting < peeked.len() { Some(page.skip + fitting) } else { page.next(total) };
    let messages = peeked.iter().take(fitting).map(message).collect();
    json(&Part { queue: arn.to_string(), total, messages, next })
}

/// The number of messages that fit into one response, at least one.
fn fitting(messages: &[PeekedMessage]) -> usize {
    let mut bytes = 0;
    let fits = |message: &&PeekedMessage| {
        bytes += message.body().len();
        bytes <= MAX_PEEKED
    };
    messages.iter().take_while(fits).count().max(1)
}

fn message(peeked: &PeekedMessage) -> Message<'_> {
    Message {
        id: peeked.id.to_string(),
        body: peeked.body(),
        attributes: peeked.payload.attributes(),
        state: match peeked.visibility {
            Visibility::Visible => State::Visible,
            Visibility::BeyondWindow => State::BeyondWindow,
            Visibility::DelayedUntil(until) => State::Delayed { until: Moment(until) },
            Visibility::InFlightUntil(until) => State::InFlight { until: Moment(until) },
            Visibility::GroupLockedBy { id, until } => {
                State::GroupLocked { by: id.to_string(), until: Moment(until) }
            }
        },
        receive_count: peeked.receive_count,
        sent: Moment(peeked.sent),
        first_received: peeked.first_received.map(Moment),
        sender: &peeked.payload.sender,
        group: peeked.group.as_deref(),
        deduplication_id: peeked.deduplication_id.as_deref(),
        sequence_number: peeked.sequence_number.map(|number| number.to_string()),
        dead_letter_source: peeked.dead_letter_source.as_ref().map(ToString::to_string),
    }
}
