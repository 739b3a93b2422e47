//! The actions of SNS.
//!
//! ```text
//! form -> find the topic, lock it -> engine (now) -> output
//!                                      | Publish: recipients -> queues (a trait of another service) or notes
//! ```
//! With a store, the messages of a request and the changes of the topic are stored together, and responses wait for it.
//!
//! A topic stays locked while its messages enter queues, so that all queues get them in the same order. Queues never
//! lock topics. Deliveries to an unavailable SQS wait in [`deliveries`].

mod deliver;
mod deliveries;
mod inspect;
mod publish;
#[cfg(feature = "s3")]
mod publisher;
mod subscription;
mod topic;
mod topics;

use std::sync::Arc;

use parking_lot::Mutex;
use sqs_client::wire::service_error::ServiceError;

use crate::query::{Access, Action, Api, Call, Form, Output};
use crate::service::arn::TopicArn;
use crate::service::clock::Clock;
use crate::service::delivery::Queues;
use crate::service::faults::Entry;
use crate::service::journal::Journal;
use crate::service::operation::{ServiceName, SnsAction};
use crate::service::query_error::QueryError;
use crate::service::resource::Resource;
use crate::service::seed::{Seed, Uuid, uuid};
use crate::sns::engine::{TopicNumber, TopicReader, TopicState, WaitingDelivery};
use crate::sns::wire::Place;

use deliveries::Deliveries;
use inspect::PublishedLog;
pub use inspect::{PublishedMessage, SubscriptionDescription};
#[cfg(feature = "s3")]
pub(crate) use publisher::TopicPublisher;
use topics::Topics;

/// The topics of a server.
#[derive(Debug)]
pub(crate) struct Sns {
    topics: Topics,
    queues: Arc<dyn Queues>,
    deliveries: Arc<Deliveries>,
    published: PublishedLog,
    clock: Clock,
    /// Held only to draw an id or a token.
    ids: Mutex<fastrand::Rng>,
}

/// What a service starts with.
#[derive(Debug)]
pub(crate) struct Start {
    /// Where it delivers.
    pub(crate) queues: Arc<dyn Queues>,
    pub(crate) clock: Clock,
    pub(crate) seed: Seed,
    /// Records late deliveries.
    pub(crate) journal: Arc<Journal>,
    /// How many published messages it shows.
    pub(crate) published: usize,
    /// Gets its changes.
    pub(crate) reader: Option<Arc<dyn TopicReader>>,
}

/// What an earlier process has stored.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    pub(crate) topics: Vec<(TopicNumber, TopicState)>,
    /// In the order of their numbers.
    pub(crate) waiting: Vec<WaitingDelivery>,
}

impl Sns {
    /// A service without topics.
    pub(crate) fn new(start: Start) -> Self {
        let Start { queues, clock, seed, journal, published, reader } = start;
        let ids = Mutex::new(seed.generator("ids of topics"));
        let deliveries = Deliveries::new(Arc::clone(&queues), clock.clone(), journal, reader.clone());
        let (topics, published) = (Topics::new(reader), PublishedLog::new(published));
        Self { topics, queues, deliveries, published, clock, ids }
    }

    /// Removes all topics, and the deliveries that wait.
    pub(crate) fn reset(&self) {
        self.topics.clear();
        self.deliveries.clear();
        self.published.clear();
    }

    fn new_id(&self) -> Uuid {
        uuid(&mut self.ids.lock())
    }

    fn run(&self, action: SnsAction, call: &Call<'_>) -> Result<Output, QueryError> {
        match action {
            SnsAction::AddPermission => topic::add_permission(self, call),
            SnsAction::ConfirmSubscription => subscription::confirm(self, call),
            SnsAction::CreateTopic => topic::create(self, call),
            SnsAction::DeleteTopic => topic::delete(self, call),
            SnsAction::GetSubscriptionAttributes => subscription::attributes(self, call),
            SnsAction::GetTopicAttributes => topic::attributes(self, call),
            SnsAction::ListSubscriptions => subscription::list(self, call),
            SnsAction::ListSubscriptionsByTopic => subscription::list_by_topic(self, call),
            SnsAction::ListTagsForResource => topic::tags(self, call),
            SnsAction::ListTopics => topic::list(self, call),
            SnsAction::Publish => publish::one(self, call),
            SnsAction::PublishBatch => publish::batch(self, call),
            SnsAction::RemovePermission => topic::remove_permission(self, call),
            SnsAction::SetSubscriptionAttributes => subscription::set_attribute(self, call),
            SnsAction::SetTopicAttributes => topic::set_attribute(self, call),
            SnsAction::Subscribe => subscription::subscribe(self, call),
            SnsAction::TagResource => topic::tag(self, call),
            SnsAction::Unsubscribe => subscription::unsubscribe(self, call),
            SnsAction::UntagResource => topic::untag(self, call),
        }
    }
}

impl Api for Sns {
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

    async fn serve(&self, action: Action<SnsAction>, call: &Call<'_>) -> Result<Output, QueryError> {
        if action.access != Access::Read {
            self.queues.check_store().map_err(not_stored)?;
        }
        let output = self.run(action.kind, call);
        // Also after reads and errors: they may have seen a change that is not stored yet.
        self.queues.settled().await.map_err(not_stored)?;
        output
    }
}

fn not_stored(error: ServiceError) -> QueryError {
    let code = error.code.query_code().to_owned();
    QueryError::new(error.code.status(), code, error.message.unwrap_or_default())
}
