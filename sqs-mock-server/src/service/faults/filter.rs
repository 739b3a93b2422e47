//! The requests and entries that a fault affects.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Entry, Request};
use crate::service::operation::{Operation, ServiceName};
use crate::service::resource::Resource;

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

/// Conditions on a request. All of them must hold; an empty filter accepts every request.
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
}

/// Conditions on an entry. All of them must hold; an empty filter accepts every entry.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct EntryFilter {
    /// One of these positions in the batch.
    pub(super) entries: Vec<usize>,
    pub(super) group: Option<String>,
    pub(super) body_contains: Option<String>,
    #[serde(skip)]
    pub(super) condition: Option<OnEntry>,
}

impl Filter {
    /// Whether a request is accepted, apart from its service and its entries.
    pub(super) fn accepts(&self, request: &Request<'_>) -> bool {
        let Self { service: _, actions, queue, bucket, key_prefix, topic, condition } = self;
        let resource = request.resource.as_ref();
        let has_prefix =
            |prefix: &str| resource.and_then(Resource::key).is_some_and(|key| key.starts_with(prefix));
        (actions.is_empty() || actions.iter().any(|action| action.name == request.operation))
            && queue.as_deref().is_none_or(|queue| request.queue() == Some(queue))
            && bucket.as_deref().is_none_or(|bucket| resource.and_then(Resource::bucket) == Some(bucket))
            && key_prefix.as_deref().is_none_or(has_prefix)
            && topic.as_deref().is_none_or(|topic| request.topic() == Some(topic))
            && condition.as_ref().is_none_or(|condition| (condition.0)(request))
    }
}

impl EntryFilter {
    /// Whether it accepts one of the entries. An empty filter also accepts a request without entries.
    pub(super) fn accepts_any(&self, entries: &[Entry<'_>]) -> bool {
        let Self { entries: positions, group, body_contains, condition } = self;
        let is_empty =
            positions.is_empty() && group.is_none() && body_contains.is_none() && condition.is_none();
        is_empty || entries.iter().any(|entry| self.accepts(entry))
    }

    pub(super) fn accepts(&self, entry: &Entry<'_>) -> bool {
        let Self { entries, group, body_contains, condition } = self;
        (entries.is_empty() || entries.contains(&entry.index))
            && group.as_deref().is_none_or(|group| entry.group == Some(group))
            && body_contains.as_deref().is_none_or(|part| entry.body.is_some_and(|body| body.contains(part)))
            && condition.as_ref().is_none_or(|condition| (condition.0)(entry))
    }
}
