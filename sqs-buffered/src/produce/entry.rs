//! A message to send.

use sqs_client::operation::send_message::SendMessageInput;
use sqs_client::types::{
    MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
    SendMessageBatchRequestEntry,
};
use sqs_client::wire::checksum::message_size;

/// Whether a queue is a FIFO queue: its name, the last part of the path of its URL, ends in `.fifo`.
pub(crate) fn is_fifo(queue_url: &str) -> bool {
    let path = queue_url.split(['?', '#']).next().unwrap_or_default();
    path.trim_end_matches('/').ends_with(".fifo")
}

/// A message to send, with the URL of its queue.
///
/// ```
/// use sqs_buffered::Entry;
///
/// let entry = Entry::new("https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo", "one coffee")
///     .message_group_id("table 7")
///     .message_deduplication_id("order 42");
/// assert_eq!(entry.size(), 10);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Entry {
    pub(crate) queue_url: String,
    pub(crate) message: SendMessageBatchRequestEntry,
}

impl Entry {
    /// A message with this body for the queue with this URL.
    pub fn new(queue_url: impl Into<String>, body: impl Into<String>) -> Self {
        let mut message = SendMessageBatchRequestEntry::default();
        message.message_body = body.into();
        Self { queue_url: queue_url.into(), message }
    }

    /// An entry from a batch request. Its `id` is ignored.
    pub fn from_batch_entry(queue_url: impl Into<String>, message: SendMessageBatchRequestEntry) -> Self {
        Self { queue_url: queue_url.into(), message }
    }

    /// Sets the message group id: required on FIFO queues; on standard queues, it identifies the tenant for fair queues.
    pub fn message_group_id(mut self, id: impl Into<String>) -> Self {
        self.message.message_group_id = Some(id.into());
        self
    }

    /// Sets the deduplication id. FIFO queues only. For messages without an id, see [`DedupId`](crate::DedupId).
    pub fn message_deduplication_id(mut self, id: impl Into<String>) -> Self {
        self.message.message_deduplication_id = Some(id.into());
        self
    }

    /// Sets the delay before the message becomes visible: 0 to 900 seconds. Standard queues only.
    pub fn delay_seconds(mut self, seconds: i32) -> Self {
        self.message.delay_seconds = Some(seconds);
        self
    }

    /// Adds a message attribute.
    pub fn message_attributes(mut self, name: impl Into<String>, value: MessageAttributeValue) -> Self {
        self.message.message_attributes.get_or_insert_default().insert(name.into(), value);
        self
    }

    /// Adds a message system attribute.
    pub fn message_system_attributes(
        mut self,
        name: MessageSystemAttributeNameForSends,
        value: MessageSystemAttributeValue,
    ) -> Self {
        self.message.message_system_attributes.get_or_insert_default().insert(name, value);
        self
    }

    /// The URL of the queue.
    pub fn queue_url(&self) -> &str {
        &self.queue_url
    }

    /// The message as a batch entry. Its `id` has no meaning.
    pub fn message(&self) -> &SendMessageBatchRequestEntry {
        &self.message
    }

    /// The size in bytes as SQS counts it: the body, and the names, types and values of the message attributes.
    pub fn size(&self) -> usize {
        message_size(&self.message.message_body, self.message.message_attributes.as_ref())
    }
}

/// From the input of a single send. Without a queue URL, `enqueue` returns an error.
impl From<SendMessageInput> for Entry {
    fn from(mut input: SendMessageInput) -> Self {
        Self { queue_url: input.queue_url.take().unwrap_or_default(), message: input.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::is_fifo;

    #[test]
    fn fifo_queue_is_known_by_its_name_whatever_follows_it() {
        for url in [
            "http://q/1/a.fifo",
            "http://q/1/a.fifo/",
            "http://q/1/a.fifo?x=1",
            "http://q/a.fifo/#x",
            "a.fifo",
        ] {
            assert!(is_fifo(url), "{url}");
        }
        for url in ["http://q/1/a", "http://q.fifo/1/a", "http://q/1/a?x=.fifo", "http://q/1/a.fifo.x", ""] {
            assert!(!is_fifo(url), "{url}");
        }
    }
}
