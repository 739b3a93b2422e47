//! One message.

use std::fmt;

use sqs_client::types::Message;
use sqs_mock_server::clock::Timestamp;

/// The name of a message: its lane, and its number there.
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
    /// The name in a body, before its filling.
    pub(super) fn of(message: &Message) -> Self {
        let mut parts = message.body().expect("each message has a body").split(':');
        let mut part = || parts.next().and_then(|part| part.parse::<u64>().ok()).expect("a body of ours");
        Self { lane: part().try_into().expect("a lane"), number: part() }
    }
}

/// What is known of one message.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The message id that its sender was told.
    pub(super) accepted: Option<u128>,
    /// The message ids that it was received with.
    pub(super) copies: Vec<u128>,
    pub(super) deliveries: u64,
    /// When the latest delivery that arrived was asked for.
    pub(super) asked: Timestamp,
    pub(super) deleted: Option<Timestamp>,
}

impl Record {
    /// What is wrong with it once nothing is left in the queue.
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
