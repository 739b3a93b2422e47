//! Topics over HTTP.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use sqs_client::types::MessageAttributeValue;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use super::page::{LIMIT, Page, SKIP};
use super::queues::home;
use crate::service::arn::TopicArn;
use crate::sns::ops::{PublishedMessage, SubscriptionDescription};

#[derive(Serialize)]
struct Part {
    total: usize,
    topics: Vec<Topic>,
    /// The `skip` of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
}

#[derive(Serialize)]
struct Topic {
    name: String,
    arn: String,
    fifo: bool,
    subscriptions: Vec<Subscription>,
    /// How many of its latest messages are kept.
    published: usize,
    attributes: BTreeMap<String, String>,
    tags: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Subscription {
    arn: String,
    protocol: String,
    endpoint: String,
    raw: bool,
    filter_policy: Option<String>,
    filter_policy_scope: Option<String>,
    dead_letter_queue: Option<String>,
    confirmed: bool,
}

#[derive(Serialize)]
struct Published<'m> {
    id: String,
    time: String,
    subject: Option<&'m str>,
    body: &'m str,
    #[serde(skip_serializing_if = "HashMap::is_empty")]
    attributes: &'m HashMap<String, MessageAttributeValue>,
    group: Option<&'m str>,
    deduplication_id: Option<&'m str>,
    sequence_number: Option<String>,
    notes: &'m [String],
}

/// `GET /_mock/topics`.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    let page = Page::read(&ask.parameters(&[SKIP, LIMIT])?)?;
    let arns = ask.services.topics.sns.topics();
    let topics = arns.iter().skip(page.skip).take(page.limit).filter_map(|arn| topic(ask, arn)).collect();
    json(&Part { total: arns.len(), topics, next: page.next(arns.len()) })
}

/// `GET /_mock/topics/{name}/published`. Pages count back from the latest message. Each page lists its oldest first.
pub(super) fn published(ask: &Ask<'_>) -> Answered {
    let parameters = ask.parameters(&["region", "account", SKIP, LIMIT])?;
    let page = Page::read(&parameters)?;
    let (region, account) = home(ask, &parameters);
    let arn = TopicArn::new(region, account, ask.name);
    let sns = &ask.services.topics.sns;
    if !sns.has(&arn) {
        return Err(Refusal::not_found(format!(
            "there is no topic {arn}; GET /_mock/topics lists all topics"
        )));
    }
    let all = sns.published_to(&arn);
    let end = all.len().saturating_sub(page.skip);
    let start = end.saturating_sub(page.limit);
    let messages: Vec<_> = all.iter().take(end).skip(start).map(|message| show(message)).collect();
    json(&serde_json::json!({ "total": all.len(), "messages": messages, "next": page.next(all.len()) }))
}

/// `None` if the topic was deleted in the meantime.
fn topic(ask: &Ask<'_>, arn: &TopicArn) -> Option<Topic> {
    let sns = &ask.services.topics.sns;
    let (attributes, tags) = sns.settings_of(arn)?;
    Some(Topic {
        name: arn.name.to_string(),
        arn: arn.to_string(),
        fifo: arn.name.ends_with(".fifo"),
        subscriptions: sns.subscriptions_of(arn).into_iter().map(subscription).collect(),
        published: sns.published_to(arn).len(),
        attributes,
        tags,
    })
}

fn subscription(described: SubscriptionDescription) -> Subscription {
    let SubscriptionDescription {
        arn,
        protocol,
        endpoint,
        raw,
        filter_policy,
        filter_policy_scope,
        dead_letter_queue,
        confirmed,
    } = described;
    let dead_letter_queue = dead_letter_queue.map(|queue| queue.to_string());
    Subscription {
        arn,
        protocol,
        endpoint,
        raw,
        filter_policy,
        filter_policy_scope,
        dead_letter_queue,
        confirmed,
    }
}

fn show(message: &PublishedMessage) -> Published<'_> {
    Published {
        id: message.id.to_string(),
        time: message.time.to_string(),
        subject: message.subject.as_deref(),
        body: &message.message,
        attributes: &message.attributes,
        group: message.group.as_deref(),
        deduplication_id: message.deduplication_id.as_deref(),
        sequence_number: message.sequence_number.map(|number| number.to_string()),
        notes: &message.notes,
    }
}
