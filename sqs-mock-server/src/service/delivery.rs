//! Messages that one service puts into the queues of another.

use std::collections::HashMap;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::service_error::ServiceError;

use super::arn::QueueArn;
use super::policies::Why;

/// The service that delivers, and the resource for which it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// Such as `sns.amazonaws.com`.
    pub(crate) service: &'a str,
    /// The ARN of the topic.
    pub(crate) arn: &'a str,
    /// The account of the topic.
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
}

/// The result of waiting for the store.
pub(crate) type Settled<'a> = Pin<Box<dyn Future<Output = Result<(), ServiceError>> + Send + 'a>>;

/// All queues of a server, for other services.
pub(crate) trait Queues: Debug + Send + Sync {
    /// Puts a message into a queue. A duplicate, by its deduplication id, counts as delivered. Returns why AWS denies
    /// the delivery, if it does and policies only warn.
    ///
    /// # Errors
    /// See [`Undelivered`].
    fn deliver(&self, delivery: Delivery<'_>) -> Result<Option<Why>, Undelivered>;

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
