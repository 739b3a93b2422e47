//! A subscription of a config file.

use std::collections::BTreeMap;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::Problem;
use super::topic::reason;
use crate::service::arn::{QueueArn, TopicArn};
use crate::sns::engine::protocol::{Endpoint, Protocol};
use crate::sns::engine::topic::Topic;

/// An initial subscription.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubscriptionDefinition {
    /// A name or an ARN.
    pub(crate) topic: String,
    /// A name or an ARN. Other endpoints have `protocol` and `endpoint` instead.
    pub(crate) queue: Option<String>,
    protocol: Option<String>,
    endpoint: Option<String>,
    raw: Option<bool>,
    #[serde(default, deserialize_with = "json_text")]
    filter_policy: Option<String>,
    filter_policy_scope: Option<Scope>,
    /// A name or an ARN.
    pub(crate) dead_letter_queue: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Scope {
    MessageAttributes,
    MessageBody,
}

/// JSON, given as a text or as a table.
fn json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(Some(text)),
        table @ Value::Object(_) => Ok(Some(table.to_string())),
        _ => Err(D::Error::invalid_type(Unexpected::Other("another type"), &"a table or a text with JSON")),
    }
}

impl SubscriptionDefinition {
    /// The topic; of a name, in this region and account.
    pub(crate) fn topic_arn(&self, region: &str, account: &str) -> TopicArn {
        arn_of_topic(&self.topic).unwrap_or_else(|| TopicArn::new(region, account, &self.topic))
    }

    /// The endpoint; of the name of a queue, in the region and account of the topic. `None` if it is not valid.
    pub(crate) fn endpoint(&self, topic: &TopicArn) -> Option<Endpoint> {
        match (&self.queue, &self.protocol, &self.endpoint) {
            (Some(queue), ..) => Some(Endpoint::Queue(queue_arn(queue, topic))),
            (None, Some(protocol), Some(endpoint)) => {
                Endpoint::read(Protocol::find(protocol).ok()?, endpoint).ok()
            }
            _ => None,
        }
    }

    /// The attributes for `Subscribe`.
    pub(crate) fn attributes(&self, topic: &TopicArn) -> Vec<(&'static str, String)> {
        self.table(topic).into_iter().filter_map(|(_, name, value)| Some((name, value?))).collect()
    }

    /// All attributes: the name in the file, the name in requests, and the value there.
    fn table(&self, topic: &TopicArn) -> [(&'static str, &'static str, Option<String>); 4] {
        let scope = self.filter_policy_scope.map(|scope| match scope {
            Scope::MessageAttributes => "MessageAttributes".to_owned(),
            Scope::MessageBody => "MessageBody".to_owned(),
        });
        let redrive = self.dead_letter_queue.as_ref();
        let redrive =
            redrive.map(|queue| json!({ "deadLetterTargetArn": queue_arn(queue, topic) }).to_string());
        [
            ("filter_policy_scope", "FilterPolicyScope", scope),
            ("filter_policy", "FilterPolicy", self.filter_policy.clone()),
            ("raw", "RawMessageDelivery", self.raw.map(|raw| raw.to_string())),
            ("dead_letter_queue", "RedrivePolicy", redrive),
        ]
    }

    /// The problems of this subscription, whose path in the file is `at`.
    pub(super) fn problems(&self, at: &str) -> Vec<Problem> {
        let problem = |key: &str, text: String| Problem::new(format!("{at}.{key}"), text);
        let not_named = |kind, text| format!("{text:?} is neither the name nor the ARN of a {kind}");
        let mut found = Vec::new();
        if self.topic.contains(':') && arn_of_topic(&self.topic).is_none() {
            found.push(problem("topic", not_named("topic", &self.topic)));
        }
        for (key, queue) in [("queue", &self.queue), ("dead_letter_queue", &self.dead_letter_queue)] {
            let queue = queue.as_ref().filter(|queue| queue.contains([':', '/']));
            if let Some(queue) = queue.filter(|queue| queue.parse::<QueueArn>().is_err()) {
                found.push(problem(key, not_named("queue", queue)));
            }
        }
        found.extend(self.problem_of_endpoint().map(|(key, text)| match key {
            "" => Problem::new(at, text),
            key => problem(key, text),
        }));
        if found.is_empty() {
            found.extend(self.problems_of_attributes().into_iter().map(|(key, text)| problem(key, text)));
        }
        found
    }

    fn problem_of_endpoint(&self) -> Option<(&'static str, String)> {
        let (protocol, endpoint) = match (&self.queue, &self.protocol, &self.endpoint) {
            (Some(_), None, None) => return None,
            (Some(_), Some(_), _) => return Some(("protocol", "cannot be combined with queue".to_owned())),
            (Some(_), None, Some(_)) => {
                return Some(("endpoint", "cannot be combined with queue".to_owned()));
            }
            (None, Some(protocol), Some(endpoint)) => (protocol, endpoint),
            (None, Some(_), None) => return Some(("protocol", "requires endpoint".to_owned())),
            (None, None, Some(_)) => return Some(("endpoint", "requires protocol".to_owned())),
            (None, None, None) => return Some(("", "requires queue, or protocol and endpoint".to_owned())),
        };
        let Ok(protocol) = Protocol::find(protocol) else {
            let all = Protocol::ALL.map(Protocol::as_str).join(", ");
            return Some(("protocol", format!("{protocol:?} is not allowed; allowed are {all}")));
        };
        let allowed = match protocol {
            Protocol::Sqs => "the ARN of a queue",
            Protocol::Http => "a URL with http",
            Protocol::Https => "a URL with https",
            Protocol::Email | Protocol::EmailJson => "an email address",
            _ => "a text of 1 to 2048 bytes",
        };
        let is_legal = Endpoint::read(protocol, endpoint).is_ok();
        (!is_legal).then(|| ("endpoint", format!("{endpoint:?} is not allowed; allowed is {allowed}")))
    }

    /// Validates one attribute at a time, a filter policy together with its scope.
    fn problems_of_attributes(&self) -> Vec<(&'static str, String)> {
        let arn = self.topic_arn("", "");
        let Some(endpoint) = self.endpoint(&arn) else { return Vec::new() };
        let table = self.table(&arn);
        let Ok(topic) = Topic::new(arn, &[], BTreeMap::new()) else { return Vec::new() };
        if let Err(error) = topic.check_subscription(&endpoint, &[]) {
            let key = if self.queue.is_some() { "queue" } else { "protocol" };
            return vec![(key, reason(&error, ""))];
        }
        let scope = table.iter().find_map(|(_, name, value)| {
            Some((*name, value.as_deref()?)).filter(|(name, _)| *name == "FilterPolicyScope")
        });
        let mut found = Vec::new();
        for (key, name, value) in &table {
            let Some(value) = value else { continue };
            let attributes: Vec<_> = scope.into_iter().chain([(*name, value.as_str())]).collect();
            if let Err(error) = topic.check_subscription(&endpoint, &attributes) {
                found.push((*key, reason(&error, name)));
            }
        }
        found
    }
}

fn arn_of_topic(text: &str) -> Option<TopicArn> {
    TopicArn::of(text).filter(|arn| arn.to_string() == text)
}

/// A queue by its ARN, or by its name in the region and account of a topic.
fn queue_arn(text: &str, topic: &TopicArn) -> QueueArn {
    text.parse().unwrap_or_else(|_| QueueArn::new(&topic.region, &topic.account, text))
}
