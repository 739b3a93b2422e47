//! Topics over HTTP.

use std::collections::BTreeMap;

use serde::Serialize;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use super::page::{LIMIT, Page, SKIP};
use super::queues::home;
use crate::service::arn::TopicArn;
use crate::sns::ops::SubscriptionDescription;

#[derive(Serialize)]
struct Topic {
    name: String,
    arn: TopicArn,
    fifo: bool,
    subscriptions: Vec<SubscriptionDescription>,
    /// How many of its latest messages are kept.
    published: usize,
    attributes: BTreeMap<String, String>,
    tags: BTreeMap<String, String>,
}

/// `GET /_mock/topics`.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    let page = Page::read(&ask.parameters(&[SKIP, LIMIT])?)?;
    let arns = ask.services.topics.sns.topics();
    let topics = page.of(&arns).filter_map(|arn| topic(ask, arn));
    json(&page.part("topics", arns.len(), topics))
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
    json(&page.part("messages", all.len(), page.latest(&all).map(|message| &**message)))
}

/// `None` if the topic was deleted in the meantime.
fn topic(ask: &Ask<'_>, arn: &TopicArn) -> Option<Topic> {
    let sns = &ask.services.topics.sns;
    let (attributes, tags) = sns.settings_of(arn)?;
    Some(Topic {
        name: arn.name.to_string(),
        arn: arn.clone(),
        fifo: arn.name.ends_with(".fifo"),
        subscriptions: sns.subscriptions_of(arn),
        published: sns.published_to(arn).len(),
        attributes,
        tags,
    })
}
