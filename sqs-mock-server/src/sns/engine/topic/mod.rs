//! A topic with its subscriptions.

mod publish;
#[cfg(any(test, feature = "durable"))]
mod state;
mod subscriptions;

use std::collections::BTreeMap;

use super::change::{Recorder, TopicChange, TopicSettings};
use super::fifo::FifoMemory;
use super::json;
use super::policy;
use super::refusal::invalid;
use super::subscription::Subscription;
use super::tags::Tags;
use super::topic_attributes::Attributes;
use crate::service::arn::TopicArn;
use crate::service::query_error::QueryError;

pub(crate) use publish::Published;
#[cfg(any(test, feature = "durable"))]
pub(crate) use state::TopicState;
pub(crate) use subscriptions::NewSubscription;

/// A topic.
#[derive(Debug)]
pub(crate) struct Topic {
    arn: TopicArn,
    attributes: Attributes,
    tags: Tags,
    /// By id.
    subscriptions: BTreeMap<Box<str>, Subscription>,
    unsubscribed: u64,
    /// On FIFO topics.
    fifo: Option<FifoMemory>,
    changes: Recorder,
}

impl Topic {
    /// Creates a topic.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn new(arn: TopicArn, requested: &[(&str, &str)], tags: Tags) -> Result<Self, QueryError> {
        let fifo = arn.is_fifo().then(FifoMemory::default);
        let attributes = Attributes::create(&arn, requested)?;
        let (subscriptions, changes) = (BTreeMap::new(), Recorder::default());
        Ok(Self { arn, attributes, tags, subscriptions, unsubscribed: 0, fifo, changes })
    }

    /// Records its creation and all later changes.
    pub(crate) fn record_changes(&mut self) {
        let settings = Box::new(self.settings());
        self.changes.start();
        self.changes.record(|| TopicChange::Created(settings));
    }

    /// The changes since the last call; empty without a reader.
    pub(crate) fn take_changes(&mut self) -> Vec<TopicChange> {
        self.changes.take()
    }

    fn settings(&self) -> TopicSettings {
        let Self { arn, attributes, tags, .. } = self;
        TopicSettings { arn: arn.clone(), attributes: attributes.clone(), tags: tags.clone() }
    }

    fn record_settings(&mut self) {
        if self.changes.has_reader() {
            let settings = Box::new(self.settings());
            self.changes.record(|| TopicChange::Set(settings));
        }
    }

    /// Its ARN.
    pub(crate) fn arn(&self) -> &TopicArn {
        &self.arn
    }

    /// Checks that a request to create it again names nothing that it does not have.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn check_same(&self, requested: &[(&str, &str)], tags: &Tags) -> Result<(), QueryError> {
        let shown = self.attributes.shown(&self.arn);
        let is_same = |(name, value): &(&str, &str)| match *name {
            "FifoTopic" => self.arn.is_fifo() == value.eq_ignore_ascii_case("true"),
            name => shown.get(name).is_some_and(|own| json::are_equal(own, value)),
        };
        if !requested.iter().all(is_same) {
            return Err(invalid("Attributes Reason: Topic already exists with different attributes"));
        }
        if !self.tags.include(tags) {
            return Err(invalid("Tags Reason: Topic already exists with different tags"));
        }
        Ok(())
    }

    /// The attributes that `GetTopicAttributes` returns.
    pub(crate) fn shown(&self) -> BTreeMap<String, String> {
        let confirmed =
            self.subscriptions.values().filter(|subscription| subscription.is_confirmed()).count();
        let pending = self.subscriptions.len() - confirmed;
        let mut shown = self.attributes.shown(&self.arn);
        shown.insert("SubscriptionsConfirmed".to_owned(), confirmed.to_string());
        shown.insert("SubscriptionsPending".to_owned(), pending.to_string());
        shown.insert("SubscriptionsDeleted".to_owned(), self.unsubscribed.to_string());
        shown
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn set_attribute(&mut self, name: &str, value: &str) -> Result<(), QueryError> {
        self.attributes.set(&self.arn, name, value)?;
        self.record_settings();
        Ok(())
    }

    /// The tags.
    pub(crate) fn tags(&self) -> &Tags {
        &self.tags
    }

    /// Adds tags, all or none. Values of existing keys are replaced.
    ///
    /// # Errors
    /// `TagLimitExceeded`.
    pub(crate) fn tag(&mut self, tags: Tags) -> Result<(), QueryError> {
        self.tags.add(tags)?;
        self.record_settings();
        Ok(())
    }

    /// Removes tags. Unknown keys are ignored.
    pub(crate) fn untag(&mut self, keys: &[&str]) {
        self.tags.remove(keys);
        self.record_settings();
    }

    /// Adds a statement to the policy.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn add_permission(
        &mut self,
        label: &str,
        accounts: &[&str],
        actions: &[&str],
    ) -> Result<(), QueryError> {
        let policy = self.attributes.policy(&self.arn);
        let policy = policy::with_permission(&policy, &self.arn, label, accounts, actions)?;
        self.attributes.set_policy(policy);
        self.record_settings();
        Ok(())
    }

    /// Removes a statement from the policy.
    ///
    /// # Errors
    /// `InternalError`, never for a policy that was accepted before.
    pub(crate) fn remove_permission(&mut self, label: &str) -> Result<(), QueryError> {
        let policy = policy::without_permission(&self.attributes.policy(&self.arn), label)?;
        self.attributes.set_policy(policy);
        self.record_settings();
        Ok(())
    }

    /// The version of signatures of its notifications.
    pub(crate) fn signature_version(&self) -> &str {
        self.attributes.signature_version()
    }
}
