//! Topics over HTTP.

use serde_json::{Value, json};

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use crate::service::arn::TopicArn;

/// `GET /_mock/topics`.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let arns = ask.services.topics.sns.topics();
    let topics = page.of(&arns).filter_map(|arn| topic(ask, arn));
    json(&page.part("topics", arns.len(), topics))
}

/// `GET /_mock/topics/{name}/published`. Pages count back from the latest message. Each page lists its oldest first.
pub(super) fn published(ask: &Ask<'_>) -> Answered {
    let page = ask.parameters.page()?;
    let (region, account) = ask.home();
    let arn = TopicArn::new(region, account, ask.name);
    let sns = &ask.services.topics.sns;
    if !sns.has(&arn) {
        let error = format!("there is no topic {arn}; GET /_mock/topics lists all topics");
        return Err(Refusal::not_found(error));
    }
    let all = sns.published_to(&arn);
    json(&page.part("messages", all.len(), page.latest(&all).map(|message| &**message)))
}

/// `None` if the topic was deleted in the meantime.
fn topic(ask: &Ask<'_>, arn: &TopicArn) -> Option<Value> {
    let sns = &ask.services.topics.sns;
    let (attributes, tags) = sns.settings_of(arn)?;
    Some(json!({
        "name": arn.name,
        "arn": arn,
        "fifo": arn.is_fifo(),
        "subscriptions": sns.subscriptions_of(arn),
        // How many of its latest messages are kept.
        "published": sns.published_to(arn).len(),
        "attributes": attributes,
        "tags": tags,
    }))
}
