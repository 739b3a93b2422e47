//! Views of topics, and recorded requests to SNS and STS.

use std::sync::Arc;

use super::MockSqs;
use crate::query::QueryRequest;
use crate::service::arn::TopicArn;
use crate::service::operation::ServiceName;
use crate::sns::ops::{PublishedMessage, Sns, SubscriptionDescription};

/// A view of one topic of a [`MockSqs`]. It changes nothing.
///
/// The page [topics](crate::guide::topics#in-a-rust-test) has an example.
#[derive(Clone, Debug)]
pub struct TopicView<'s> {
    sns: &'s Sns,
    arn: TopicArn,
}

impl TopicView<'_> {
    /// The topic with this name in another account, given as 12 digits.
    pub fn of_account(mut self, account: &str) -> Self {
        self.arn.account = account.into();
        self
    }

    /// The topic with this name in another region.
    pub fn in_region(mut self, region: &str) -> Self {
        self.arn.region = region.into();
        self
    }

    /// The ARN, whether the topic exists or not.
    pub fn arn(&self) -> &TopicArn {
        &self.arn
    }

    /// Whether the topic exists.
    pub fn exists(&self) -> bool {
        self.sns.has(&self.arn)
    }

    /// The subscriptions, sorted by protocol and endpoint; empty if the topic does not exist.
    pub fn subscriptions(&self) -> Vec<SubscriptionDescription> {
        self.sns.subscriptions_of(&self.arn)
    }

    /// The [latest](crate::MockSqsBuilder::journal) messages that the topic took, oldest first, also if it was deleted
    /// since. Duplicates on FIFO topics are not among them.
    pub fn published(&self) -> Vec<Arc<PublishedMessage>> {
        self.sns.published_to(&self.arn)
    }
}

impl MockSqs {
    /// A view of a topic in the server's own account and region, whether it exists or not.
    pub fn topic(&self, name: &str) -> TopicView<'_> {
        let arn = TopicArn::new(&self.names().region, &self.names().account, name);
        TopicView { sns: &self.services.topics.sns, arn }
    }

    /// The [latest](crate::MockSqsBuilder::journal) requests to SNS, oldest first.
    pub fn sns_requests(&self) -> Vec<QueryRequest> {
        QueryRequest::all(&self.services.journal, ServiceName::Sns)
    }

    /// The [latest](crate::MockSqsBuilder::journal) requests to STS, oldest first.
    pub fn sts_requests(&self) -> Vec<QueryRequest> {
        QueryRequest::all(&self.services.journal, ServiceName::Sts)
    }
}
