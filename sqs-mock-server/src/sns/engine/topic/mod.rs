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
use crate::service::clock::Timestamp;
use crate::service::query_error::QueryError;

pub(crate) use publish::Published;
#[cfg(any(test, feature = "durable"))]
pub(crate) use state::TopicState;
pub(crate) use subscriptions::NewSubscription;

/// A topic.
#[derive(Debug)]
pub(crate) struct Topic {
    settings: TopicSettings,
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
        let settings = TopicSettings { arn, attributes, tags };
        let (subscriptions, changes) = (BTreeMap::new(), Recorder::default());
        Ok(Self { settings, subscriptions, unsubscribed: 0, fifo, changes })
    }

    /// Records its creation and all later changes.
    pub(crate) fn record_changes(&mut self) {
        self.changes.start();
        self.changes.record(|| TopicChange::Created(Box::new(self.settings.clone())));
    }

    /// The changes since the last call; empty without a reader.
    pub(crate) fn take_changes(&mut self) -> Vec<TopicChange> {
        self.changes.take()
    }

    fn record_settings(&mut self) {
        self.changes.record(|| TopicChange::Set(Box::new(self.settings.clone())));
    }

    /// Its ARN.
    pub(crate) fn arn(&self) -> &TopicArn {
        &self.settings.arn
    }

    /// Checks that a request to create it again names nothing that it does not have.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn check_same(&self, requested: &[(&str, &str)], tags: &Tags) -> Result<(), QueryError> {
        let shown = self.settings.attributes.shown(&self.settings.arn);
        let is_same = |(name, value): &(&str, &str)| match *name {
            "FifoTopic" => self.settings.arn.is_fifo() == value.eq_ignore_ascii_case("true"),
            name => shown.get(name).is_some_and(|own| json::are_equal(own, value)),
        };
        if !requested.iter().all(is_same) {
            return Err(invalid("Attributes Reason: Topic already exists with different attributes"));
        }
        if !self.settings.tags.include(tags) {
            return Err(invalid("Tags Reason: Topic already exists with different tags"));
        }
        Ok(())
    }

    /// The attributes that `GetTopicAttributes` returns.
    pub(crate) fn shown(&self, now: Timestamp) -> BTreeMap<String, String> {
        let confirmed = self.subscriptions(now).filter(|subscription| subscription.is_confirmed()).count();
        let pending = self.subscriptions(now).count() - confirmed;
        let mut shown = self.settings.attributes.shown(&self.settings.arn);
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
        self.settings.attributes.set(&self.settings.arn, name, value)?;
        self.record_settings();
        Ok(())
    }

    /// The tags.
    pub(crate) fn tags(&self) -> &Tags {
        &self.settings.tags
    }

    /// Adds tags, all or none. Values of existing keys are replaced.
    ///
    /// # Errors
    /// `TagLimitExceeded`.
    pub(crate) fn tag(&mut self, tags: Tags) -> Result<(), QueryError> {
        self.settings.tags.add(tags)?;
        self.record_settings();
        Ok(())
    }

    /// Removes tags. Unknown keys are ignored.
    pub(crate) fn untag(&mut self, keys: &[&str]) {
        self.settings.tags.remove(keys);
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
        let policy = self.settings.attributes.policy(&self.settings.arn);
        let policy = policy::with_permission(&policy, &self.settings.arn, label, accounts, actions)?;
        self.settings.attributes.set_policy(policy);
        self.record_settings();
        Ok(())
    }

    /// Removes a statement from the policy.
    ///
    /// # Errors
    /// `InternalError`, never for a policy that was accepted before.
    pub(crate) fn remove_permission(&mut self, label: &str) -> Result<(), QueryError> {
        let policy = policy::without_permission(&self.settings.attributes.policy(&self.settings.arn), label)?;
        self.settings.attributes.set_policy(policy);
        self.record_settings();
        Ok(())
    }

    /// The version of signatures of its notifications.
    pub(crate) fn signature_version(&self) -> &str {
        self.settings.attributes.signature_version()
    }
}
