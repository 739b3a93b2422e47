//! The actions of SNS.
//!
//! ```text
//! form -> find the topic, lock it -> engine (now) -> output
//!                                      | Publish: recipients -> queues (a trait of another service) or notes
//! ```
//! A topic stays locked while its messages enter queues, so that all queues get them in the same order. Queues never
//! lock topics.

mod deliver;
mod page;
mod permission;
mod publish;
mod subscription;
mod tags;
mod topic;
mod topics;

use std::sync::Arc;

use parking_lot::Mutex;
use sqs_client::wire::service_error::ServiceError;

use crate::query::{Access, Api, Call, Form, Output};
use crate::service::arn::TopicArn;
use crate::service::clock::Clock;
use crate::service::delivery::Queues;
use crate::service::operation::{ServiceName, SnsAction};
use crate::service::query_error::QueryError;
use crate::service::resource::Resource;
use crate::service::seed::{Seed, Uuid, uuid};

use topics::Topics;

/// The topics of a server.
#[derive(Debug)]
pub(crate) struct Sns {
    topics: Topics,
    queues: Arc<dyn Queues>,
    clock: Clock,
    /// Held only to draw an id or a token.
    ids: Mutex<fastrand::Rng>,
}

impl Sns {
    /// A service without topics, which delivers to `queues`.
    pub(crate) fn new(queues: Arc<dyn Queues>, clock: Clock, seed: Seed) -> Self {
        let ids = Mutex::new(seed.generator("ids of topics"));
        Self { topics: Topics::default(), queues, clock, ids }
    }

    /// Removes all topics.
    pub(crate) fn reset(&self) {
        self.topics.clear();
    }

    fn new_id(&self) -> Uuid {
        uuid(&mut self.ids.lock())
    }

    fn run(&self, action: SnsAction, call: &Call<'_>) -> Result<Output, QueryError> {
        match action {
            SnsAction::AddPermission => permission::add(self, call),
            SnsAction::ConfirmSubscription => subscription::confirm(self, call),
            SnsAction::CreateTopic => topic::create(self, call),
            SnsAction::DeleteTopic => topic::delete(self, call),
            SnsAction::GetSubscriptionAttributes => subscription::attributes(self, call),
            SnsAction::GetTopicAttributes => topic::attributes(self, call),
            SnsAction::ListSubscriptions => subscription::list(self, call),
            SnsAction::ListSubscriptionsByTopic => subscription::list_by_topic(self, call),
            SnsAction::ListTagsForResource => tags::list(self, call),
            SnsAction::ListTopics => topic::list(self, call),
            SnsAction::Publish => publish::one(self, call),
            SnsAction::PublishBatch => publish::batch(self, call),
            SnsAction::RemovePermission => permission::remove(self, call),
            SnsAction::SetSubscriptionAttributes => subscription::set_attribute(self, call),
            SnsAction::SetTopicAttributes => topic::set_attribute(self, call),
            SnsAction::Subscribe => subscription::subscribe(self, call),
            SnsAction::TagResource => tags::add(self, call),
            SnsAction::Unsubscribe => subscription::unsubscribe(self, call),
            SnsAction::UntagResource => tags::remove(self, call),
        }
    }
}

impl Api for Sns {
    const SERVICE: ServiceName = ServiceName::Sns;
    const NAMESPACE: &'static str = "http://sns.amazonaws.com/doc/2010-03-31/";
    type Action = SnsAction;

    fn action(name: &str) -> Option<SnsAction> {
        SnsAction::ALL.iter().copied().find(|action| action.name() == name)
    }

    fn name(action: SnsAction) -> &'static str {
        action.name()
    }

    fn access(action: SnsAction) -> Access {
        match action {
            SnsAction::GetSubscriptionAttributes
            | SnsAction::GetTopicAttributes
            | SnsAction::ListSubscriptions
            | SnsAction::ListSubscriptionsByTopic
            | SnsAction::ListTagsForResource
            | SnsAction::ListTopics => Access::Read,
            SnsAction::ConfirmSubscription | SnsAction::Unsubscribe => Access::Link,
            _ => Access::Change,
        }
    }

    fn resource(form: &Form) -> Option<Resource> {
        let named = ["TopicArn", "TargetArn", "SubscriptionArn", "ResourceArn"].into_iter();
        let mut arns = named.filter_map(|name| form.get(name)).filter_map(TopicArn::of);
        arns.next().map(Resource::Topic)
    }

    async fn serve(&self, action: SnsAction, call: &Call<'_>) -> Result<Output, QueryError> {
        let delivers = matches!(action, SnsAction::Publish | SnsAction::PublishBatch | SnsAction::Subscribe);
        if !delivers {
            return self.run(action, call);
        }
        self.queues.check_store().map_err(not_stored)?;
        let output = self.run(action, call);
        self.queues.settled().await.map_err(not_stored)?;
        output
    }
}

fn not_stored(error: ServiceError) -> QueryError {
    let code = error.code.query_code().to_owned();
    QueryError::new(error.code.status(), code, error.message.unwrap_or_default())
}
