//! A request as conditions of faults see it.

use sqs_client::operation::Action;

use crate::service::clock::Timestamp;
use crate::service::operation::ServiceName;
use crate::service::resource::Resource;

/// A request, for the conditions of a fault.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The service that it is sent to.
    pub service: ServiceName,
    /// The name of its operation, such as `SendMessage`.
    pub operation: &'a str,
    /// The resource that the request addresses, if it names one.
    pub resource: Option<Resource>,
    /// The account of the caller, 12 digits.
    pub account: &'a str,
    /// The region of the caller.
    pub region: &'a str,
    /// The arrival time, by the clock of the server.
    pub time: Timestamp,
    /// The messages or receipt handles: one for each entry of a batch, one for a single send, delete or change of
    /// visibility, none for other requests.
    pub entries: Vec<Entry<'a>>,
    /// Whether the messages in its response can be delivered again.
    pub(crate) can_redeliver: bool,
}

impl Request<'_> {
    /// The action, if the request is for SQS.
    pub fn action(&self) -> Option<Action> {
        Action::from_name(self.operation).filter(|_| self.service == ServiceName::Sqs)
    }

    /// The name of the queue, if the request addresses one.
    pub fn queue(&self) -> Option<&str> {
        match &self.resource {
            Some(Resource::Queue(arn)) => Some(&arn.name),
            _ => None,
        }
    }

    /// The name of the topic, if the request addresses one or a subscription to it.
    pub fn topic(&self) -> Option<&str> {
        self.resource.as_ref().and_then(Resource::topic)
    }
}

/// A message or a receipt handle of a request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The position in the batch, from 0; 0 without a batch.
    pub index: usize,
    /// The id in the batch; `None` without a batch.
    pub id: Option<&'a str>,
    /// The body of the message.
    pub body: Option<&'a str>,
    /// The message group id.
    pub group: Option<&'a str>,
    /// The message deduplication id.
    pub deduplication_id: Option<&'a str>,
    /// The receipt handle.
    pub receipt_handle: Option<&'a str>,
}
