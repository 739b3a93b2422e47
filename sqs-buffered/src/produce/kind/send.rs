//! Sends.

use sqs_client::operation::send_message_batch::{self, SendMessageBatchInput, SendMessageBatchOutput};
use sqs_client::types::SendMessageBatchRequestEntry;

use super::{AddedId, Kind, Results, id};
use crate::produce::lane::Receipt;
use crate::produce::settings::DedupId;
use crate::random;

#[derive(Debug)]
pub(crate) struct Send;

/// A message to send.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) message: SendMessageBatchRequestEntry,
    pub(crate) id: DeduplicationId,
}

/// The state of the deduplication id of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DeduplicationId {
    /// The message has its id, or needs none.
    Settled,
    /// The message has none. It may get one before its first request.
    Open(DedupId),
    /// The message has none, because the queue has content-based deduplication, or its attributes cannot be read. If SQS may
    /// have stored it without an id, it gets none later: with an id, it would be another message.
    LeftOut { maybe_stored: bool },
}

/// What SQS returned for an accepted message.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SendReceipt {
    /// The message id.
    pub message_id: String,
    /// The sequence number in a FIFO queue: 20 digits.
    pub sequence_number: Option<String>,
    /// MD5 of the body as SQS has it, 32 hexadecimal digits.
    pub md5_of_message_body: String,
    /// MD5 of the message attributes as SQS has them, if there are any.
    pub md5_of_message_attributes: Option<String>,
    /// Whether a standard queue may contain the message twice, because a response was lost and the message was sent again.
    /// FIFO queues drop the duplicate by its deduplication id.
    pub maybe_duplicate: bool,
}

impl Outgoing {
    fn give_id(&mut self) {
        self.message.message_deduplication_id = Some(random::uuid());
        self.id = DeduplicationId::Settled;
    }
}

impl Receipt for SendReceipt {
    fn sequence_number(&self) -> Option<u128> {
        self.sequence_number.as_ref()?.parse().ok()
    }

    fn message_id(&self) -> Option<&str> {
        Some(&self.message_id)
    }

    fn maybe_duplicate(&mut self) {
        self.maybe_duplicate = true;
    }
}

impl Kind for Send {
    type Entry = Outgoing;
    type Receipt = SendReceipt;
    type Operation = send_message_batch::SendMessageBatch;

    const OPERATION_TYPE: &'static str = "send";
    const MERGES: bool = false;
    const IS_DEDUPLICATED: bool = true;

    fn pack(queue_url: &str, entries: &mut [Outgoing]) -> SendMessageBatchInput {
        let mut input = SendMessageBatchInput::default();
        input.queue_url = Some(queue_url.to_owned());
        let numbered = entries.iter_mut().enumerate().map(|(position, entry)| {
            entry.message.id = id(position);
            std::mem::take(&mut entry.message)
        });
        input.entries = Some(numbered.collect());
        input
    }

    fn unpack(input: SendMessageBatchInput, entries: &mut [Outgoing]) {
        for (entry, message) in entries.iter_mut().zip(input.entries.unwrap_or_default()) {
            entry.message = message;
        }
    }

    fn asks_queue(entry: &Outgoing) -> bool {
        entry.id == DeduplicationId::Open(DedupId::Auto)
    }

    fn settle(entry: &mut Outgoing, by_content: bool) {
        match entry.id {
            DeduplicationId::Open(DedupId::Auto) if by_content => {
                entry.id = DeduplicationId::LeftOut { maybe_stored: false };
            }
            DeduplicationId::Open(DedupId::Passthrough) => entry.id = DeduplicationId::Settled,
            DeduplicationId::Open(DedupId::Auto | DedupId::GenerateUuid) => entry.give_id(),
            DeduplicationId::Settled | DeduplicationId::LeftOut { .. } => {}
        }
    }

    fn note_maybe_stored(entry: &mut Outgoing) {
        if let DeduplicationId::LeftOut { maybe_stored } = &mut entry.id {
            *maybe_stored = true;
        }
    }

    fn add_missing_id(entry: &mut Outgoing) -> AddedId {
        match entry.id {
            DeduplicationId::LeftOut { maybe_stored: true } => AddedId::Impossible,
            DeduplicationId::LeftOut { maybe_stored: false } => {
                entry.give_id();
                AddedId::Done
            }
            DeduplicationId::Settled | DeduplicationId::Open(_) => AddedId::NotNeeded,
        }
    }

    fn results(output: SendMessageBatchOutput) -> Results<SendReceipt> {
        let successful = output.successful.into_iter().map(|entry| {
            let receipt = SendReceipt {
                message_id: entry.message_id,
                sequence_number: entry.sequence_number,
                md5_of_message_body: entry.md5_of_message_body,
                md5_of_message_attributes: entry.md5_of_message_attributes,
                maybe_duplicate: false,
            };
            (entry.id, receipt)
        });
        Results { successful: successful.collect(), failed: output.failed }
    }
}
