//! The queues and topics that get events.

use std::sync::Arc;

use crate::s3::notifications::{Target, TargetKind, UnusableTarget};
use crate::service::arn::QueueArn;
use crate::service::delivery::{Announcement, Delivery, Publisher, Queues, Source, Undelivered};

/// The subject of events that are published to topics.
const SUBJECT: &str = "Amazon S3 Notification";
/// The sender that queues show for messages of S3.
const SENDER: &str = "AROAJFWZWTE5KRAMGW5A2:S3-PROD-END";
/// The number of retries of a delivery while SQS is unavailable. They are immediate: later events wait for them.
const RETRIES: usize = 3;
const NO_TOPICS: &str = "this build has no topics; it requires the cargo feature `sns`";

/// The queues and topics of the server.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) queues: Arc<dyn Queues>,
    /// `None` if the build has no topics.
    pub(crate) topics: Option<Arc<dyn Publisher>>,
    /// The account that owns all buckets.
    pub(crate) account: String,
}

impl Targets {
    /// Checks that events of a bucket can be delivered to a target. Returns a note if they would not be on AWS, or are
    /// not here.
    ///
    /// # Errors
    /// The target does not exist, or its policy does not allow it.
    pub(in crate::s3) fn check(
        &self,
        bucket: &str,
        target: &Target,
    ) -> Result<Option<String>, UnusableTarget> {
        let arn = &target.arn;
        match target.kind {
            TargetKind::Queue => {
                let queue: QueueArn = arn.parse().map_err(|_| UnusableTarget::Missing)?;
                let checked = self.queues.check(&queue, self.source(&bucket_arn(bucket)));
                checked
                    .map(|denial| {
                        Some(format!("events are delivered to {arn}, but AWS denies it: {}", denial?))
                    })
                    .map_err(|undelivered| match undelivered {
                        Undelivered::Denied(_) => UnusableTarget::Denied,
                        _ => UnusableTarget::Missing,
                    })
            }
            TargetKind::Topic => {
                let exists = self.topics.as_ref().is_some_and(|topics| topics.has_topic(arn));
                if exists { Ok(None) } else { Err(UnusableTarget::Missing) }
            }
            TargetKind::Function => {
                Ok(Some(format!("events for {arn} are not sent: there are no functions here")))
            }
        }
    }

    /// Delivers a message to a target. What is lost is logged: the request that caused it has its response already.
    pub(in crate::s3) fn deliver(
        &self,
        bucket: &str,
        target: &Target,
        message: &str,
        trace_header: Option<&str>,
    ) {
        let destination = target.arn.as_str();
        let delivered = match target.kind {
            TargetKind::Queue => self.to_queue(bucket, destination, message, trace_header),
            TargetKind::Topic => self.to_topic(destination, message, trace_header),
            TargetKind::Function => {
                tracing::debug!(bucket, destination, "an event of S3 is not sent to a function");
                return;
            }
        };
        match delivered {
            Ok(notes) if notes.is_empty() => {
                tracing::debug!(bucket, destination, "an event of S3 is delivered");
            }
            Ok(notes) => {
                tracing::warn!(bucket, destination, ?notes, "SNS has notes about an event of S3");
            }
            Err(reason) => tracing::warn!(bucket, destination, reason, "an event of S3 is lost"),
        }
    }

    fn to_queue(
        &self,
        bucket: &str,
        arn: &str,
        body: &str,
        trace_header: Option<&str>,
    ) -> Result<Vec<String>, String> {
        let queue: QueueArn = arn.parse().map_err(|_| Undelivered::NoQueue.to_string())?;
        let bucket_arn = bucket_arn(bucket);
        let delivery = Delivery {
            queue: &queue,
            source: self.source(&bucket_arn),
            body,
            attributes: None,
            group: None,
            deduplication_id: None,
            trace_header,
            sender: SENDER,
            keeps_size_limit: true,
        };
        let mut delivered = self.queues.deliver(delivery);
        for _ in 0..RETRIES {
            if !matches!(delivered, Err(Undelivered::Unavailable(_))) {
                break;
            }
            delivered = self.queues.deliver(delivery);
        }
        // The queue reports a delivery that AWS would deny.
        delivered.map(|_| Vec::new()).map_err(|undelivered| undelivered.to_string())
    }

    fn to_topic(&self, topic: &str, text: &str, trace_header: Option<&str>) -> Result<Vec<String>, String> {
        let topics = self.topics.as_ref().ok_or(NO_TOPICS)?;
        topics.publish(Announcement { topic, subject: SUBJECT, text, trace_header })
    }

    /// The source that policies see.
    fn source<'a>(&'a self, bucket_arn: &'a str) -> Source<'a> {
        Source { service: "s3.amazonaws.com", arn: bucket_arn, account: &self.account }
    }
}

fn bucket_arn(bucket: &str) -> String {
    format!("arn:aws:s3:::{bucket}")
}
