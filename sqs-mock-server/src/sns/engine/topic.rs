//! A topic with its subscriptions.
//!
//! Changes of topics, as values.
//!
//! A topic with a reader passes each change on while it is locked, so readers receive the changes of a topic in the order
//! in which they happened. Applied in this order, they yield the state of the topic.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Debug;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::wire::checksum::content_deduplication_id;
use strum::VariantArray as _;

use crate::control::arn::{QueueArn, TopicArn, root};
use crate::control::clock::Timestamp;
use crate::control::delivery::{KeptDelivery, MemoryShare};
use crate::control::seed::Uuid;
use crate::query::QueryError;
use crate::sns::engine::backlog::Group;
use crate::sns::engine::hooks::HookRequest;
use crate::sns::engine::message::Message;
use crate::sns::engine::settings::TopicSettings;
use crate::sns::engine::subscription::{
    Attributes, CONFIRMATION, Confirmation, Endpoint, Protocol, State, Subscription, is_no_filter,
};
use crate::sns::engine::{NotCreated, SubscriptionArn, different, invalid, no_subscription};
use crate::sns::filter::{FilterInput, FilterPolicy};

/// A topic.
#[derive(Debug)]
pub(crate) struct Topic {
    settings: TopicSettings,
    /// By id.
    subscriptions: BTreeMap<Box<str>, Subscription>,
    unsubscribed: u64,
    /// Subscriptions that somebody else than their owner has ended, until their tokens are no longer valid. Not stored.
    restorable: VecDeque<(Timestamp, Subscription)>,
    /// Before this time, no subscription lapses for want of a confirmation; `None` if none can.
    lapse: Option<Timestamp>,
    /// On FIFO topics.
    fifo: Option<FifoMemory>,
    changes: Recorder,
    /// Whether a reset removed it, so that it delivers nothing more.
    is_discarded: bool,
    /// The size of its settings and subscriptions.
    bytes: usize,
    /// That size, in the memory of the server.
    memory: Option<Box<dyn MemoryShare>>,
}

impl Topic {
    /// Creates a topic.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn new(
        arn: TopicArn,
        requested: &[(&str, &str)],
        tags: BTreeMap<String, String>,
    ) -> Result<Self, QueryError> {
        let fifo = arn.is_fifo().then(FifoMemory::default);
        let settings = TopicSettings::new(arn, requested, tags)?;
        let (subscriptions, changes, bytes) = (BTreeMap::new(), Recorder::default(), settings.bytes());
        Ok(Self {
            settings,
            subscriptions,
            unsubscribed: 0,
            restorable: VecDeque::new(),
            lapse: None,
            fifo,
            changes,
            is_discarded: false,
            bytes,
            memory: None,
        })
    }

    /// Restores a topic.
    pub(crate) fn restore(state: TopicState, changes: Recorder) -> Self {
        let TopicState { settings, subscriptions, unsubscribed, numbered, known } = state;
        let fifo = settings.arn.is_fifo().then(|| FifoMemory::restore(numbered, known));
        let lapse = first_lapse(&subscriptions);
        let bytes = settings.bytes() + subscriptions.values().map(Subscription::bytes).sum::<usize>();
        Self {
            settings,
            subscriptions,
            unsubscribed,
            restorable: VecDeque::new(),
            lapse,
            fifo,
            changes,
            is_discarded: false,
            bytes,
            memory: None,
        }
    }

    /// Counts its size, now and later, in the memory of the server.
    pub(crate) fn count_memory(&mut self, memory: Option<Box<dyn MemoryShare>>) {
        self.memory = memory;
        if let Some(memory) = &mut self.memory {
            memory.set(self.bytes);
        }
    }

    /// Replaces parts of one size by parts of another.
    ///
    /// # Errors
    /// `OverLimit`.
    fn resize(&mut self, before: usize, after: usize) -> Result<(), QueryError> {
        let bytes = self.bytes + after - before;
        if let Some(memory) = &mut self.memory {
            if !memory.fits(bytes) {
                return Err(no_memory());
            }
            memory.set(bytes);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Its size is that of its settings and subscriptions.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Ends its deliveries.
    pub(crate) fn discard(&mut self) {
        self.is_discarded = true;
    }

    /// Whether its deliveries ended.
    pub(crate) fn is_discarded(&self) -> bool {
        self.is_discarded
    }

    /// Records its creation and all later changes.
    pub(crate) fn record_changes(&mut self, changes: Recorder) {
        self.changes = changes;
        self.changes.record(|| TopicChange::Created(Box::new(self.settings.clone())));
    }

    /// Its ARN.
    pub(crate) fn arn(&self) -> &TopicArn {
        &self.settings.arn
    }

    /// Its attributes and tags.
    pub(crate) fn settings(&self) -> &TopicSettings {
        &self.settings
    }

    /// Changes attributes or tags.
    ///
    /// # Errors
    /// Those of `change`, and `OverLimit`.
    pub(crate) fn set(
        &mut self,
        change: impl FnOnce(&mut TopicSettings) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        let mut changed = self.settings.clone();
        change(&mut changed)?;
        self.resize(self.settings.bytes(), changed.bytes())?;
        self.settings = changed;
        self.changes.record(|| TopicChange::Set(Box::new(self.settings.clone())));
        Ok(())
    }

    /// The attributes that `GetTopicAttributes` returns.
    pub(crate) fn shown(&self) -> BTreeMap<String, String> {
        let confirmed = self.subscriptions().filter(|subscription| subscription.is_confirmed()).count();
        let pending = self.subscriptions.len() - confirmed;
        let mut shown = self.settings.shown();
        shown.insert("SubscriptionsConfirmed".to_owned(), confirmed.to_string());
        shown.insert("SubscriptionsPending".to_owned(), pending.to_string());
        shown.insert("SubscriptionsDeleted".to_owned(), self.unsubscribed.to_string());
        shown
    }

    /// The state of the topic.
    #[cfg(test)]
    pub(crate) fn state(&self) -> TopicState {
        let fifo = self.fifo.as_ref();
        TopicState {
            settings: self.settings.clone(),
            subscriptions: self.subscriptions.clone(),
            unsubscribed: self.unsubscribed,
            numbered: fifo.map_or(0, FifoMemory::numbered),
            known: fifo.map(|fifo| fifo.known().cloned().collect()).unwrap_or_default(),
        }
    }

    /// Checks that a message can be published here.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn check(&self, message: &Message) -> Result<(), QueryError> {
        let (is_fifo, has_id) = (self.fifo.is_some(), message.deduplication_id.is_some());
        let text = if message.size > self.settings.maximum_message_size() {
            "Message too long"
        } else if message.size > LARGE && !self.takes_large() {
            "Message too long: messages over 262144 bytes need at most 100 subscriptions, all of protocol sqs, lambda or \
             firehose"
        } else if !is_fifo && has_id {
            "MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for \
             this topic type"
        } else if is_fifo && message.group.is_none() {
            "The MessageGroupId parameter is required for FIFO topics"
        } else if is_fifo && !has_id && !self.settings.has("ContentBasedDeduplication", "true") {
            "The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"
        } else {
            return Ok(());
        };
        Err(invalid(text))
    }

    /// Checks that the messages of a batch can be published here.
    ///
    /// # Errors
    /// `BatchRequestTooLong`, `InvalidParameter`.
    pub(crate) fn check_batch(&self, messages: &[Message]) -> Result<(), QueryError> {
        let size: usize = messages.iter().map(|message| message.size).sum();
        if size > self.settings.maximum_message_size() {
            let text = "The length of all the messages put together is more than the limit.";
            return Err(QueryError::new(400, "BatchRequestTooLong", text));
        }
        messages.iter().try_for_each(|message| self.check(message))
    }

    fn takes_large(&self) -> bool {
        self.subscriptions.len() <= MAX_SUBSCRIPTIONS_FOR_LARGE
            && self.subscriptions().all(|subscription| subscription.protocol().takes_large_messages())
    }

    /// Takes a message that was checked. `id` is for a new one; a duplicate gets the receipt of the original. FIFO
    /// topics complete its deduplication id.
    pub(crate) fn publish(&mut self, now: Timestamp, id: Uuid, message: &mut Message) -> Published {
        let Some(fifo) = &mut self.fifo else {
            return Published { receipt: Receipt { id, sequence_number: None }, is_new: true };
        };
        let deduplication_id = message.deduplication_id.take();
        let deduplication_id =
            deduplication_id.unwrap_or_else(|| content_deduplication_id(message.content()));
        let by_group = self.settings.has("FifoThroughputScope", "MessageGroup");
        let group = message.group.as_deref().filter(|_| by_group).unwrap_or_default();
        let published = fifo.receive(now, id, (group, &deduplication_id));
        message.deduplication_id = Some(deduplication_id);
        if let (true, Some(known)) = (published.is_new, fifo.latest()) {
            let forgotten = fifo.forgotten();
            self.changes.record(|| TopicChange::Published { known: Box::new(known.clone()), forgotten });
        }
        published
    }

    /// Whether a subscriber with this protocol gets a message in an envelope.
    pub(crate) fn has_envelope(&self, protocol: Protocol, message: &Message) -> bool {
        let is_enveloped =
            |subscription: &Subscription| subscription.protocol() == protocol && !subscription.attributes.raw;
        // Most topics need no look at filters.
        self.subscriptions.values().any(is_enveloped) && self.recipients(message).any(is_enveloped)
    }

    /// The subscriptions that get a message.
    pub(crate) fn recipients<'a>(&'a self, message: &'a Message) -> impl Iterator<Item = &'a Subscription> {
        let is_recipient = is_recipient(message);
        self.subscriptions.values().filter(move |subscription| is_recipient(subscription))
    }

    /// The subscriptions with ids after this one, sorted by id.
    pub(crate) fn subscriptions_after(&self, id: Option<&str>) -> impl Iterator<Item = &Subscription> {
        let after = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.subscriptions.range::<str, _>((after, Bound::Unbounded)).map(|(_, subscription)| subscription)
    }

    /// Subscribes an endpoint. An endpoint that is subscribed already keeps its subscription.
    ///
    /// # Errors
    /// `InvalidParameter`, `SubscriptionLimitExceeded`, `OverLimit`.
    pub(crate) fn subscribe(
        &mut self,
        now: Timestamp,
        new: NewSubscription<'_>,
    ) -> Result<Subscription, NotCreated> {
        let NewSubscription { endpoint, owner, attributes: requested, token, id } = new;
        let attributes = self.check_subscription(&endpoint, requested)?;
        let known = self.subscriptions.values().find(|known| known.endpoint == endpoint);
        if let Some(known) = known {
            if !known.attributes.include(requested) {
                return Err(different(
                    "Attributes Reason: Subscription already exists with different attributes",
                ));
            }
            return Ok(known.clone());
        }
        let most = if self.settings.arn.is_fifo() { MAX_SUBSCRIPTIONS_OF_FIFO } else { MAX_SUBSCRIPTIONS };
        if self.subscriptions.len() >= most {
            let text = format!("Subscription quota exceeded: a topic has at most {most}");
            return Err(QueryError::new(403, "SubscriptionLimitExceeded", text).into());
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
        self.resize(0, subscription.bytes())?;
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
            return Err(invalid(format_args!("Invalid protocol type: {}", protocol.into_str())));
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
        let (ids, sizes): (Vec<_>, Vec<_>) =
            lapsed.map(|(id, subscription)| (id, subscription.bytes())).unzip();
        // A smaller size always fits.
        let _ = self.resize(sizes.iter().sum(), 0);
        self.lapse = first_lapse(&self.subscriptions);
        if !ids.is_empty() {
            let deleted = self.unsubscribed;
            self.changes.record(|| TopicChange::Unsubscribed { ids, deleted });
        }
    }

    /// Removes a subscription, and returns it. Unknown ids are ignored. `caller` is the account that signed the request; if it
    /// is not that of an owner, the token of the subscription restores it for two days.
    ///
    /// # Errors
    /// `AuthorizationError` for a subscription whose confirmation demands the signature of an owner.
    pub(crate) fn unsubscribe(
        &mut self,
        now: Timestamp,
        id: &str,
        caller: Option<&str>,
    ) -> Result<Option<Subscription>, QueryError> {
        let Some(subscription) = self.subscriptions.get(id) else { return Ok(None) };
        if !subscription.may_be_ended_by(caller) {
            let topic = &self.settings.arn;
            let caller =
                caller.map_or_else(|| "anonymous".to_owned(), |account| root(&topic.region, account));
            let text =
                format!("User: {caller} is not authorized to perform: SNS:Unsubscribe on resource: {topic}");
            return Err(QueryError::new(403, "AuthorizationError", text));
        }
        let bytes = subscription.bytes();
        let removed = self.subscriptions.remove(id);
        self.resize(bytes, 0)?;
        self.unsubscribed += 1;
        let (ids, deleted) = (vec![id.into()], self.unsubscribed);
        self.changes.record(|| TopicChange::Unsubscribed { ids, deleted });
        self.restorable.retain(|(until, _)| *until > now);
        if let Some(ended) =
            removed.as_ref().filter(|ended| !ended.belongs_to(caller) && ended.token().is_some())
        {
            if self.restorable.len() == MAX_RESTORABLE {
                self.restorable.pop_front();
            }
            self.restorable.push_back((now + CONFIRMATION, ended.clone()));
        }
        Ok(removed)
    }

    /// Confirms the subscription that has this token, if there is one, or restores one that was ended.
    pub(crate) fn confirm(&mut self, now: Timestamp, token: &str, by: Confirmation) -> Option<&Subscription> {
        let is_meant =
            |(until, ended): &(Timestamp, Subscription)| *until > now && ended.token() == Some(token);
        let ended = self.restorable.iter().position(is_meant);
        if let Some((_, ended)) = ended.and_then(|at| self.restorable.remove(at)) {
            // Whoever subscribed the endpoint again meanwhile has a subscription already.
            if self.subscriptions.values().all(|known| known.endpoint != ended.endpoint) {
                self.resize(0, ended.bytes()).ok()?;
                self.changes.record(|| TopicChange::Subscribed(Box::new(ended.clone())));
                self.subscriptions.insert(ended.arn.id.clone(), ended);
            }
        }
        let mut all = self.subscriptions.values_mut();
        let found = all.find(|subscription| subscription.token() == Some(token))?;
        if !found.is_confirmed() {
            found.confirm(by);
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

    /// Sets an attribute of a subscription, which a request may name without a value.
    ///
    /// # Errors
    /// `NotFound`, `FilterPolicyLimitExceeded`, `InvalidParameter`, `OverLimit`.
    pub(crate) fn set_subscription_attribute(
        &mut self,
        id: &str,
        (name, value): (&str, Option<&str>),
    ) -> Result<(), QueryError> {
        self.subscription(id)?;
        if name == "FilterPolicy" && !is_no_filter(value.unwrap_or_default()) {
            self.check_filter_quota(Some(id))?;
        }
        let subscription = self.subscription(id)?;
        let mut changed = subscription.clone();
        changed.attributes.set(&changed.endpoint, self.settings.arn.is_fifo(), name, value)?;
        self.resize(subscription.bytes(), changed.bytes())?;
        let subscription = self.subscriptions.get_mut(id).ok_or_else(no_subscription)?;
        *subscription = changed;
        self.changes.record(|| TopicChange::Subscribed(Box::new(subscription.clone())));
        Ok(())
    }
}

/// Not an error of AWS. SDKs do not retry it.
pub(crate) fn no_memory() -> QueryError {
    let text = "The messages, topics and subscriptions of this server fill its memory. Delete some, or raise the limit \
                with --max-memory, SQS_MOCK_MAX_MEMORY, limits.max_memory in the config file, or Limits::max_memory.";
    QueryError::new(403, "OverLimit", text)
}

/// Tells which subscriptions get a message.
pub(crate) fn is_recipient(message: &Message) -> impl Fn(&Subscription) -> bool {
    // One for each text; policies parse it at most once.
    let input = |&protocol| (protocol, FilterInput::new(message.text(protocol), &message.attributes));
    let inputs: Vec<_> = Protocol::VARIANTS.iter().map(input).collect();
    let matches = move |policy: &FilterPolicy, protocol: Protocol| {
        inputs.iter().any(|(of, input)| *of == protocol && policy.matches(input))
    };
    move |subscription| {
        let policy = subscription.attributes.filter.as_ref();
        subscription.is_confirmed() && policy.is_none_or(|policy| matches(policy, subscription.protocol()))
    }
}

/// When the first of the subscriptions lapses, unless it is confirmed before.
fn first_lapse(subscriptions: &BTreeMap<Box<str>, Subscription>) -> Option<Timestamp> {
    subscriptions.values().filter_map(Subscription::lapse).min()
}

/// The number of subscriptions to which SNS delivers messages over 256 KiB.
const MAX_SUBSCRIPTIONS_FOR_LARGE: usize = 100;

const LARGE: usize = 262_144;

pub(crate) const MAX_SUBSCRIPTIONS_OF_FIFO: usize = 100;

/// A limit of this server that bounds memory. AWS allows 12,500,000.
const MAX_SUBSCRIPTIONS: usize = 100_000;

/// The number of ended subscriptions of a topic that can be restored. Of more, the first is forgotten.
const MAX_RESTORABLE: usize = 100;

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

/// How long a deduplication id is known.
const WINDOW: Duration = Duration::from_secs(300);

/// The maximum number of known ids of a topic: those of 333 messages a second. Beyond it, the oldest are forgotten, so
/// that a frozen clock does not fill the memory.
const MAX_KNOWN: usize = 100_000;

/// The first sequence number. All have 20 digits.
const FIRST: u64 = 10_000_000_000_000_000_000;

/// The answer to a publish, and to its duplicates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Receipt {
    pub(crate) id: Uuid,
    /// On FIFO topics.
    pub(crate) sequence_number: Option<u64>,
}

/// A message that a topic took.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Published {
    pub(crate) receipt: Receipt,
    /// Whether it is delivered. A duplicate is not: it gets the receipt of the original.
    pub(crate) is_new: bool,
}

/// A group, which is empty if ids are known for the whole topic, and a deduplication id.
pub(crate) type Key = (Box<str>, Box<str>);

/// A deduplication id that is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Known {
    /// The number of the message that had it first, among all messages of the topic.
    pub(crate) number: u64,
    pub(crate) key: Key,
    /// The id of that message.
    pub(crate) id: Uuid,
    /// When it is forgotten.
    pub(crate) until: Timestamp,
}

impl Known {
    fn receipt(&self) -> Receipt {
        Receipt { id: self.id, sequence_number: Some(FIRST.saturating_add(self.number)) }
    }
}

/// The messages of the last five minutes.
#[derive(Debug, Default)]
pub(crate) struct FifoMemory {
    numbered: u64,
    known: HashMap<Key, Receipt>,
    /// Oldest first, with consecutive numbers.
    in_order: VecDeque<Known>,
}

impl FifoMemory {
    /// Takes a message.
    pub(crate) fn receive(
        &mut self,
        now: Timestamp,
        id: Uuid,
        (group, deduplication_id): (&str, &str),
    ) -> Published {
        self.forget(now);
        let key: Key = (group.into(), deduplication_id.into());
        if let Some(original) = self.known.get(&key) {
            return Published { receipt: *original, is_new: false };
        }
        self.numbered += 1;
        let known = Known { number: self.numbered, key, id, until: now + WINDOW };
        let receipt = known.receipt();
        self.known.insert(known.key.clone(), receipt);
        self.in_order.push_back(known);
        Published { receipt, is_new: true }
    }

    fn forget(&mut self, now: Timestamp) {
        while let Some(known) = self.in_order.front()
            && (known.until <= now || self.in_order.len() > MAX_KNOWN)
        {
            self.known.remove(&known.key);
            self.in_order.pop_front();
        }
    }

    /// The deduplication id of the last message.
    pub(crate) fn latest(&self) -> Option<&Known> {
        self.in_order.back()
    }

    /// The deduplication ids of messages up to this number are forgotten.
    pub(crate) fn forgotten(&self) -> u64 {
        self.in_order.front().map_or(self.numbered, |known| known.number.saturating_sub(1))
    }

    /// Restores a memory. Sequence numbers continue after `numbered` messages.
    pub(crate) fn restore(numbered: u64, known: Vec<Known>) -> Self {
        let receipts = known.iter().map(|known| (known.key.clone(), known.receipt()));
        Self { numbered, known: receipts.collect(), in_order: known.into() }
    }

    /// The number of messages so far.
    #[cfg(test)]
    pub(crate) fn numbered(&self) -> u64 {
        self.numbered
    }

    /// The deduplication ids, oldest first.
    #[cfg(test)]
    pub(crate) fn known(&self) -> impl Iterator<Item = &Known> {
        self.in_order.iter()
    }
}

/// The number of a topic. Each topic of a server has its own, so that topics of the same name differ.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct TopicNumber(pub(crate) u64);

/// A change of one topic.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TopicChange {
    /// The topic was created.
    Created(Box<TopicSettings>),
    /// Attributes or tags were changed.
    Set(Box<TopicSettings>),
    /// The topic was deleted with its subscriptions. Later changes have no effect.
    Deleted,
    /// A subscription was added or confirmed, or an attribute of it was set.
    Subscribed(Box<Subscription>),
    /// Subscriptions were deleted, or not confirmed in time.
    Unsubscribed {
        /// The ids of the subscriptions.
        ids: Vec<Box<str>>,
        /// The number of subscriptions that were deleted so far.
        deleted: u64,
    },
    /// A FIFO topic took a message.
    Published {
        /// Its deduplication id and its number.
        known: Box<Known>,
        /// The deduplication ids of messages up to this number are forgotten.
        forgotten: u64,
    },
}

/// A delivery that waits for a retry.
#[derive(Debug)]
pub(crate) struct WaitingDelivery {
    /// Increases with each delivery of a server.
    pub(crate) number: u64,
    /// On FIFO topics.
    pub(crate) group: Option<Group>,
    pub(crate) delivery: KeptDelivery,
    pub(crate) dead_letter_queue: Option<QueueArn>,
}

/// A change of the deliveries that wait.
#[derive(Debug)]
pub(crate) enum WaitingChange {
    Added(Arc<WaitingDelivery>),
    /// A request to a web hook.
    RequestAdded(Arc<HookRequest>),
    /// It was answered, or given up.
    RequestEnded(u64),
    /// It is in a queue, or dropped. Also for deliveries that were not added.
    Ended(u64),
    Cleared,
}

/// Reads every change of topics, while locks are held: a reader must not block and must not call the service.
pub(crate) trait TopicReader: Debug + Send + Sync {
    /// Handles a change of a topic.
    fn read(&self, topic: TopicNumber, change: TopicChange);

    /// Handles a change of the deliveries that wait.
    fn read_waiting(&self, change: WaitingChange);
}

/// Passes the changes of a topic to its reader. Without a reader, changes are not recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(pub(crate) Option<(TopicNumber, Arc<dyn TopicReader>)>);

impl Recorder {
    /// Records a change. `change` is called only if there is a reader.
    pub(crate) fn record(&self, change: impl FnOnce() -> TopicChange) {
        if let Some((topic, reader)) = &self.0 {
            reader.read(*topic, change());
        }
    }
}

/// A topic as plain data: the result of applying its changes in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicState {
    /// ARN, attributes and tags.
    pub(crate) settings: TopicSettings,
    /// The subscriptions by id.
    pub(crate) subscriptions: BTreeMap<Box<str>, Subscription>,
    /// The number of subscriptions that were deleted.
    pub(crate) unsubscribed: u64,
    /// The number of messages that a FIFO topic took.
    pub(crate) numbered: u64,
    /// The deduplication ids of a FIFO topic, oldest first.
    pub(crate) known: Vec<Known>,
}

impl TopicState {
    /// The state of a new topic.
    pub(crate) fn new(settings: TopicSettings) -> Self {
        Self { settings, subscriptions: BTreeMap::new(), unsubscribed: 0, numbered: 0, known: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::seed::{Seed, uuid};

    /// Contract 3.6.
    #[test]
    fn duplicate_within_five_minutes_gets_the_receipt_of_the_original() {
        let mut ids = Seed(1).generator("ids");
        let mut memory = FifoMemory::default();
        let start = Timestamp::from_millis(1_800_000_000_000);
        let Published { receipt: original, is_new } = memory.receive(start, uuid(&mut ids), ("", "d"));
        assert!(is_new);
        let late = start + WINDOW.saturating_sub(Duration::from_millis(1));
        let duplicate = Published { receipt: original, is_new: false };
        assert_eq!(memory.receive(late, uuid(&mut ids), ("", "d")), duplicate);
        let Published { receipt: other, is_new } = memory.receive(late, uuid(&mut ids), ("g", "d"));
        assert!(is_new && other.sequence_number > original.sequence_number);
        assert!(memory.receive(start + WINDOW, uuid(&mut ids), ("", "d")).is_new);
        assert_eq!(original.sequence_number.unwrap().to_string().len(), 20);
    }
}
