//! The queues and topics that get events.

use std::sync::Arc;

use crate::s3::notifications::{Target, TargetKind, UnusableTarget};
use crate::service::arn::QueueArn;
use crate::service::delivery::{Announcement, Delivery, Publisher, Queues, Source, Undelivered};
use crate::service::policies::Why;

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
    pub(crate) fn check(&self, bucket: &str, target: &Target) -> Result<Option<String>, UnusableTarget> {
        let arn = &target.arn;
        match target.kind {
            TargetKind::Queue => {
                let queue: QueueArn = arn.parse().map_err(|_| UnusableTarget::Missing)?;
                match self.queues.check(&queue, self.source(&bucket_arn(bucket))) {
                    Ok(None) => Ok(None),
                    Ok(Some(why)) => {
                        Ok(Some(format!("events are delivered to {arn}, but AWS denies it: {why}")))
                    }
                    Err(Undelivered::Denied(_)) => Err(UnusableTarget::Denied),
                    Err(_) => Err(UnusableTarget::Missing),
                }
            }
            TargetKind::Topic => match &self.topics {
                Some(topics) if topics.has_topic(arn) => Ok(None),
                _ => Err(UnusableTarget::Missing),
            },
            TargetKind::Function => {
                Ok(Some(format!("events for {arn} are not sent: there are no functions here")))
            }
        }
    }

    /// Delivers a message to a target. What is lost is logged: the request that caused it has its response already.
    pub(crate) fn deliver(&self, bucket: &str, target: &Target, message: &str, trace_header: Option<&str>) {
        let destination = target.arn.as_str();
        let delivered = match target.kind {
            TargetKind::Queue => {
                // The queue reports a delivery that AWS would deny.
                let delivered = self.to_queue(bucket, destination, message, trace_header);
                delivered.map(|_| Vec::new()).map_err(|undelivered| undelivered.to_string())
            }
            TargetKind::Topic => match &self.topics {
                Some(topics) => {
                    let (topic, subject, text) = (destination, SUBJECT, message);
                    topics.publish(Announcement { topic, subject, text, trace_header })
                }
                None => Err(NO_TOPICS.to_owned()),
            },
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
    ) -> Result<Option<Why>, Undelivered> {
        let queue: QueueArn = arn.parse().map_err(|_| Undelivered::NoQueue)?;
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
        delivered
    }

    /// The source that policies see.
    fn source<'a>(&'a self, bucket_arn: &'a str) -> Source<'a> {
        Source { service: "s3.amazonaws.com", arn: bucket_arn, account: &self.account }
    }
}

fn bucket_arn(bucket: &str) -> String {
    format!("arn:aws:s3:::{bucket}")
}
