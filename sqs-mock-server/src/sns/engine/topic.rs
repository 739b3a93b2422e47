//! A topic with its subscriptions.

use std::collections::BTreeMap;

use sqs_client::wire::checksum::content_deduplication_id;

use super::arn::SubscriptionArn;
use super::batch;
use super::fifo::{FifoMemory, Receipt};
use super::filter::{FilterInput, FilterPolicy};
use super::message::Message;
use super::policy;
use super::protocol::{Endpoint, Protocol};
use super::refusal::{invalid, no_subscription};
use super::subscription::{State, Subscription};
use super::subscription_attributes as of_subscription;
use super::tags::Tags;
use super::topic_attributes::Attributes;
use crate::service::arn::TopicArn;
use crate::service::clock::Timestamp;
use crate::service::query_error::QueryError;
use crate::service::seed::Uuid;

const MAX_SUBSCRIPTIONS_OF_FIFO: usize = 100;
/// A limit of this server that bounds memory. AWS allows 12,500,000.
const MAX_SUBSCRIPTIONS: usize = 100_000;
/// The number of subscriptions to which SNS delivers messages over 256 KiB.
const MAX_SUBSCRIPTIONS_FOR_LARGE: usize = 100;
const LARGE: usize = 262_144;

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

/// A message that a topic took.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Published {
    pub(crate) receipt: Receipt,
    /// Whether it is delivered. A duplicate is not.
    pub(crate) is_new: bool,
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
            name => shown.get(name).is_some_and(|own| super::json::are_equal(own, value)),
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

    /// Subscribes an endpoint. An endpoint that is subscribed already keeps its subscription.
    ///
    /// # Errors
    /// `InvalidParameter`, `SubscriptionLimitExceeded`.
    pub(crate) fn subscribe(
        &mut self,
        now: Timestamp,
        new: NewSubscription<'_>,
    ) -> Result<&Subscription, QueryError> {
        let NewSubscription { endpoint, owner, attributes: requested, token, id } = new;
        self.check_endpoint(&endpoint)?;
        let attributes = of_subscription::Attributes::create(&endpoint, self.arn.is_fifo(), requested)?;
        self.forget_lapsed(now);
        let known = self.subscriptions.values().find(|known| known.endpoint == endpoint);
        if let Some(known) = known {
            if !known.attributes.include(requested) {
                let text = "Attributes Reason: Subscription already exists with different attributes";
                return Err(invalid(text));
            }
            let id = known.arn.id.clone();
            return self.subscriptions.get(&id).ok_or_else(no_subscription);
        }
        self.check_quota()?;
        let is_foreign = matches!(&endpoint, Endpoint::Queue(queue) if *queue.account != *owner);
        let state = if is_foreign || endpoint.protocol().needs_confirmation() {
            State::Pending { token: token.into(), since: now }
        } else {
            State::Confirmed
        };
        let id: Box<str> = id.to_string().into();
        let arn = SubscriptionArn { topic: self.arn.clone(), id: id.clone() };
        let subscription = Subscription { arn, endpoint, owner: owner.into(), state, attributes };
        Ok(self.subscriptions.entry(id).or_insert(subscription))
    }

    fn check_endpoint(&self, endpoint: &Endpoint) -> Result<(), QueryError> {
        let protocol = endpoint.protocol();
        if self.arn.is_fifo() && !protocol.is_of_fifo() {
            return Err(invalid(format_args!("Invalid protocol type: {}", protocol.as_str())));
        }
        if !self.arn.is_fifo() && endpoint.is_fifo() {
            // AWS writes the prefix twice.
            return Err(invalid(
                "Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics",
            ));
        }
        Ok(())
    }

    fn check_quota(&self) -> Result<(), QueryError> {
        let most = if self.arn.is_fifo() { MAX_SUBSCRIPTIONS_OF_FIFO } else { MAX_SUBSCRIPTIONS };
        if self.subscriptions.len() < most {
            return Ok(());
        }
        let text = format!("Subscription quota exceeded: a topic has at most {most}");
        Err(QueryError::new(403, "SubscriptionLimitExceeded", text))
    }

    /// Subscriptions that were not confirmed within two days vanish.
    fn forget_lapsed(&mut self, now: Timestamp) {
        self.subscriptions.retain(|_, subscription| !subscription.is_lapsed(now));
    }

    /// Removes a subscription. Unknown ids are ignored.
    pub(crate) fn unsubscribe(&mut self, id: &str) {
        if self.subscriptions.remove(id).is_some() {
            self.unsubscribed += 1;
        }
    }

    /// Confirms the subscription that has this token, if there is one.
    pub(crate) fn confirm(&mut self, now: Timestamp, token: &str, is_signed: bool) -> Option<&Subscription> {
        self.forget_lapsed(now);
        let mut all = self.subscriptions.values_mut();
        let found = all.find(|subscription| subscription.token() == Some(token))?;
        found.confirm(is_signed);
        Some(found)
    }

    /// All subscriptions, sorted by id.
    pub(crate) fn subscriptions(&mut self, now: Timestamp) -> impl Iterator<Item = &Subscription> {
        self.forget_lapsed(now);
        self.subscriptions.values()
    }

    /// A subscription.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) fn subscription(&mut self, now: Timestamp, id: &str) -> Result<&mut Subscription, QueryError> {
        self.forget_lapsed(now);
        self.subscriptions.get_mut(id).ok_or_else(no_subscription)
    }

    /// Sets an attribute of a subscription.
    ///
    /// # Errors
    /// `NotFound`, `InvalidParameter`.
    pub(crate) fn set_subscription_attribute(
        &mut self,
        now: Timestamp,
        id: &str,
        (name, value): (&str, &str),
    ) -> Result<(), QueryError> {
        let of_fifo = self.arn.is_fifo();
        let Subscription { endpoint, attributes, .. } = self.subscription(now, id)?;
        attributes.set(endpoint, of_fifo, name, value)
    }

    /// Checks that a message can be published here.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn check(&self, message: &Message) -> Result<(), QueryError> {
        if message.size > self.attributes.maximum_message_size() {
            return Err(invalid("Message too long"));
        }
        self.check_large(message.size)?;
        let has_id = message.deduplication_id.is_some();
        if self.fifo.is_none() && has_id {
            return Err(invalid(
                "MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid \
                 for this topic type",
            ));
        }
        if self.fifo.is_some() && message.group.is_none() {
            return Err(invalid("The MessageGroupId parameter is required for FIFO topics"));
        }
        if self.fifo.is_some() && !has_id && !self.attributes.has_content_based_deduplication() {
            return Err(invalid(
                "The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided \
                 explicitly",
            ));
        }
        Ok(())
    }

    /// Checks that the messages of a batch can be published here.
    ///
    /// # Errors
    /// `BatchRequestTooLong`, `InvalidParameter`.
    pub(crate) fn check_batch(&self, messages: &[Message]) -> Result<(), QueryError> {
        let size = messages.iter().map(|message| message.size).sum();
        batch::check_size(size, self.attributes.maximum_message_size())?;
        messages.iter().try_for_each(|message| self.check(message))
    }

    fn check_large(&self, size: usize) -> Result<(), QueryError> {
        let takes_large = |subscription: &Subscription| subscription.protocol().takes_large();
        let is_refused = size > LARGE
            && (self.subscriptions.len() > MAX_SUBSCRIPTIONS_FOR_LARGE
                || !self.subscriptions.values().all(takes_large));
        let text = "Message too long: messages over 262144 bytes need at most 100 subscriptions, all of protocol sqs, \
                    lambda or firehose";
        if is_refused { Err(invalid(text)) } else { Ok(()) }
    }

    /// Takes a message that was checked. `id` is for a new one; a duplicate gets the receipt of the original. FIFO
    /// topics complete its deduplication id.
    pub(crate) fn publish(&mut self, now: Timestamp, id: Uuid, message: &mut Message) -> Published {
        let Some(fifo) = &mut self.fifo else {
            return Published { receipt: Receipt { id, sequence_number: None }, is_new: true };
        };
        let deduplication_id = message.deduplication_id.take();
        let deduplication_id =
            deduplication_id.unwrap_or_else(|| content_deduplication_id(message.default_text()));
        let by_group = self.attributes.deduplicates_by_group();
        let group = message.group.as_deref().filter(|_| by_group).unwrap_or_default();
        let (receipt, is_new) = fifo.receive(now, id, (group, &deduplication_id));
        message.deduplication_id = Some(deduplication_id);
        Published { receipt, is_new }
    }

    /// The subscriptions that get a message.
    pub(crate) fn recipients<'a>(&'a self, message: &'a Message) -> impl Iterator<Item = &'a Subscription> {
        // One for each text; policies parse it at most once.
        let inputs = Protocol::ALL
            .map(|protocol| (protocol, FilterInput::new(message.text(protocol), &message.attributes)));
        let matches = move |policy: &FilterPolicy, protocol: Protocol| {
            inputs.iter().any(|(of, input)| *of == protocol && policy.matches(input))
        };
        self.subscriptions.values().filter(move |subscription| {
            let policy = subscription.attributes.filter.as_ref();
            subscription.is_confirmed()
                && policy.is_none_or(|policy| matches(policy, subscription.protocol()))
        })
    }
}
