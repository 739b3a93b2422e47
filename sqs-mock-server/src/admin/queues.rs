//! Queues over HTTP: all queues, one queue, its move tasks, and why a receive returns nothing.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;
use sqs_client::types::QueueAttributeName;

use super::answer::{Answered, Refusal, json};
use super::ask::{Ask, Parameters};
use super::page::{LIMIT, Page, SKIP};
use crate::service::arn::QueueArn;
use crate::sqs::ops::{Counts, QueueDescription, WhyEmpty};

/// As `ListMessageMoveTasks`, which returns no more.
const MAX_TASKS: usize = 10;

#[derive(Serialize)]
struct Queue {
    name: String,
    arn: QueueArn,
    url: String,
    messages: Counts,
    totals: Totals,
    oldest_message_age_ms: Option<u128>,
    dead_letter_sources: Vec<String>,
    attributes: BTreeMap<QueueAttributeName, String>,
    tags: BTreeMap<String, String>,
}

/// Counts since the queue was created.
#[derive(Serialize)]
struct Totals {
    arrived: u64,
    /// Deleted, purged, expired, or moved to another queue.
    left: u64,
}

/// `GET /_mock/queues`.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    let page = Page::read(&ask.parameters(&[SKIP, LIMIT])?)?;
    let arns = ask.services.sqs.service().queues();
    let queues = page.of(&arns).filter_map(|arn| queue(ask, arn));
    json(&page.part("queues", arns.len(), queues))
}

/// `GET /_mock/queues/{name}`.
pub(super) fn show(ask: &Ask<'_>) -> Answered {
    let arn = arn(ask)?;
    json(&queue(ask, &arn).ok_or_else(|| unknown(&arn))?)
}

/// `GET /_mock/queues/{name}/why-empty`.
pub(super) fn why_empty(ask: &Ask<'_>) -> Answered {
    let why = ask.services.sqs.service().why_empty(&arn(ask)?);
    json(&json!({ "reason": reason(&why), "text": why.to_string() }))
}

/// `GET /_mock/queues/{name}/move-tasks`.
pub(super) fn move_tasks(ask: &Ask<'_>) -> Answered {
    let arn = arn(ask)?;
    let service = ask.services.sqs.service();
    service.describe(&arn).ok_or_else(|| unknown(&arn))?;
    json(&json!({ "move_tasks": service.move_tasks(&arn, MAX_TASKS) }))
}

/// The error for a queue that does not exist.
pub(super) fn unknown(arn: &QueueArn) -> Refusal {
    Refusal::not_found(format!("there is no queue {arn}; GET /_mock/queues lists all queues"))
}

/// The account and region of the parameters; the server's own by default.
pub(super) fn home<'a>(ask: &Ask<'a>, parameters: &'a Parameters<'_>) -> (&'a str, &'a str) {
    let names = ask.services.sqs.names();
    let region = parameters.get("region").unwrap_or(&names.region);
    (region, parameters.get("account").unwrap_or(&names.account))
}

fn arn(ask: &Ask<'_>) -> Result<QueueArn, Refusal> {
    let parameters = ask.parameters(&["region", "account"])?;
    let (region, account) = home(ask, &parameters);
    Ok(QueueArn::new(region, account, ask.name))
}

/// `None` if the queue was deleted in the meantime.
fn queue(ask: &Ask<'_>, arn: &QueueArn) -> Option<Queue> {
    let sqs = &ask.services.sqs;
    let service = sqs.service();
    let QueueDescription { attributes, tags, counts, arrived, oldest } = service.describe(arn)?;
    let present = (counts.available + counts.in_flight + counts.delayed) as u64;
    let now = service.clock().now();
    let sources = service.dead_letter_sources(arn);
    Some(Queue {
        name: arn.name.to_string(),
        arn: arn.clone(),
        url: format!(
            "{}/{}/{}",
            sqs.base_url(sqs.names().host(ask.head), &arn.region),
            arn.account,
            arn.name
        ),
        messages: counts,
        totals: Totals { arrived, left: arrived.saturating_sub(present) },
        oldest_message_age_ms: oldest.map(|oldest| now.saturating_since(oldest).as_millis()),
        dead_letter_sources: sources.iter().map(ToString::to_string).collect(),
        attributes,
        tags,
    })
}

/// An identifier for programs.
fn reason(why: &WhyEmpty) -> &'static str {
    match why {
        WhyEmpty::NoSuchQueue => "no_such_queue",
        WhyEmpty::NotEmpty { .. } => "not_empty",
        WhyEmpty::NoMessages => "no_messages",
        WhyEmpty::Denied { .. } => "denied",
        WhyEmpty::InFlight { .. } => "in_flight",
        WhyEmpty::Delayed { .. } => "delayed",
        WhyEmpty::InFlightOrDelayed { .. } => "in_flight_or_delayed",
        WhyEmpty::GroupsLocked { .. } => "groups_locked",
        WhyEmpty::BeyondWindow { .. } => "beyond_window",
        WhyEmpty::OnSomeServers { .. } => "on_some_servers",
        WhyEmpty::DeadLetters { .. } => "dead_letters",
        WhyEmpty::InFlightLimit { .. } => "in_flight_limit",
    }
}
