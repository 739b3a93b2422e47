//! Deletes.

use sqs_client::operation::delete_message_batch::{
    DeleteMessageBatch, DeleteMessageBatchInput, DeleteMessageBatchOutput,
};
use sqs_client::types::DeleteMessageBatchRequestEntry;

use super::{Kind, Results, id};
use crate::produce::lane::Key;

#[derive(Debug)]
pub(crate) struct Delete;

impl Kind for Delete {
    /// The receipt handle.
    type Entry = Key;
    type Receipt = ();
    type Operation = DeleteMessageBatch;

    fn pack(queue_url: &str, handles: &mut [Key]) -> DeleteMessageBatchInput {
        let mut input = DeleteMessageBatchInput::default();
        input.queue_url = Some(queue_url.to_owned());
        let numbered = handles.iter().enumerate().map(|(position, handle)| {
            let mut entry = DeleteMessageBatchRequestEntry::default();
            entry.id = id(position);
            handle.as_ref().clone_into(&mut entry.receipt_handle);
            entry
        });
        input.entries = Some(numbered.collect());
        input
    }

    fn results(output: DeleteMessageBatchOutput) -> Results<()> {
        let successful = output.successful.into_iter().map(|entry| (entry.id, ()));
        Results { successful: successful.collect(), failed: output.failed }
    }
}
