//! A request as faults see it.

use sqs_client::operation::Action;

use crate::service::clock::Timestamp;

/// A request, for a fault to decide whether it strikes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// What it asks for.
    pub action: Action,
    /// The name of the queue, where it names one.
    pub queue: Option<&'a str>,
    /// The account of the caller, 12 digits.
    pub account: &'a str,
    /// The region of the caller.
    pub region: &'a str,
    /// When it came, by the clock of the server.
    pub time: Timestamp,
    /// Its messages or receipt handles: one for each entry of a batch, one for a single send, delete or change of
    /// visibility, none for all else.
    pub entries: Vec<Entry<'a>>,
}

/// One message or receipt handle of a request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// Its place in the batch, from 0; 0 when there is no batch.
    pub index: usize,
    /// Its id in the batch.
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
