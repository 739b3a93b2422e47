//! Publishing to a topic.

use sqs_client::wire::checksum::content_deduplication_id;

use super::Topic;
use crate::service::clock::Timestamp;
use crate::service::query_error::QueryError;
use crate::service::seed::Uuid;
use crate::sns::engine::change::TopicChange;
use crate::sns::engine::fifo::{Published, Receipt};
use crate::sns::engine::message::Message;
use crate::sns::engine::protocol::Protocol;
use crate::sns::engine::refusal::invalid;
use crate::sns::engine::subscription::Subscription;
use crate::sns::filter::{FilterInput, FilterPolicy};

/// The number of subscriptions to which SNS delivers messages over 256 KiB.
const MAX_SUBSCRIPTIONS_FOR_LARGE: usize = 100;
const LARGE: usize = 262_144;

impl Topic {
    /// Checks that a message can be published here.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(crate) fn check(&self, message: &Message) -> Result<(), QueryError> {
        let (is_fifo, has_id) = (self.fifo.is_some(), message.deduplication_id.is_some());
        let text = if message.size > self.settings.maximum_message_size() {
            "Message too long"
        } else if message.size > LARGE && !self.takes_large() {
            "Message too long: messages over 262144 bytes need at most 100 subscriptions, all of protocol sqs, lambda or \
             firehose"
        } else if !is_fifo && has_id {
            "MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for \
             this topic type"
        } else if is_fifo && message.group.is_none() {
            "The MessageGroupId parameter is required for FIFO topics"
        } else if is_fifo && !has_id && !self.settings.has("ContentBasedDeduplication", "true") {
            "The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"
        } else {
            return Ok(());
        };
        Err(invalid(text))
    }

    /// Checks that the messages of a batch can be published here.
    ///
    /// # Errors
    /// `BatchRequestTooLong`, `InvalidParameter`.
    pub(crate) fn check_batch(&self, messages: &[Message]) -> Result<(), QueryError> {
        let size: usize = messages.iter().map(|message| message.size).sum();
        if size > self.settings.maximum_message_size() {
            let text = "The length of all the messages put together is more than the limit.";
            return Err(QueryError::new(400, "BatchRequestTooLong", text));
        }
        messages.iter().try_for_each(|message| self.check(message))
    }

    fn takes_large(&self) -> bool {
        self.subscriptions.len() <= MAX_SUBSCRIPTIONS_FOR_LARGE
            && self.subscriptions().all(|subscription| subscription.protocol().takes_large_messages())
    }

    /// Takes a message that was checked. `id` is for a new one; a duplicate gets the receipt of the original. FIFO
    /// topics complete its deduplication id.
    pub(crate) fn publish(&mut self, now: Timestamp, id: Uuid, message: &mut Message) -> Published {
        let Some(fifo) = &mut self.fifo else {
            return Published { receipt: Receipt { id, sequence_number: None }, is_new: true };
        };
        let deduplication_id = message.deduplication_id.take();
        let deduplication_id = deduplication_id.unwrap_or_else(|| content_deduplication_id(&message.text));
        let by_group = self.settings.has("FifoThroughputScope", "MessageGroup");
        let group = message.group.as_deref().filter(|_| by_group).unwrap_or_default();
        let published = fifo.receive(now, id, (group, &deduplication_id));
        message.deduplication_id = Some(deduplication_id);
        if let (true, Some(known)) = (published.is_new, fifo.latest()) {
            let forgotten = fifo.forgotten();
            self.changes.record(|| TopicChange::Published { known: Box::new(known.clone()), forgotten });
        }
        published
    }

    /// Whether a queue gets a message in an envelope.
    pub(crate) fn has_envelope(&self, message: &Message) -> bool {
        let is_enveloped = |subscription: &Subscription| {
            subscription.protocol() == Protocol::Sqs && !subscription.attributes.raw
        };
        // Most topics need no look at filters.
        self.subscriptions.values().any(is_enveloped) && self.recipients(message).any(is_enveloped)
    }

    /// The subscriptions that get a message.
    pub(crate) fn recipients<'a>(&'a self, message: &'a Message) -> impl Iterator<Item = &'a Subscription> {
        // One for each text; policies parse it at most once.
        let inputs = Protocol::ALL
            .map(|protocol| (protocol, FilterInput::new(message.text(protocol), &message.attributes)));
        let matches = move |policy: &FilterPolicy, protocol: Protocol| {
            inputs.iter().any(|(of, input)| *of == protocol && policy.matches(input))
        };
        self.subscriptions.values().filter(move |subscription| {
            let policy = subscription.attributes.filter.as_ref();
            subscription.is_confirmed()
                && policy.is_none_or(|policy| matches(policy, subscription.protocol()))
        })
    }
}
