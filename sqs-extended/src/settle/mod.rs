//! Deletes and visibility changes: SQS first, by its own receipt handles; then the objects of deleted messages.

use std::collections::HashSet;

use sqs_client::client::Execute;
use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatchInput;
use sqs_client::operation::delete_message_batch::{DeleteMessageBatchInput, DeleteMessageBatchOutput};

use crate::client::ExtendedClient;
use crate::handle::ExtendedHandle;
use crate::key::ends_with_uuid;
use crate::pointer::Pointer;

/// Removes the pointer from a receipt handle, if there is one.
pub(crate) fn strip(handle: &mut String) -> Option<Pointer> {
    let parsed = ExtendedHandle::parse(handle)?;
    parsed.original().clone_into(handle);
    Some(parsed.pointer().clone())
}

/// Removes the pointers. Returns each with the id of its entry.
pub(crate) fn strip_deletes(input: &mut DeleteMessageBatchInput) -> Vec<(String, Pointer)> {
    let entries = input.entries.iter_mut().flatten();
    entries.filter_map(|entry| Some((entry.id.clone(), strip(&mut entry.receipt_handle)?))).collect()
}

/// Removes the pointers.
pub(crate) fn strip_changes(input: &mut ChangeMessageVisibilityBatchInput) {
    for entry in input.entries.iter_mut().flatten() {
        strip(&mut entry.receipt_handle);
    }
}

impl<H: Execute> ExtendedClient<H> {
    /// Deletes the objects of deleted messages, unless they are retained. Failed deletes are retried in the background.
    ///
    /// The sender chose the pointer, so only keys that end in a UUID in allowed buckets are deleted.
    pub(crate) async fn clean_up(&self, pointers: impl IntoIterator<Item = Pointer>) {
        let settings = &self.shared.settings;
        if settings.clean_up {
            let is_allowed = |pointer: &Pointer| {
                settings.allowed_buckets.contains(pointer.bucket()) && ends_with_uuid(pointer.key())
            };
            self.shared.cleaner.delete(pointers.into_iter().filter(is_allowed)).await;
        }
    }

    /// As [`clean_up`](Self::clean_up), for the entries that SQS reports as successful and not as failed, too.
    pub(crate) async fn clean_up_batch(
        &self,
        pointers: Vec<(String, Pointer)>,
        output: &DeleteMessageBatchOutput,
    ) {
        let mut deleted: HashSet<_> = output.successful.iter().map(|entry| entry.id.as_str()).collect();
        for failed in &output.failed {
            deleted.remove(failed.id.as_str());
        }
        let pointers = pointers.into_iter().filter(|(id, _)| deleted.contains(id.as_str()));
        self.clean_up(pointers.map(|(_, pointer)| pointer)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_handles_with_a_complete_pointer_are_changed() {
        let mut handle = "-..s3BucketName..-B-..s3BucketName..--..s3Key..-K-..s3Key..-AQEB".to_owned();
        assert_eq!(strip(&mut handle), Some(Pointer::new("B", "K")));
        assert_eq!(handle, "AQEB");
        assert_eq!(strip(&mut handle), None);
        assert_eq!(handle, "AQEB");
    }
}
