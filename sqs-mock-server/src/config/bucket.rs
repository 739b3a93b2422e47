//! A bucket of a config file.

use serde::Deserialize;
use sqs_client::wire::validate;

use crate::config::file::Problem;
use crate::control::arn::partition;
use crate::s3::notifications::{RequestedRule, SELECTABLE, TargetKind};
use crate::s3::problem_of_bucket_name;

/// An initial bucket of S3.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BucketDefinition {
    pub(crate) name: String,
    /// Replaces the notification configuration of an existing bucket, unless it is absent.
    #[serde(default, deserialize_with = "some_of_each")]
    pub(crate) notifications: Option<Vec<NotificationDefinition>>,
}

/// A rule: some events of some keys go to a queue or a topic.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotificationDefinition {
    /// A name or an ARN, as for `topic`. A rule has one of the two.
    queue: Option<String>,
    topic: Option<String>,
    events: Vec<String>,
    prefix: Option<String>,
    suffix: Option<String>,
}

fn some_of_each<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<NotificationDefinition>>, D::Error> {
    crate::config::each(deserializer).map(Some)
}

impl BucketDefinition {
    /// The problems of this bucket, whose path in the file is `at`.
    pub(crate) fn problems(&self, at: &str) -> Vec<Problem> {
        let name = problem_of_bucket_name(&self.name);
        let name = name.map(|text| Problem::new(format!("{at}.name"), text));
        let rules = self.notifications.iter().flatten().enumerate();
        let rules =
            rules.flat_map(|(rule, definition)| definition.problems(&format!("{at}.notifications[{rule}]")));
        name.into_iter().chain(rules).collect()
    }
}

impl NotificationDefinition {
    /// The rule as in a request, with targets of this region and account by default.
    pub(crate) fn requested(&self, (region, account): (&str, &str)) -> RequestedRule {
        let (kind, service, target) = match (&self.queue, &self.topic) {
            (Some(queue), _) => (TargetKind::Queue, "sqs", queue.as_str()),
            (None, topic) => (TargetKind::Topic, "sns", topic.as_deref().unwrap_or_default()),
        };
        let arn = if is_arn(target) {
            target.to_owned()
        } else {
            format!("arn:{}:{service}:{region}:{account}:{target}", partition(region))
        };
        let sides = [("prefix", &self.prefix), ("suffix", &self.suffix)].into_iter();
        let filter = sides.filter_map(|(name, value)| Some((Some(name.to_owned()), Some(value.clone()?))));
        RequestedRule { id: None, kind, arn, events: self.events.clone(), filter: filter.collect() }
    }

    fn problems(&self, at: &str) -> Vec<Problem> {
        let mut found = Vec::new();
        if self.queue.is_some() == self.topic.is_some() {
            found.push(Problem::new(at, "a rule has either queue or topic"));
        }
        if let Some(name) = self.queue.as_deref().filter(|name| !is_arn(name))
            && let Err(refusal) = validate::queue::name(name)
        {
            let text = refusal.message.unwrap_or_default();
            found.push(Problem::new(format!("{at}.queue"), format!("{name:?} is not a queue name: {text}")));
        }
        let allowed = || format!("allowed are {}", SELECTABLE.join(", "));
        if self.events.is_empty() {
            found.push(Problem::new(format!("{at}.events"), format!("it is empty; {}", allowed())));
        }
        let unknown = self.events.iter().enumerate();
        let unknown = unknown.filter(|(_, event)| !SELECTABLE.contains(&event.as_str()));
        found.extend(unknown.map(|(number, event)| {
            let text = format!("{event:?} is not an event; {}", allowed());
            Problem::new(format!("{at}.events[{number}]"), text)
        }));
        found
    }
}

fn is_arn(text: &str) -> bool {
    text.starts_with("arn:")
}
