//! Amazon SNS: topics without I/O ([`engine`]), filter policies of subscriptions ([`filter`]), the key that signs
//! notifications and its certificate ([`signing`]), the actions ([`actions`], [`publish`]), what waits for SQS
//! ([`deliveries`]) and for web hooks ([`hooks`]).
//!
//! ```text
//! form -> find the topic, lock it -> engine (now) -> output
//!                                      | Publish: recipients -> queues (a trait of another service) or notes
//! ```
//! With a store, the messages of a request and the changes of the topic are stored together, and responses wait for it.
//!
//! A topic stays locked while its messages enter queues, so that all queues get them in the same order. Queues never
//! lock topics. A message for very many subscriptions of a standard topic enters the queues in steps, and the topic is
//! unlocked between them. Deliveries to an unavailable SQS wait in [`deliveries`].

#![cfg_attr(
    not(feature = "durable"),
    allow(dead_code, unused_imports, reason = "only a store reads changes and restores topics")
)]

pub(crate) mod actions;
pub(crate) mod deliveries;
pub(crate) mod engine;
pub(crate) mod filter;
pub(crate) mod hooks;
pub(crate) mod inspect;
pub(crate) mod publish;
mod retry_task;
pub(crate) mod signing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};
use sqs_client::wire::service_error::ServiceError;

use crate::control::arn::{Resource, TopicArn};
use crate::control::clock::Clock;
use crate::control::clock::Timestamp;
use crate::control::delivery::{MemoryShare, Queues, Whole};
use crate::control::faults::Entry;
use crate::control::journal::Journal;
use crate::control::operation::{ServiceName, SnsAction};
use crate::control::seed::{Seed, Uuid, uuid};
use crate::front::Access;
use crate::outgoing::Outgoing;
use crate::query::form::Form;
use crate::query::{Action, Actions, Call, Output, QueryError};
use crate::sns::actions::Place;
use crate::sns::deliveries::Deliveries;
use crate::sns::engine::hooks::HookRequest;
use crate::sns::engine::topic::{
    Recorder, Topic, TopicChange, TopicNumber, TopicReader, TopicState, WaitingDelivery, no_memory,
};
use crate::sns::hooks::Hooks;
use crate::sns::inspect::PublishedLog;

/// The topics of a server. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Sns {
    pub(crate) topics: Arc<Topics>,
    queues: Arc<dyn Queues>,
    deliveries: Arc<Deliveries>,
    pub(crate) hooks: Arc<Hooks>,
    published: Arc<PublishedLog>,
    pub(crate) outgoing: Arc<Outgoing>,
    /// How often topics or subscriptions may have changed.
    changes: Arc<AtomicU64>,
    /// Whether topics are created on first use.
    auto_create: bool,
    clock: Clock,
    /// Held only to draw an id or a token.
    ids: Arc<Mutex<fastrand::Rng>>,
}

/// What a service starts with.
#[derive(Debug)]
pub(crate) struct Start {
    /// Where it delivers.
    pub(crate) queues: Arc<dyn Queues>,
    /// Sends requests to web hooks.
    pub(crate) outgoing: Arc<Outgoing>,
    pub(crate) clock: Clock,
    pub(crate) seed: Seed,
    /// Records late deliveries.
    pub(crate) journal: Arc<Journal>,
    /// How many published messages it shows.
    pub(crate) published: usize,
    pub(crate) auto_create: bool,
    /// Gets its changes.
    pub(crate) reader: Option<Arc<dyn TopicReader>>,
}

/// What an earlier process has stored.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    pub(crate) topics: Vec<(TopicNumber, TopicState)>,
    /// In the order of their numbers.
    pub(crate) waiting: Vec<WaitingDelivery>,
    /// To web hooks, in the order of their numbers. Their policies are those of their topics.
    pub(crate) requests: Vec<HookRequest>,
}

impl Sns {
    /// A service without topics.
    pub(crate) fn new(start: Start) -> Self {
        let Start { queues, outgoing, clock, seed, journal, published, auto_create, reader } = start;
        let ids = Arc::new(Mutex::new(seed.generator("ids of topics")));
        let deliveries = Deliveries::new(Arc::clone(&queues), clock.clone(), journal, reader.clone());
        let place = (Arc::clone(&queues), clock.clone());
        let hooks = Hooks::new(Arc::clone(&outgoing), Arc::clone(&deliveries), place, reader.clone());
        let (topics, published) = (Arc::new(Topics::new(reader)), Arc::new(PublishedLog::new(published)));
        let changes = Arc::default();
        Self { topics, queues, deliveries, hooks, published, outgoing, changes, auto_create, clock, ids }
    }

    /// Removes all topics, and the deliveries that wait.
    pub(crate) fn reset(&self) {
        self.topics.clear();
        self.deliveries.clear();
        self.hooks.clear();
        self.published.clear();
        self.changed();
    }

    fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    fn new_id(&self) -> Uuid {
        uuid(&mut self.ids.lock())
    }

    async fn run(&self, action: SnsAction, call: &Call<'_>) -> Result<Output, QueryError> {
        match action {
            SnsAction::AddPermission => actions::add_permission(self, call),
            SnsAction::ConfirmSubscription => actions::confirm(self, call),
            SnsAction::CreateTopic => actions::create(self, call),
            SnsAction::DeleteTopic => actions::delete(self, call),
            SnsAction::GetSubscriptionAttributes => actions::subscription_attributes(self, call),
            SnsAction::GetTopicAttributes => actions::topic_attributes(self, call),
            SnsAction::ListSubscriptions => actions::list_subscriptions(self, call),
            SnsAction::ListSubscriptionsByTopic => actions::list_by_topic(self, call),
            SnsAction::ListTagsForResource => actions::tags(self, call),
            SnsAction::ListTopics => actions::list_topics(self, call),
            SnsAction::Publish => publish::one(self, call).await,
            SnsAction::PublishBatch => publish::batch(self, call).await,
            SnsAction::RemovePermission => actions::remove_permission(self, call),
            SnsAction::SetSubscriptionAttributes => actions::set_subscription_attribute(self, call),
            SnsAction::SetTopicAttributes => actions::set_topic_attribute(self, call),
            SnsAction::Subscribe => actions::subscribe(self, call),
            SnsAction::TagResource => actions::tag(self, call),
            SnsAction::Unsubscribe => actions::unsubscribe(self, call),
            SnsAction::UntagResource => actions::untag(self, call),
        }
    }

    /// Restores the state of an earlier process, before the first request.
    pub(crate) fn restore(&self, Restored { topics, waiting, mut requests }: Restored) {
        let table = &mut *self.topics.table.write();
        for (number, state) in topics {
            table.last = number.0.max(table.last);
            let changes = self.topics.recorder(number);
            let mut topic = Topic::restore(state, changes.clone());
            topic.count_memory(self.queues.memory_share());
            let arn = topic.arn().clone();
            table.topics.insert(arn, Arc::new(SharedTopic { topic: Mutex::new(topic), changes }));
        }
        self.deliveries.restore(waiting);
        for request in &mut requests {
            if let Some(topic) = table.topics.get(&request.topic) {
                let topic = topic.topic.lock();
                let own = topic.subscription(&request.subscription).ok();
                let own = own.map(|own| own.delivery_policy(topic.settings().delivery_policy()));
                request.policy = own.unwrap_or_default();
            }
        }
        self.hooks.restore(requests);
    }

    /// Locks a topic. Its subscriptions that were not confirmed in time are removed first, which is a change.
    pub(crate) fn lock<'a>(&self, topic: &'a SharedTopic) -> MutexGuard<'a, Topic> {
        topic.lock(self.clock.now())
    }

    /// Locks a topic for an action that puts messages into queues. Until the guard is dropped, they are stored together with
    /// the changes of the topic, or not at all.
    ///
    /// # Errors
    /// `NotFound` after a reset: the queues are not those for which the request was.
    pub(crate) fn lock_to_deliver<'a>(
        &'a self,
        topic: &'a SharedTopic,
    ) -> Result<(MutexGuard<'a, Topic>, Whole<'a>), QueryError> {
        let topic = self.lock(topic);
        if topic.is_discarded() {
            return Err(no_topic());
        }
        // In this order, a publish that waits for the topic does not delay the store.
        Ok((topic, self.queues.whole()))
    }
}

impl Actions for Sns {
    const SERVICE: ServiceName = ServiceName::Sns;
    const NAMESPACE: &'static str = "http://sns.amazonaws.com/doc/2010-03-31/";
    type Kind = SnsAction;

    fn action(name: &str) -> Option<Action<SnsAction>> {
        let kind = SnsAction::ALL.iter().copied().find(|action| action.name() == name)?;
        let access = match kind {
            SnsAction::ConfirmSubscription | SnsAction::Unsubscribe => Access::Link,
            SnsAction::GetSubscriptionAttributes
            | SnsAction::GetTopicAttributes
            | SnsAction::ListSubscriptions
            | SnsAction::ListSubscriptionsByTopic
            | SnsAction::ListTagsForResource
            | SnsAction::ListTopics => Access::Read,
            _ => Access::Change,
        };
        Some(Action { kind, name: kind.name(), access })
    }

    fn resource(call: &Call<'_>) -> Option<Resource> {
        let named = ["TopicArn", "TargetArn", "SubscriptionArn", "ResourceArn"].into_iter();
        let mut arns = named.filter_map(|name| call.form.get(name)).filter_map(TopicArn::of);
        let created = || Some(TopicArn::new(call.region, call.account, call.form.get("Name")?));
        arns.next().or_else(created).map(Resource::Topic)
    }

    fn entries(action: SnsAction, form: &Form) -> Vec<Entry<'_>> {
        let places = match action {
            SnsAction::Publish => vec![Place::default()],
            SnsAction::PublishBatch => Place::entries(form),
            _ => Vec::new(),
        };
        places.iter().enumerate().map(|(index, place)| place.entry(index, form)).collect()
    }

    fn check_store(&self) -> Result<(), QueryError> {
        self.queues.check_store().map_err(not_stored)
    }

    async fn serve(&self, action: Action<SnsAction>, call: &Call<'_>) -> Result<Output, QueryError> {
        let output = self.run(action.kind, call).await;
        if action.access != Access::Read {
            self.changed();
        }
        // Also after reads and errors: they may have seen a change that is not stored yet.
        self.queues.settled().await.map_err(not_stored)?;
        output
    }
}

fn no_topic() -> QueryError {
    QueryError::new(404, "NotFound", "Topic does not exist")
}

fn not_stored(error: ServiceError) -> QueryError {
    let code = error.code.query_code().to_owned();
    QueryError::new(error.code.status(), code, error.message.unwrap_or_default())
}

/// A limit of this server that bounds memory, over all accounts; AWS allows as many in each.
const MAX_TOPICS: usize = 100_000;

/// A topic that requests share.
#[derive(Debug)]
pub(crate) struct SharedTopic {
    topic: Mutex<Topic>,
    /// Beside the lock: a publish holds it for long, and a deletion does not wait for it.
    changes: Recorder,
}

impl SharedTopic {
    /// Locks the topic. Its subscriptions that were not confirmed in time are gone.
    fn lock(&self, now: Timestamp) -> MutexGuard<'_, Topic> {
        let mut topic = self.topic.lock();
        topic.forget_lapsed(now);
        topic
    }
}

/// The topics of all accounts and regions.
#[derive(Debug)]
pub(crate) struct Topics {
    /// Locked for lookups and deletions only. Its holders lock no topic, and holders of a topic do not lock it.
    table: RwLock<Table>,
    /// Gets the changes of all topics.
    reader: Option<Arc<dyn TopicReader>>,
}

#[derive(Debug, Default)]
struct Table {
    topics: BTreeMap<TopicArn, Arc<SharedTopic>>,
    /// The number of the last topic.
    last: u64,
}

impl Topics {
    pub(crate) fn new(reader: Option<Arc<dyn TopicReader>>) -> Self {
        Self { table: RwLock::default(), reader }
    }

    /// Finds a topic.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) fn get(&self, arn: &TopicArn) -> Result<Arc<SharedTopic>, QueryError> {
        let known = self.table.read().topics.get(arn).map(Arc::clone);
        known.ok_or_else(no_topic)
    }

    /// Adds a topic, unless there is one, which this returns.
    ///
    /// # Errors
    /// `TopicLimitExceeded`, `OverLimit`.
    pub(crate) fn add(
        &self,
        mut topic: Topic,
        memory: Option<Box<dyn MemoryShare>>,
    ) -> Result<Option<Arc<SharedTopic>>, QueryError> {
        let Table { topics, last } = &mut *self.table.write();
        if let Some(known) = topics.get(topic.arn()) {
            return Ok(Some(Arc::clone(known)));
        }
        if topics.len() >= MAX_TOPICS {
            let text = format!("This server has at most {MAX_TOPICS} topics.");
            return Err(QueryError::new(403, "TopicLimitExceeded", text));
        }
        if memory.as_ref().is_some_and(|memory| !memory.fits(topic.bytes())) {
            return Err(no_memory());
        }
        topic.count_memory(memory);
        *last += 1;
        let changes = self.recorder(TopicNumber(*last));
        topic.record_changes(changes.clone());
        let arn = topic.arn().clone();
        topics.insert(arn, Arc::new(SharedTopic { topic: Mutex::new(topic), changes }));
        Ok(None)
    }

    fn recorder(&self, topic: TopicNumber) -> Recorder {
        Recorder(self.reader.clone().map(|reader| (topic, reader)))
    }

    /// Removes a topic with its subscriptions, if it exists.
    pub(crate) fn remove(&self, arn: &TopicArn) {
        let mut table = self.table.write();
        if let Some(topic) = table.topics.remove(arn) {
            // Under the lock: the reader learns of the next topic of this name later.
            topic.changes.record(|| TopicChange::Deleted);
        }
    }

    /// All topics of a region, sorted by account and name.
    pub(crate) fn in_region(&self, region: &str) -> Vec<Arc<SharedTopic>> {
        let table = self.table.read();
        let own = table.topics.range(TopicArn::new(region, "", "")..);
        let own = own.take_while(|(arn, _)| *arn.region == *region);
        own.map(|(_, topic)| Arc::clone(topic)).collect()
    }

    /// The ARNs of an account in a region, sorted by name.
    pub(crate) fn of_account(&self, region: &str, account: &str) -> Vec<TopicArn> {
        let table = self.table.read();
        let own = table.topics.range(TopicArn::new(region, account, "")..).map(|(arn, _)| arn);
        own.take_while(|arn| *arn.region == *region && *arn.account == *account).cloned().collect()
    }

    /// All ARNs, sorted by region, account and name.
    pub(crate) fn all(&self) -> Vec<TopicArn> {
        self.table.read().topics.keys().cloned().collect()
    }

    /// Removes all topics, and waits until none of them delivers any more.
    pub(crate) fn clear(&self) {
        let removed = {
            let mut table = self.table.write();
            let removed = std::mem::take(&mut table.topics);
            for topic in removed.values() {
                topic.changes.record(|| TopicChange::Deleted);
            }
            removed
        };
        for topic in removed.values() {
            topic.topic.lock().discard();
        }
    }
}
