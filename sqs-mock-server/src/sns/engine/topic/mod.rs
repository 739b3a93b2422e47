//! A topic with its subscriptions.

mod publish;
mod subscriptions;

use std::collections::BTreeMap;

use super::fifo::FifoMemory;
use super::json;
use super::policy;
use super::refusal::invalid;
use super::subscription::Subscription;
use super::tags::Tags;
use super::topic_attributes::Attributes;
use crate::service::arn::TopicArn;
use crate::service::query_error::QueryError;

pub(crate) use subscriptions::NewSubscription;

/// A topic.
#[derive(Debug)]
pub(crate) struct Topic {
    arn: TopicArn,
    attributes: Attributes,
    pub(crate) tags: Tags,
    /// By id.
    subscriptions: BTreeMap<Box<str>, Subscription>,
    unsubscribed: u64,
    /// On FIFO topics.
    fifo: Option<FifoMemory>,
}

impl Topic {
    /// Creates a topic.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn new(arn: TopicArn, requested: &[(&str, &str)], tags: Tags) -> Result<Self, QueryError> {
        let fifo = arn.is_fifo().then(FifoMemory::default);
        let attributes = Attributes::create(&arn, requested)?;
        Ok(Self { arn, attributes, tags, subscriptions: BTreeMap::new(), unsubscribed: 0, fifo })
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
        self.attributes.set(&self.arn, name, value)
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
        Ok(())
    }

    /// Removes a statement from the policy.
    ///
    /// # Errors
    /// `InternalError`, never for a policy that was accepted before.
    pub(crate) fn remove_permission(&mut self, label: &str) -> Result<(), QueryError> {
        let policy = policy::without_permission(&self.attributes.policy(&self.arn), label)?;
        self.attributes.set_policy(policy);
        Ok(())
    }

    /// The version of signatures of its notifications.
    pub(crate) fn signature_version(&self) -> &str {
        self.attributes.signature_version()
    }
}
