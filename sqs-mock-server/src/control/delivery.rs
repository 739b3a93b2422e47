//! Messages that one service puts into the queues of another, or publishes to its topics.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use parking_lot::RwLockReadGuard;
use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::message_size;
use sqs_client::wire::service_error::ServiceError;

use crate::control::arn::QueueArn;
use crate::control::policies::Why;

/// The service that delivers, and the resource for which it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// Such as `sns.amazonaws.com`.
    pub(crate) service: &'a str,
    /// The ARN of the topic or the bucket.
    pub(crate) arn: &'a str,
    /// Its account.
    pub(crate) account: &'a str,
}

/// A message for a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery<'a> {
    pub(crate) queue: &'a QueueArn,
    /// The policy of the queue must allow it.
    pub(crate) source: Source<'a>,
    pub(crate) body: &'a str,
    pub(crate) attributes: Option<&'a HashMap<String, MessageAttributeValue>>,
    /// FIFO queues require it.
    pub(crate) group: Option<&'a str>,
    /// For FIFO queues. Without it, the queue must have content-based deduplication.
    pub(crate) deduplication_id: Option<&'a str>,
    /// The AWS X-Ray trace header.
    pub(crate) trace_header: Option<&'a str>,
    /// The principal that receives show as `SenderId`.
    pub(crate) sender: &'a str,
    /// Whether the maximum message size of the queue applies: to events of S3, but not to messages of SNS.
    pub(crate) keeps_size_limit: bool,
}

/// Why a message is not in its queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Undelivered {
    /// The queue does not exist.
    NoQueue,
    /// The policy of the queue does not allow it, and policies are enforced.
    Denied(Box<Why>),
    /// The queue does not take the message.
    Refused(ServiceError),
    /// SQS is unavailable. A later attempt may succeed; this one may also have, without an answer.
    Unavailable(ServiceError),
}

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoQueue => f.write_str("the queue does not exist"),
            Self::Denied(why) => write!(f, "{why}"),
            Self::Refused(error) | Self::Unavailable(error) => write!(f, "{error}"),
        }
    }
}

/// A copy of a [`Delivery`], for a later attempt.
#[derive(Clone, Debug)]
pub(crate) struct KeptDelivery {
    pub(crate) queue: QueueArn,
    pub(crate) service: Box<str>,
    pub(crate) source_arn: Box<str>,
    pub(crate) source_account: Box<str>,
    pub(crate) body: Box<str>,
    pub(crate) attributes: Option<HashMap<String, MessageAttributeValue>>,
    pub(crate) group: Option<Box<str>>,
    pub(crate) deduplication_id: Option<Box<str>>,
    pub(crate) trace_header: Option<Box<str>>,
    pub(crate) sender: Box<str>,
    pub(crate) keeps_size_limit: bool,
}

impl KeptDelivery {
    pub(crate) fn of(delivery: Delivery<'_>) -> Self {
        let Delivery { queue, source, body, attributes, group, deduplication_id, .. } = delivery;
        Self {
            queue: queue.clone(),
            service: source.service.into(),
            source_arn: source.arn.into(),
            source_account: source.account.into(),
            body: body.into(),
            attributes: attributes.cloned(),
            group: group.map(Into::into),
            deduplication_id: deduplication_id.map(Into::into),
            trace_header: delivery.trace_header.map(Into::into),
            sender: delivery.sender.into(),
            keeps_size_limit: delivery.keeps_size_limit,
        }
    }

    /// The original.
    pub(crate) fn as_delivery(&self) -> Delivery<'_> {
        Delivery {
            queue: &self.queue,
            source: Source { service: &self.service, arn: &self.source_arn, account: &self.source_account },
            body: &self.body,
            attributes: self.attributes.as_ref(),
            group: self.group.as_deref(),
            deduplication_id: self.deduplication_id.as_deref(),
            trace_header: self.trace_header.as_deref(),
            sender: &self.sender,
            keeps_size_limit: self.keeps_size_limit,
        }
    }

    /// The size of the message, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        message_size(&self.body, self.attributes.as_ref())
    }
}

/// The result of waiting for the store.
pub(crate) type Settled<'a> = Pin<Box<dyn Future<Output = Result<(), ServiceError>> + Send + 'a>>;

/// While it exists, all changes are stored together. `None` without a store.
pub(crate) type Whole<'a> = Option<RwLockReadGuard<'a, ()>>;

/// What another service takes of the memory that the server may use. It is returned on drop.
pub(crate) trait MemoryShare: fmt::Debug + Send + Sync {
    /// Whether there is room for a share of this size. One that is not larger always fits.
    fn fits(&self, bytes: usize) -> bool;

    /// Sets the size of the share.
    fn set(&mut self, bytes: usize);
}

/// All queues of a server, for other services.
pub(crate) trait Queues: fmt::Debug + Send + Sync {
    /// Puts a message into a queue. A duplicate, by its deduplication id, counts as delivered. Returns why AWS denies
    /// the delivery, if it does and policies only warn.
    ///
    /// # Errors
    /// See [`Undelivered`].
    fn deliver(&self, delivery: Delivery<'_>) -> Result<Option<Why>, Undelivered>;

    /// Makes deliveries whole: until the guard is dropped, the store keeps all of them or none. It also delays commits, so
    /// hold it only while messages enter queues.
    fn whole(&self) -> Whole<'_>;

    /// A new share of the memory, which is empty; `None` if memory is not limited.
    fn memory_share(&self) -> Option<Box<dyn MemoryShare>> {
        None
    }

    /// Checks that a queue would take deliveries from a source, without one. Returns the same as
    /// [`deliver`](Self::deliver).
    ///
    /// # Errors
    /// The queue does not exist, or its policy does not allow deliveries.
    #[cfg(feature = "s3")]
    fn check(&self, queue: &QueueArn, source: Source<'_>) -> Result<Option<Why>, Undelivered>;

    /// Checks that deliveries can be stored at present.
    ///
    /// # Errors
    /// `ServiceUnavailable`, which SDKs retry.
    fn check_store(&self) -> Result<(), ServiceError>;

    /// Waits until all deliveries so far are stored.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn settled(&self) -> Settled<'_>;
}

/// A message for a topic.
#[cfg(feature = "s3")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announcement<'a> {
    /// The ARN of the topic.
    pub(crate) topic: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) text: &'a str,
    /// The AWS X-Ray trace header.
    pub(crate) trace_header: Option<&'a str>,
}

/// All topics of a server, for other services.
#[cfg(feature = "s3")]
pub(crate) trait Publisher: fmt::Debug + Send + Sync {
    /// Whether the topic with this ARN exists.
    fn has_topic(&self, arn: &str) -> bool;

    /// Publishes a message. Returns notes about subscribers that did not get it.
    ///
    /// # Errors
    /// Why the topic does not take the message, as text.
    fn publish(&self, announcement: Announcement<'_>) -> Result<Vec<String>, String>;
}
