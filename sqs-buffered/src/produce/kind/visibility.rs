//! Visibility changes.

use std::time::Duration;

use sqs_client::operation::change_message_visibility_batch::{
    ChangeMessageVisibilityBatch, ChangeMessageVisibilityBatchInput, ChangeMessageVisibilityBatchOutput,
};
use sqs_client::types::ChangeMessageVisibilityBatchRequestEntry;

use super::{Kind, Results, id};
use crate::produce::lane::Key;

#[derive(Debug)]
pub(crate) struct Visibility;

/// A visibility change: how long a message stays hidden from now on.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) handle: Key,
    /// 0 to 43,200.
    pub(crate) seconds: i32,
}

impl Kind for Visibility {
    type Entry = Change;
    type Receipt = ();
    type Operation = ChangeMessageVisibilityBatch;

    /// A change can be repeated. So a request that hangs is abandoned while there is time for another one; otherwise the leases
    /// of all its entries would end.
    const GRACE: Duration = Duration::ZERO;

    fn pack(queue_url: &str, changes: &mut [Change]) -> ChangeMessageVisibilityBatchInput {
        let mut input = ChangeMessageVisibilityBatchInput::default();
        input.queue_url = Some(queue_url.to_owned());
        let numbered = changes.iter().enumerate().map(|(position, change)| {
            let mut entry = ChangeMessageVisibilityBatchRequestEntry::default();
            entry.id = id(position);
            change.handle.as_ref().clone_into(&mut entry.receipt_handle);
            entry.visibility_timeout = Some(change.seconds);
            entry
        });
        input.entries = Some(numbered.collect());
        input
    }

    fn results(output: ChangeMessageVisibilityBatchOutput) -> Results<()> {
        let successful = output.successful.into_iter().map(|entry| (entry.id, ()));
        Results { successful: successful.collect(), failed: output.failed }
    }
}
