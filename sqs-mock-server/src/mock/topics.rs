//! Creates the topics and subscriptions of a config file with the rules of `CreateTopic` and `Subscribe`.

use std::collections::BTreeSet;
use std::io;

use super::MockSqs;
use super::queues::{self, absent, duplicates};
use crate::config::{Config, Problem, SubscriptionDefinition, TopicDefinition, reason};
use crate::service::arn::{QueueArn, TopicArn};
use crate::sns::engine::protocol::Endpoint;
use crate::sns::ops::Sns;

impl MockSqs {
    /// The topics that the config file defines, in the order of the file.
    pub fn configured_topics(&self) -> &[TopicArn] {
        &self.configured_topics
    }
}

/// Creates the topics of the settings.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`]: a topic of the data directory differs from that of the file.
pub(super) fn create(sns: &Sns, config: &Config) -> io::Result<()> {
    let topics = config.topics.iter().zip(arns(config)).enumerate();
    let topics = topics.map(|(at, (topic, arn))| {
        create_one(sns, topic, &arn).map_err(|text| Problem::new(format!("topics[{at}].name"), text))
    });
    let subscriptions = config.subscriptions.iter().enumerate();
    let subscriptions = subscriptions.map(|(at, one)| {
        let topic = one.topic_arn(config.region(), config.account());
        subscribe(sns, one, &topic).map_err(|text| Problem::new(format!("subscriptions[{at}].topic"), text))
    });
    match topics.chain(subscriptions).find_map(Result::err) {
        None => Ok(()),
        Some(problem) => Err(config.source.refuse(vec![problem])),
    }
}

fn create_one(sns: &Sns, topic: &TopicDefinition, arn: &TopicArn) -> Result<(), String> {
    let tags: Vec<_> = topic.tags.iter().map(|(key, value)| (&**key, &**value)).collect();
    let attributes = topic.attributes();
    let created = sns.create_topic((&arn.region, &arn.account), &topic.name, &pairs(&attributes), &tags);
    created.map(drop).map_err(|error| reason(&error, ""))
}

fn subscribe(sns: &Sns, subscription: &SubscriptionDefinition, topic: &TopicArn) -> Result<(), String> {
    // The file was checked when it was read.
    let Some(endpoint) = subscription.endpoint(topic) else { return Ok(()) };
    // A queue of another account subscribes itself, so that it needs no confirmation.
    let account = match &endpoint {
        Endpoint::Queue(queue) => queue.account.to_string(),
        Endpoint::Outside(..) => topic.account.to_string(),
    };
    let attributes = subscription.attributes(topic);
    let subscribed = sns.subscribe_confirmed(topic, (endpoint, &account), &pairs(&attributes));
    subscribed.map_err(|error| reason(&error, ""))
}

fn pairs<'p>(attributes: &'p [(&'static str, String)]) -> Vec<(&'p str, &'p str)> {
    attributes.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// The topics of the settings, in the order of the file.
pub(super) fn arns(config: &Config) -> Vec<TopicArn> {
    let arn = |topic: &TopicDefinition| {
        let region = topic.region.as_deref().unwrap_or(config.region());
        TopicArn::new(region, topic.account.as_deref().unwrap_or(config.account()), &topic.name)
    };
    config.topics.iter().map(arn).collect()
}

/// Conflicts between topics, and names that the file does not define. ARNs may be those of the data directory.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let topics = arns(config);
    let paths: Vec<_> = (0..topics.len()).map(|at| format!("topics[{at}]")).collect();
    let mut found = duplicates("topic", paths.iter().map(String::as_str).zip(&topics), &config.source);
    let queues = queues::arns(config);
    for (at, subscription) in config.subscriptions.iter().enumerate() {
        let topic = subscription.topic_arn(config.region(), config.account());
        if !subscription.topic.contains(':') && !topics.contains(&topic) {
            let near = |other: &&TopicArn| other.region == topic.region && other.account == topic.account;
            let near: BTreeSet<_> = topics.iter().filter(near).map(|other| &*other.name).collect();
            let place = (&*topic.region, &*topic.account);
            let text = absent("topic", &topic.name, place, near.into_iter());
            found.push(Problem::new(format!("subscriptions[{at}].topic"), text));
        }
        let named = [("queue", &subscription.queue), ("dead_letter_queue", &subscription.dead_letter_queue)];
        for (key, name) in named {
            let name = name.as_deref().filter(|name| !name.contains(':'));
            let text = name.and_then(|name| problem_of_queue(name, &topic, &queues));
            found.extend(text.map(|text| Problem::new(format!("subscriptions[{at}].{key}"), text)));
        }
    }
    found
}

/// Why the file has no queue of this name for a topic.
fn problem_of_queue(name: &str, topic: &TopicArn, queues: &BTreeSet<QueueArn>) -> Option<String> {
    let queue = QueueArn::new(&topic.region, &topic.account, name);
    let near = queues.iter().filter(|other| other.is_neighbour_of(&queue)).map(|other| &*other.name);
    (!queues.contains(&queue)).then(|| absent("queue", name, (&queue.region, &queue.account), near))
}
