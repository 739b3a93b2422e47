//! Messages over HTTP, without receiving them.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::json;
use sqs_client::types::MessageAttributeValue;

use super::answer::{Answered, Refusal, json};
use super::ask::{Ask, Parameters};
use super::page::{LIMIT, Page, SKIP};
use super::queues::{home, unknown};
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;
use crate::sqs::ops::MAX_PEEKED;
use crate::sqs::ops::{Counts, PeekedMessage, Visibility};

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
    let parameters = ask.parameters(&["queue", "region", "account", "state", SKIP, LIMIT])?;
    let page = Page::read(&parameters)?;
    let filter = parameters.get("state").map(Filter::parse).transpose()?;
    let arn = arn(ask, &parameters)?;
    let service = ask.services.sqs.service();
    let counts = service.counts(&arn).ok_or_else(|| unknown(&arn))?;
    let total = filter.map_or(counts.available + counts.in_flight + counts.delayed, |of| of.count(counts));
    let is_shown = |visibility| filter.is_none_or(|filter| filter.has(visibility));
    let peeked = service.peek_at(&arn, (page.skip, page.limit), is_shown);
    let peeked = peeked.ok_or_else(|| unknown(&arn))?;
    let fitting = fitting(&peeked);
    let next = if fitting < peeked.len() { Some(page.skip + fitting) } else { page.next(total) };
    let messages = peeked.iter().take(fitting).map(message).collect();
    json(&Part { queue: arn.to_string(), total, messages, next })
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

/// The messages of one of the three counts.
#[derive(Clone, Copy)]
enum Filter {
    Available,
    InFlight,
    Delayed,
}

impl Filter {
    fn parse(text: &str) -> Result<Self, Refusal> {
        match text {
            "available" => Ok(Self::Available),
            "in_flight" => Ok(Self::InFlight),
            "delayed" => Ok(Self::Delayed),
            _ => Err(Refusal::bad(format!("state must be available, in_flight or delayed, not {text:?}"))),
        }
    }

    fn count(self, counts: Counts) -> usize {
        match self {
            Self::Available => counts.available,
            Self::InFlight => counts.in_flight,
            Self::Delayed => counts.delayed,
        }
    }

    fn has(self, visibility: Visibility) -> bool {
        match visibility {
            Visibility::Visible | Visibility::GroupLockedBy { .. } | Visibility::BeyondWindow => {
                matches!(self, Self::Available)
            }
            Visibility::InFlightUntil(_) => matches!(self, Self::InFlight),
            Visibility::DelayedUntil(_) => matches!(self, Self::Delayed),
        }
    }
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
