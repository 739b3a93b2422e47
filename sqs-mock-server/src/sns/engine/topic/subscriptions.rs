//! The subscriptions of a topic.

use super::{Topic, first_lapse};
use crate::service::clock::Timestamp;
use crate::service::query_error::QueryError;
use crate::service::seed::Uuid;
use crate::sns::engine::arn::SubscriptionArn;
use crate::sns::engine::change::TopicChange;
use crate::sns::engine::protocol::Endpoint;
use crate::sns::engine::refusal::{invalid, no_subscription};
use crate::sns::engine::subscription::{State, Subscription};
use crate::sns::engine::subscription_attributes::Attributes;

const MAX_SUBSCRIPTIONS_OF_FIFO: usize = 100;
/// A limit of this server that bounds memory. AWS allows 12,500,000.
const MAX_SUBSCRIPTIONS: usize = 100_000;
/// The number of subscriptions of a topic with a filter policy.
const MAX_FILTER_POLICIES: usize = 200;

/// A request to subscribe.
#[derive(Debug)]
pub(crate) struct NewSubscription<'a> {
    pub(crate) endpoint: Endpoint,
    /// The account of the caller.
    pub(crate) owner: &'a str,
    pub(crate) attributes: &'a [(&'a str, &'a str)],
    /// For a subscription that needs confirmation.
    pub(crate) token: String,
    pub(crate) id: Uuid,
}

impl Topic {
    /// Subscribes an endpoint. An endpoint that is subscribed already keeps its subscription.
    ///
    /// # Errors
    /// `InvalidParameter`, `SubscriptionLimitExceeded`.
    pub(crate) fn subscribe(
        &mut self,
        now: Timestamp,
        new: NewSubscription<'_>,
    ) -> Result<Subscription, QueryError> {
        let NewSubscription { endpoint, owner, attributes: requested, token, id } = new;
        let attributes = self.check_subscription(&endpoint, requested)?;
        let known = self.subscriptions.values().find(|known| known.endpoint == endpoint);
        if let Some(known) = known {
            if !known.attributes.include(requested) {
                let text = "Attributes Reason: Subscription already exists with different attributes";
                return Err(invalid(text));
            }
            return Ok(known.clone());
        }
        let most = if self.settings.arn.is_fifo() { MAX_SUBSCRIPTIONS_OF_FIFO } else { MAX_SUBSCRIPTIONS };
        if self.subscriptions.len() >= most {
            let text = format!("Subscription quota exceeded: a topic has at most {most}");
            return Err(QueryError::new(403, "SubscriptionLimitExceeded", text));
        }
        if attributes.filter.is_some() {
            self.check_filter_quota(None)?;
        }
        let is_foreign = matches!(&endpoint, Endpoint::Queue(queue) if *queue.account != *owner);
        let state = if is_foreign || endpoint.protocol().needs_confirmation() {
            State::Pending { token: token.into(), since: now }
        } else {
            State::Confirmed
        };
        let id: Box<str> = id.to_string().into();
        let arn = SubscriptionArn { topic: self.settings.arn.clone(), id: id.clone() };
        let subscription = Subscription { arn, endpoint, owner: owner.into(), state, attributes };
        self.changes.record(|| TopicChange::Subscribed(Box::new(subscription.clone())));
        self.lapse = self.lapse.into_iter().chain(subscription.lapse()).min();
        self.subscriptions.insert(id, subscription.clone());
        Ok(subscription)
    }

    /// The attributes of a subscription of this endpoint.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn check_subscription(
        &self,
        endpoint: &Endpoint,
        requested: &[(&str, &str)],
    ) -> Result<Attributes, QueryError> {
        let (protocol, of_fifo) = (endpoint.protocol(), self.settings.arn.is_fifo());
        if of_fifo && !protocol.takes_fifo() {
            return Err(invalid(format_args!("Invalid protocol type: {}", protocol.as_str())));
        }
        if !of_fifo && endpoint.is_fifo() {
            // AWS writes the prefix twice.
            return Err(invalid(
                "Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics",
            ));
        }
        Attributes::create(endpoint, of_fifo, requested)
    }

    /// Whether one more subscription, or the one with this id, can have a filter policy.
    fn check_filter_quota(&self, id: Option<&str>) -> Result<(), QueryError> {
        let others = self.subscriptions.values().filter(|subscription| Some(&*subscription.arn.id) != id);
        let filtered = others.filter(|subscription| subscription.attributes.filter.is_some());
        if filtered.count() < MAX_FILTER_POLICIES {
            return Ok(());
        }
        let text = format!("Filter policy quota exceeded: a topic has at most {MAX_FILTER_POLICIES}");
        Err(QueryError::new(403, "FilterPolicyLimitExceeded", text))
    }

    /// Removes subscriptions that were not confirmed within two days.
    pub(crate) fn forget_lapsed(&mut self, now: Timestamp) {
        let has_lapsed = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        if !has_lapsed(self.lapse) {
            return;
        }
        let lapsed = self.subscriptions.extract_if(.., |_, subscription| has_lapsed(subscription.lapse()));
        let ids: Vec<_> = lapsed.map(|(id, _)| id).collect();
        self.lapse = first_lapse(&self.subscriptions);
        if !ids.is_empty() {
            let deleted = self.unsubscribed;
            self.changes.record(|| TopicChange::Unsubscribed { ids, deleted });
        }
    }

    /// Removes a subscription. Unknown ids are ignored.
    pub(crate) fn unsubscribe(&mut self, id: &str) {
        if self.subscriptions.remove(id).is_some() {
            self.unsubscribed += 1;
            let (ids, deleted) = (vec![id.into()], self.unsubscribed);
            self.changes.record(|| TopicChange::Unsubscribed { ids, deleted });
        }
    }

    /// Confirms the subscription that has this token, if there is one.
    pub(crate) fn confirm(&mut self, token: &str, is_signed: bool) -> Option<&Subscription> {
        let mut all = self.subscriptions.values_mut();
        let found = all.find(|subscription| subscription.token() == Some(token))?;
        if !found.is_confirmed() {
            found.confirm(is_signed);
            self.changes.record(|| TopicChange::Subscribed(Box::new(found.clone())));
        }
        Some(found)
    }

    /// All subscriptions, sorted by id.
    pub(crate) fn subscriptions(&self) -> impl Iterator<Item = &Subscription> {
        self.subscriptions.values()
    }

    /// A subscription.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) fn subscription(&self, id: &str) -> Result<&Subscription, QueryError> {
        self.subscriptions.get(id).ok_or_else(no_subscription)
    }

    /// Sets an attribute of a subscription.
    ///
    /// # Errors
    /// `NotFound`, `FilterPolicyLimitExceeded`, `InvalidParameter`.
    pub(crate) fn set_subscription_attribute(
        &mut self,
        id: &str,
        (name, value): (&str, &str),
    ) -> Result<(), QueryError> {
        self.subscription(id)?;
        if name == "FilterPolicy" && !value.is_empty() {
            self.check_filter_quota(Some(id))?;
        }
        let subscription = self.subscriptions.get_mut(id).ok_or_else(no_subscription)?;
        subscription.attributes.set(&subscription.endpoint, self.settings.arn.is_fifo(), name, value)?;
        self.changes.record(|| TopicChange::Subscribed(Box::new(subscription.clone())));
        Ok(())
    }
}
