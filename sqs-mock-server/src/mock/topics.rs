//! Views of topics, recorded requests to SNS and STS, and the topics and subscriptions of a config file, which are created
//! with the rules of `CreateTopic` and `Subscribe`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;
use std::io;
use std::sync::Arc;

use sqs_client::types::MessageAttributeValue;

use crate::config::Config;
use crate::config::file::Problem;
use crate::config::topics::{SubscriptionDefinition, TopicDefinition, reason};
use crate::control::arn::{QueueArn, TopicArn};
use crate::control::operation::ServiceName;
use crate::control::seed::Uuid;
use crate::mock::queues::{absent, duplicates};
use crate::mock::{MockSqs, queues};
use crate::outgoing::log::OutgoingRequest;
use crate::query::QueryRequest;
use crate::sns::Sns;
use crate::sns::engine::NotCreated;
use crate::sns::engine::message::Draft;
use crate::sns::engine::subscription::Endpoint;
use crate::sns::inspect::{PublishedMessage, SubscriptionDescription};
use crate::sns::publish::publish;

/// A view of one topic of a [`MockSqs`], which can also publish to it.
///
/// The page [topics](crate::guide::topics#in-a-rust-test) has an example.
#[derive(Clone, Debug)]
pub struct TopicView<'s> {
    sns: &'s Sns,
    base_url: String,
    arn: TopicArn,
}

impl<'s> TopicView<'s> {
    /// The topic with this name in another account, given as 12 digits.
    pub fn of_account(mut self, account: &str) -> Self {
        self.arn.account = account.into();
        self
    }

    /// The topic with this name in another region.
    pub fn in_region(mut self, region: &str) -> Self {
        self.arn.region = region.into();
        self
    }

    /// The ARN, whether the topic exists or not.
    pub fn arn(&self) -> &TopicArn {
        &self.arn
    }

    /// Whether the topic exists.
    pub fn exists(&self) -> bool {
        self.sns.has(&self.arn)
    }

    /// The subscriptions, sorted by protocol and endpoint; empty if the topic does not exist.
    pub fn subscriptions(&self) -> Vec<SubscriptionDescription> {
        self.sns.subscriptions_of(&self.arn)
    }

    /// The [latest](crate::mock::builder::MockSqsBuilder::journal) messages that the topic took, oldest first, also if it was deleted
    /// since. Duplicates on FIFO topics are not among them.
    pub fn published(&self) -> Vec<Arc<PublishedMessage>> {
        self.sns.published_to(&self.arn)
    }

    /// The [latest](crate::mock::builder::MockSqsBuilder::journal) requests to web hooks that subscribe to the topic, oldest first.
    pub fn deliveries(&self) -> Vec<Arc<OutgoingRequest>> {
        let source = self.arn.to_string();
        let mut all = self.sns.outgoing.log.all();
        all.retain(|request| request.source == source);
        all
    }

    /// Begins a message, which [`send`](PublishMessage::send) publishes without an SDK for SNS.
    pub fn publish(&self, message: impl Into<String>) -> PublishMessage<'s> {
        PublishMessage {
            topic: self.clone(),
            message: message.into(),
            subject: None,
            attributes: HashMap::new(),
            group: None,
            deduplication_id: None,
        }
    }
}

/// A message for a topic: see [`TopicView::publish`].
#[derive(Clone, Debug)]
#[must_use = "`send` publishes it"]
pub struct PublishMessage<'s> {
    topic: TopicView<'s>,
    message: String,
    subject: Option<String>,
    attributes: HashMap<String, MessageAttributeValue>,
    group: Option<String>,
    deduplication_id: Option<String>,
}

impl PublishMessage<'_> {
    /// Sets the subject: less than 100 characters, on one line.
    pub fn subject(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    /// Adds a message attribute. Filter policies see it, and so do queues with raw message delivery.
    pub fn message_attributes(mut self, name: impl Into<String>, value: MessageAttributeValue) -> Self {
        self.attributes.insert(name.into(), value);
        self
    }

    /// Sets the message group, which FIFO topics require.
    pub fn message_group_id(self, group: impl Into<String>) -> Self {
        Self { group: Some(group.into()), ..self }
    }

    /// Sets the deduplication id, which FIFO topics without content-based deduplication require.
    pub fn message_deduplication_id(self, id: impl Into<String>) -> Self {
        Self { deduplication_id: Some(id.into()), ..self }
    }

    /// Publishes the message as the action `Publish` does, and returns its id. It is in the queues of subscribers when this returns. The
    /// call is not among the [recorded requests](MockSqs::sns_requests), and faults do not affect it.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is no such topic, [`io::ErrorKind::InvalidInput`] if SNS refuses the message, both with its
    /// code and text. Another kind if the message cannot be stored.
    ///
    /// # Cancel safety
    /// If the future is dropped, the message is published to all subscribers or to none.
    pub async fn send(self) -> io::Result<Uuid> {
        let Self {
            topic: TopicView { sns, base_url, arn },
            message,
            subject,
            attributes,
            group,
            deduplication_id,
        } = &self;
        let draft = Draft {
            text: message,
            subject: subject.as_deref(),
            structure: None,
            attributes: attributes.clone(),
            group: group.as_deref(),
            deduplication_id: deduplication_id.as_deref(),
        };
        let receipt = publish(sns, base_url, arn, draft).await.map_err(|error| {
            let kind = match error.status {
                404 => io::ErrorKind::NotFound,
                400..500 => io::ErrorKind::InvalidInput,
                _ => io::ErrorKind::Other,
            };
            io::Error::new(kind, format!("{arn}: {error}"))
        })?;
        Ok(receipt.id)
    }
}

impl MockSqs {
    /// The topics that the config file defines, in the order of the file.
    pub fn configured_topics(&self) -> &[TopicArn] {
        &self.configured_topics
    }

    /// A view of a topic in the server's own account and region, whether it exists or not.
    pub fn topic(&self, name: &str) -> TopicView<'_> {
        let arn = TopicArn::new(&self.names().region, &self.names().account, name);
        let base_url = self.names().base_url("http", &self.names().own_host);
        TopicView { sns: &self.services.sns.actions, base_url, arn }
    }

    /// The [latest](crate::mock::builder::MockSqsBuilder::journal) requests to SNS, oldest first.
    pub fn sns_requests(&self) -> Vec<QueryRequest> {
        QueryRequest::all(&self.services.front.journal, ServiceName::Sns)
    }

    /// The [latest](crate::mock::builder::MockSqsBuilder::journal) requests to STS, oldest first.
    pub fn sts_requests(&self) -> Vec<QueryRequest> {
        QueryRequest::all(&self.services.front.journal, ServiceName::Sts)
    }
}

/// Creates the topics and subscriptions of the settings, also those after one that cannot be created. Those that exist keep
/// their values, as [queues](queues::create) do.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`], with a line for each topic and subscription that cannot be created.
pub(crate) fn create(sns: &Sns, config: &Config) -> io::Result<()> {
    let topics = config.topics.iter().zip(arns(config)).enumerate();
    let topics = topics.map(|(at, (topic, arn))| {
        create_one(sns, topic, &arn).map_err(|text| Problem::new(format!("topics[{at}].name"), text))
    });
    let subscriptions = config.subscriptions.iter().enumerate();
    let subscriptions = subscriptions.map(|(at, one)| {
        let topic = one.topic_arn(config.region(), config.account());
        subscribe(sns, one, &topic).map_err(|text| Problem::new(format!("subscriptions[{at}].topic"), text))
    });
    config.source.check(topics.chain(subscriptions).filter_map(Result::err).collect())
}

fn create_one(sns: &Sns, topic: &TopicDefinition, arn: &TopicArn) -> Result<(), String> {
    let tags: Vec<_> = topic.tags.iter().map(|(key, value)| (&**key, &**value)).collect();
    let attributes = topic.attributes();
    let created = sns.create_topic((&arn.region, &arn.account), &topic.name, &pairs(&attributes), &tags);
    created_or_kept(arn, created.map(drop))
}

fn created_or_kept(what: impl Display, created: Result<(), NotCreated>) -> Result<(), String> {
    match created {
        Err(NotCreated::Different(error)) => queues::kept(what, &reason(&error, "")),
        Err(NotCreated::Refused(error)) => return Err(reason(&error, "")),
        Ok(()) => {}
    }
    Ok(())
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
    let what = format!("the subscription of {endpoint} to {topic}");
    let subscribed = sns.subscribe_confirmed(topic, (endpoint, &account), &pairs(&attributes));
    created_or_kept(what, subscribed)
}

fn pairs<'p>(attributes: &'p [(&'static str, String)]) -> Vec<(&'p str, &'p str)> {
    attributes.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// The topics of the settings, in the order of the file.
pub(crate) fn arns(config: &Config) -> Vec<TopicArn> {
    let arn = |topic: &TopicDefinition| {
        let region = topic.region.as_deref().unwrap_or(config.region());
        TopicArn::new(region, topic.account.as_deref().unwrap_or(config.account()), &topic.name)
    };
    config.topics.iter().map(arn).collect()
}

/// Conflicts between topics, and names that the file does not define. ARNs may be those of the data directory.
pub(crate) fn problems(config: &Config) -> Vec<Problem> {
    let topics = arns(config);
    let paths: Vec<_> = (0..topics.len()).map(|at| format!("topics[{at}]")).collect();
    let mut found = duplicates("topic", paths.iter().map(String::as_str).zip(&topics), &config.source);
    let queues = queues::arns(config);
    let mut subscribed = BTreeMap::new();
    for (at, subscription) in config.subscriptions.iter().enumerate() {
        let topic = subscription.topic_arn(config.region(), config.account());
        if !subscription.topic.contains(':') && !topics.contains(&topic) {
            let near = |other: &&TopicArn| other.region == topic.region && other.account == topic.account;
            let near: BTreeSet<_> = topics.iter().filter(near).map(|other| &*other.name).collect();
            let place = (&*topic.region, &*topic.account);
            let text = absent("topic", &topic.name, place, near.into_iter());
            found.push(Problem::new(format!("subscriptions[{at}].topic"), text));
        }
        if let Some(endpoint) = subscription.endpoint(&topic) {
            let pair = (topic.clone(), endpoint.protocol().into_str(), endpoint.to_string());
            let first = *subscribed.entry(pair).or_insert(at);
            if first < at {
                let first = config.source.line(&format!("subscriptions[{first}].topic"));
                let text =
                    format!("duplicate subscription of {endpoint} to this topic; first defined at {first}");
                found.push(Problem::new(format!("subscriptions[{at}].topic"), text));
            }
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
