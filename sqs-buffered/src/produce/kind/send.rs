//! Sends.

use sqs_client::operation::send_message_batch::{self, SendMessageBatchInput, SendMessageBatchOutput};
use sqs_client::types::SendMessageBatchRequestEntry;

use super::{Kind, Results, SpareId, id};
use crate::produce::lane::Receipt;

#[derive(Debug)]
pub(crate) struct Send;

/// A message on its way.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) message: SendMessageBatchRequestEntry,
    /// A deduplication id that is only for queues that make none of the content.
    pub(crate) spare_id: Option<SpareId>,
}

/// What the service said of an accepted message.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SendReceipt {
    /// The id of the message.
    pub message_id: String,
    /// Its place in a FIFO queue: 20 digits.
    pub sequence_number: Option<String>,
    /// MD5 of the body as the service has it, 32 hexadecimal digits.
    pub md5_of_message_body: String,
    /// MD5 of the attributes as the service has them, when it has any.
    pub md5_of_message_attributes: Option<String>,
    /// Whether the message may be in the (standard) queue twice: an answer was lost, and it was sent again. On FIFO queues
    /// its deduplication id keeps it from that.
    pub maybe_duplicate: bool,
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
    type Beside = Option<SpareId>;
    type Receipt = SendReceipt;
    type Operation = send_message_batch::SendMessageBatch;

    const OPERATION_TYPE: &'static str = "send";
    const MERGES: bool = false;
    const IS_DEDUPLICATED: bool = true;

    fn pack(queue_url: &str, entries: Vec<Outgoing>) -> (SendMessageBatchInput, Vec<Option<SpareId>>) {
        let mut input = SendMessageBatchInput::default();
        input.queue_url = Some(queue_url.to_owned());
        let numbered = entries.into_iter().enumerate().map(|(place, Outgoing { mut message, spare_id })| {
            message.id = id(place);
            (message, spare_id)
        });
        let (messages, spare_ids) = numbered.unzip();
        input.entries = Some(messages);
        (input, spare_ids)
    }

    fn unpack(input: SendMessageBatchInput, spare_ids: Vec<Option<SpareId>>) -> Vec<Outgoing> {
        let messages = input.entries.unwrap_or_default().into_iter();
        messages.zip(spare_ids).map(|(message, spare_id)| Outgoing { message, spare_id }).collect()
    }

    fn starts_afresh(outgoing: &mut Outgoing) {
        if let Some(id) = &mut outgoing.spare_id {
            id.reopen(&mut outgoing.message.message_deduplication_id);
        }
    }

    fn spare_id(beside: &Option<SpareId>) -> Option<&SpareId> {
        beside.as_ref()
    }

    fn settle_ids(input: &mut SendMessageBatchInput, spare_ids: &mut [Option<SpareId>], leave_out: bool) {
        for (message, id) in input.entries.iter_mut().flatten().zip(spare_ids) {
            if let Some(id) = id {
                id.settle(leave_out, &mut message.message_deduplication_id);
            }
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
