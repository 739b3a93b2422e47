//! Which requests and entries a fault strikes.

use std::fmt;
use std::sync::Arc;

use sqs_client::operation::Action;

use super::{Entry, Request};

/// A condition of the user's own on a request.
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

/// All that must hold. An empty filter lets everything through.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    /// One of these.
    pub(super) actions: Vec<Action>,
    pub(super) queue: Option<String>,
    pub(super) request: Option<OnRequest>,
    pub(super) entry: EntryFilter,
    /// There when requests to S3 are meant, and none to SQS.
    #[cfg(feature = "s3")]
    pub(super) s3: Option<super::s3::S3Filter>,
}

/// All that must hold of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryFilter {
    /// One of these places.
    pub(super) indices: Vec<usize>,
    pub(super) group: Option<String>,
    /// A part of the body.
    pub(super) body: Option<String>,
    pub(super) condition: Option<OnEntry>,
}

impl Filter {
    /// Whether a request as a whole is meant: with a filter on entries, one of its entries must be.
    pub(super) fn takes(&self, request: &Request<'_>) -> bool {
        self.takes_head(request)
            && (self.entry.is_empty() || request.entries.iter().any(|entry| self.entry.takes(entry)))
    }

    /// Names of the operations that are meant, of either service.
    pub(super) fn action_names(&self) -> Vec<String> {
        let names = self.actions.iter().map(ToString::to_string);
        #[cfg(feature = "s3")]
        let names = names.chain(self.s3.iter().flat_map(|s3| &s3.actions).map(ToString::to_string));
        names.collect()
    }

    /// Whether entries of this request can be meant.
    pub(super) fn takes_head(&self, request: &Request<'_>) -> bool {
        !self.is_of_s3()
            && (self.actions.is_empty() || self.actions.contains(&request.action))
            && self.queue.as_deref().is_none_or(|queue| request.queue == Some(queue))
            && self.request.as_ref().is_none_or(|condition| (condition.0)(request))
    }
}

#[cfg(feature = "s3")]
impl Filter {
    fn is_of_s3(&self) -> bool {
        self.s3.is_some()
    }

    /// Whether no condition is there that no request to S3 can meet.
    pub(super) fn names_nothing_of_sqs(&self) -> bool {
        self.actions.is_empty() && self.queue.is_none() && self.request.is_none() && self.entry.is_empty()
    }
}

#[cfg(not(feature = "s3"))]
impl Filter {
    #[expect(clippy::unused_self, reason = "there is no S3")]
    fn is_of_s3(&self) -> bool {
        false
    }
}

impl EntryFilter {
    fn is_empty(&self) -> bool {
        self.indices.is_empty() && self.group.is_none() && self.body.is_none() && self.condition.is_none()
    }

    pub(super) fn takes(&self, entry: &Entry<'_>) -> bool {
        (self.indices.is_empty() || self.indices.contains(&entry.index))
            && self.group.as_deref().is_none_or(|group| entry.group == Some(group))
            && self.body.as_deref().is_none_or(|part| entry.body.is_some_and(|body| body.contains(part)))
            && self.condition.as_ref().is_none_or(|condition| (condition.0)(entry))
    }
}
