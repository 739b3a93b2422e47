//! Messages that other services publish.

use std::sync::Arc;

use super::{Sns, publish};
use crate::query::Origin;
use crate::service::arn::TopicArn;
use crate::service::delivery::{Announcement, Publisher};
use crate::service::query_error::QueryError;
use crate::sns::engine::message::{Draft, Message};

/// Publishes for other services. The policies of topics are not evaluated.
#[derive(Debug)]
pub(crate) struct TopicPublisher {
    sns: Arc<Sns>,
    /// The URL of this server in messages, without a slash at the end.
    base_url: String,
}

impl TopicPublisher {
    pub(crate) fn new(sns: Arc<Sns>, base_url: String) -> Self {
        Self { sns, base_url }
    }
}

impl Publisher for TopicPublisher {
    fn has_topic(&self, arn: &str) -> bool {
        topic(arn).is_some_and(|arn| self.sns.topics.get(&arn).is_ok())
    }

    fn publish(&self, announcement: Announcement<'_>) -> Result<Vec<String>, String> {
        let Announcement { topic: arn, subject, text, trace_header } = announcement;
        let arn = topic(arn).ok_or("the topic does not exist")?;
        let publish = || {
            let message = Message::new(Draft { text, subject: Some(subject), ..Draft::default() })?;
            let origin = Origin { base_url: &self.base_url, trace_header };
            publish::message(&self.sns, origin, &*self.sns.topics.get(&arn)?, message)
        };
        publish().map(|(_, notes)| notes).map_err(|error: QueryError| error.to_string())
    }
}

/// The topic of an ARN, but not of the ARN of a subscription.
fn topic(text: &str) -> Option<TopicArn> {
    TopicArn::of(text).filter(|arn| arn.to_string() == text)
}
