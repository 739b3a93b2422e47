//! What faults have to know of each operation.

use sqs_client::operation::{Input as _, Operation};
use sqs_client::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry, SendMessageBatchRequestEntry,
};

use super::Entry;

/// An operation that can be struck.
pub(crate) trait Target: Operation {
    /// The name, the URL or the ARN of its queue.
    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_url()
    }

    /// The messages and receipt handles in it.
    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        let _ = input;
        Vec::new()
    }

    /// Whether a message is in the answer.
    fn delivers(output: &Self::Output) -> bool {
        let _ = output;
        false
    }

    /// Takes entries out of an answer.
    fn omit(output: &mut Self::Output, ids: &[String]) {
        let _ = (output, ids);
    }

    /// Makes its checksums wrong; `false` when it has none.
    fn corrupt(output: &mut Self::Output) -> bool {
        let _ = output;
        false
    }
}

macro_rules! plain {
    ($( $operation:ident in $module:ident; )*) => {
        $( impl Target for sqs_client::operation::$module::$operation {} )*
    };
}

plain! {
    AddPermission in add_permission;
    CancelMessageMoveTask in cancel_message_move_task;
    DeleteQueue in delete_queue;
    GetQueueAttributes in get_queue_attributes;
    ListDeadLetterSourceQueues in list_dead_letter_source_queues;
    ListQueueTags in list_queue_tags;
    ListQueues in list_queues;
    PurgeQueue in purge_queue;
    RemovePermission in remove_permission;
    SetQueueAttributes in set_queue_attributes;
    TagQueue in tag_queue;
    UntagQueue in untag_queue;
}

impl Target for sqs_client::operation::create_queue::CreateQueue {
    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_name()
    }
}

impl Target for sqs_client::operation::get_queue_url::GetQueueUrl {
    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_name()
    }
}

impl Target for sqs_client::operation::start_message_move_task::StartMessageMoveTask {
    fn queue(input: &Self::Input) -> Option<&str> {
        input.source_arn()
    }
}

impl Target for sqs_client::operation::list_message_move_tasks::ListMessageMoveTasks {
    fn queue(input: &Self::Input) -> Option<&str> {
        input.source_arn()
    }
}

/// Turns the first digit of a checksum into another one.
fn break_sum(sum: &mut Option<String>) -> bool {
    let Some(sum) = sum else { return false };
    let other = if sum.starts_with('0') { "1" } else { "0" };
    if sum.is_ascii() && !sum.is_empty() {
        sum.replace_range(..1, other);
    }
    true
}

impl Target for sqs_client::operation::send_message::SendMessage {
    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        vec![Entry {
            body: input.message_body(),
            group: input.message_group_id(),
            deduplication_id: input.message_deduplication_id(),
            ..Entry::default()
        }]
    }

    fn corrupt(output: &mut Self::Output) -> bool {
        break_sum(&mut output.md5_of_message_body)
    }
}

impl Target for sqs_client::operation::receive_message::ReceiveMessage {
    fn delivers(output: &Self::Output) -> bool {
        !output.messages().is_empty()
    }

    fn corrupt(output: &mut Self::Output) -> bool {
        let messages = output.messages.iter_mut().flatten();
        messages.map(|message| break_sum(&mut message.md5_of_body)).fold(false, |any, broken| any | broken)
    }
}

impl Target for sqs_client::operation::delete_message::DeleteMessage {
    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        vec![Entry { receipt_handle: input.receipt_handle(), ..Entry::default() }]
    }
}

impl Target for sqs_client::operation::change_message_visibility::ChangeMessageVisibility {
    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        vec![Entry { receipt_handle: input.receipt_handle(), ..Entry::default() }]
    }
}

/// What all batches have.
macro_rules! omits_entries {
    () => {
        fn omit(output: &mut Self::Output, ids: &[String]) {
            output.successful.retain(|entry| !ids.contains(&entry.id));
            output.failed.retain(|entry| !ids.contains(&entry.id));
        }
    };
}

/// The entries of a batch, each with its place.
fn numbered<'a, E>(entries: &'a [E], view: impl Fn(&'a E) -> Entry<'a>) -> Vec<Entry<'a>> {
    entries.iter().enumerate().map(|(index, entry)| Entry { index, ..view(entry) }).collect()
}

impl Target for sqs_client::operation::send_message_batch::SendMessageBatch {
    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        numbered(input.entries(), |entry: &SendMessageBatchRequestEntry| Entry {
            id: Some(&entry.id),
            body: Some(&entry.message_body),
            group: entry.message_group_id.as_deref(),
            deduplication_id: entry.message_deduplication_id.as_deref(),
            ..Entry::default()
        })
    }

    omits_entries!();

    fn corrupt(output: &mut Self::Output) -> bool {
        for entry in &mut output.successful {
            entry.md5_of_message_body = "0".repeat(32);
        }
        !output.successful.is_empty()
    }
}

impl Target for sqs_client::operation::delete_message_batch::DeleteMessageBatch {
    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        numbered(input.entries(), |entry: &DeleteMessageBatchRequestEntry| Entry {
            id: Some(&entry.id),
            receipt_handle: Some(&entry.receipt_handle),
            ..Entry::default()
        })
    }

    omits_entries!();
}

impl Target for sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatch {
    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        numbered(input.entries(), |entry: &ChangeMessageVisibilityBatchRequestEntry| Entry {
            id: Some(&entry.id),
            receipt_handle: Some(&entry.receipt_handle),
            ..Entry::default()
        })
    }

    omits_entries!();
}
