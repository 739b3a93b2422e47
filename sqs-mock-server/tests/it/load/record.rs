//! One message.

use std::fmt;

use sqs_client::types::Message;
use sqs_mock_server::clock::Timestamp;

/// The identity of a message: its lane and its number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Name {
    pub(super) lane: usize,
    pub(super) number: u64,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.lane, self.number)
    }
}

impl Name {
    /// The name in a body, before the padding.
    pub(super) fn of(message: &Message) -> Self {
        let mut parts = message.body().expect("each message has a body").split(':');
        let mut part =
            || parts.next().and_then(|part| part.parse::<u64>().ok()).expect("a body of a producer");
        Self { lane: part().try_into().expect("a lane"), number: part() }
    }
}

/// The history of one message.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The message id in the response to its sender.
    pub(super) accepted: Option<u128>,
    /// The message ids that it was received with.
    pub(super) copies: Vec<u128>,
    pub(super) deliveries: u64,
    /// The time of the receive of its latest delivery.
    pub(super) asked: Timestamp,
    pub(super) deleted: Option<Timestamp>,
}

impl Record {
    /// The violation for this message, once the queue is empty.
    pub(super) fn verdict(&self, strict: bool) -> Result<(), String> {
        let accepted = self.accepted.ok_or("came, but was never accepted")?;
        if !self.copies.contains(&accepted) {
            return Err(format!("was accepted as {accepted:032x} and never came: {self:?}"));
        }
        if strict && self.copies.len() > 1 {
            return Err(format!("was stored more than once: {self:?}"));
        }
        if self.deleted.is_none() {
            return Err("is gone, but nobody has deleted it".to_owned());
        }
        Ok(())
    }
}

/// A message id as a number.
pub(super) fn number_of(message_id: &str) -> u128 {
    u128::from_str_radix(&message_id.replace('-', ""), 16).expect("a message id is a UUID")
}
