//! Requests and entries as faults see them, and which of them a fault affects.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use sqs_client::operation::Action;

use super::effect::Effect;
use crate::service::clock::Timestamp;
use crate::service::operation::{Operation, ServiceName};
use crate::service::resource::Resource;

/// A request, for the conditions of a fault.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The service that it is sent to.
    pub service: ServiceName,
    /// The name of its operation, such as `SendMessage`.
    pub operation: &'a str,
    /// The resource that the request addresses, if it names one.
    pub resource: Option<Resource>,
    /// The account of the caller, 12 digits.
    pub account: &'a str,
    /// The region of the caller.
    pub region: &'a str,
    /// The arrival time, by the clock of the server.
    pub time: Timestamp,
    /// The messages or receipt handles: one for each entry of a batch, one for a single send, delete or change of
    /// visibility, none for other requests.
    pub entries: Vec<Entry<'a>>,
    /// Whether the messages in its response can be delivered again.
    pub(crate) can_redeliver: bool,
}

impl Request<'_> {
    /// The action, if the request is for SQS.
    pub fn action(&self) -> Option<Action> {
        Action::from_name(self.operation).filter(|_| self.service == ServiceName::Sqs)
    }

    /// The name of the queue, if the request addresses one.
    pub fn queue(&self) -> Option<&str> {
        match &self.resource {
            Some(Resource::Queue(arn)) => Some(&arn.name),
            _ => None,
        }
    }

    /// The name of the topic, if the request addresses one or a subscription to it.
    pub fn topic(&self) -> Option<&str> {
        self.resource.as_ref().and_then(Resource::topic)
    }
}

/// A message or a receipt handle of a request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The position in the batch, from 0; 0 without a batch.
    pub index: usize,
    /// The id in the batch; `None` without a batch.
    pub id: Option<&'a str>,
    /// The body of the message.
    pub body: Option<&'a str>,
    /// The message group id.
    pub group: Option<&'a str>,
    /// The message deduplication id.
    pub deduplication_id: Option<&'a str>,
    /// The receipt handle.
    pub receipt_handle: Option<&'a str>,
}

/// A condition as a Rust closure.
pub(super) struct Condition<F: ?Sized>(pub(super) Arc<F>);

impl<F: ?Sized> Clone for Condition<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<F: ?Sized> fmt::Debug for Condition<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

pub(super) type OnRequest = Condition<dyn Fn(&Request<'_>) -> bool + Send + Sync>;
pub(super) type OnEntry = Condition<dyn Fn(&Entry<'_>) -> bool + Send + Sync>;

/// Which requests and entries a fault affects, and how often. All conditions must hold; an empty filter accepts
/// everything.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Filter {
    pub(super) service: Option<ServiceName>,
    /// One of these.
    pub(super) actions: Vec<Operation>,
    /// The name of the queue.
    pub(super) queue: Option<String>,
    pub(super) bucket: Option<String>,
    pub(super) key_prefix: Option<String>,
    /// The name of the topic.
    pub(super) topic: Option<String>,
    #[serde(skip)]
    pub(super) condition: Option<OnRequest>,
    /// One of these positions in the batch.
    pub(super) entries: Vec<usize>,
    pub(super) group: Option<String>,
    pub(super) body_contains: Option<String>,
    #[serde(skip)]
    pub(super) entry_condition: Option<OnEntry>,
    pub(super) skip: Option<u64>,
    pub(super) times: Option<u64>,
    /// 0 to 1.
    #[serde(deserialize_with = "number")]
    pub(super) probability: Option<f64>,
    /// Requests per second that are not affected.
    pub(super) above: Option<u32>,
}

/// Rejects `null`, which `nan` of a config file becomes.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    f64::deserialize(deserializer).map(Some)
}

impl Filter {
    /// The services that the fields of a fault imply, with the name of each field.
    pub(super) fn services(&self, effect: &Effect) -> impl Iterator<Item = (&'static str, ServiceName)> {
        use ServiceName::{S3, Sns, Sqs};
        let of_sns = self.service == Some(Sns)
            || self.topic.is_some()
            || self.actions.iter().any(|action| action.service == Sns);
        // Both have messages.
        let of_messages = if of_sns { Sns } else { Sqs };
        let fields = [
            ("service", self.service),
            ("effect", effect.service()),
            ("effect", effect.is_of_entries().then_some(of_messages)),
            ("queue", self.queue.is_some().then_some(Sqs)),
            ("group", self.group.is_some().then_some(of_messages)),
            ("body_contains", self.body_contains.is_some().then_some(of_messages)),
            ("entries", (!self.entries.is_empty()).then_some(of_messages)),
            ("bucket", self.bucket.is_some().then_some(S3)),
            ("key_prefix", self.key_prefix.is_some().then_some(S3)),
            ("topic", self.topic.is_some().then_some(Sns)),
        ];
        let actions = self.actions.iter().map(|action| ("actions", Some(action.service)));
        fields.into_iter().chain(actions).filter_map(|(field, service)| Some((field, service?)))
    }

    /// Whether a request can have this effect, apart from its entries.
    pub(super) fn accepts(&self, effect: &Effect, request: &Request<'_>) -> bool {
        let mut services = self.services(effect).map(|(_, service)| service).peekable();
        let resource = request.resource.as_ref();
        let has_prefix =
            |prefix: &str| resource.and_then(Resource::key).is_some_and(|key| key.starts_with(prefix));
        (services.peek().is_some() || request.service == ServiceName::Sqs)
            && services.all(|service| service == request.service)
            && (self.actions.is_empty() || self.actions.iter().any(|action| action.name == request.operation))
            && self.queue.as_deref().is_none_or(|queue| request.queue() == Some(queue))
            && self.bucket.as_deref().is_none_or(|bucket| resource.and_then(Resource::bucket) == Some(bucket))
            && self.key_prefix.as_deref().is_none_or(has_prefix)
            && self.topic.as_deref().is_none_or(|topic| request.topic() == Some(topic))
            && self.condition.as_ref().is_none_or(|condition| (condition.0)(request))
    }

    /// Whether it accepts one of the entries. Without conditions on entries it also accepts a request without entries.
    pub(super) fn accepts_any(&self, entries: &[Entry<'_>]) -> bool {
        let is_empty = self.entries.is_empty()
            && self.group.is_none()
            && self.body_contains.is_none()
            && self.entry_condition.is_none();
        is_empty || entries.iter().any(|entry| self.accepts_entry(entry))
    }

    pub(super) fn accepts_entry(&self, entry: &Entry<'_>) -> bool {
        let has = |part: &str| entry.body.is_some_and(|body| body.contains(part));
        (self.entries.is_empty() || self.entries.contains(&entry.index))
            && self.group.as_deref().is_none_or(|group| entry.group == Some(group))
            && self.body_contains.as_deref().is_none_or(has)
            && self.entry_condition.as_ref().is_none_or(|condition| (condition.0)(entry))
    }
}
