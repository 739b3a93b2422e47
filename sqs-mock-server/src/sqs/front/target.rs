//! The parts of operations that faults need: queue, entries, and ways to damage the output.

use sqs_client::operation::{Input as _, Operation};

use crate::service::faults::Entry;

/// An operation that faults can affect.
pub(super) trait Target: Operation {
    /// The name, URL or ARN of the queue.
    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_url()
    }

    /// The account of the queue, if the input has it in a separate field.
    fn owner(input: &Self::Input) -> Option<&str> {
        let _ = input;
        None
    }

    /// The messages and receipt handles of the input.
    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        let _ = input;
        Vec::new()
    }

    /// Whether the output has a message.
    fn delivers(output: &Self::Output) -> bool {
        let _ = output;
        false
    }

    /// Removes entries from the output.
    fn omit(output: &mut Self::Output, ids: &[String]) {
        let _ = (output, ids);
    }

    /// Makes the checksums of the output wrong; `false` if it has none.
    fn corrupt(output: &mut Self::Output) -> bool {
        let _ = output;
        false
    }
}

/// Operations without entries, with the member that names the queue.
macro_rules! without_entries {
    ($( $operation:ident in $module:ident by $queue:ident; )*) => {
        $(
            impl Target for sqs_client::operation::$module::$operation {
                fn queue(input: &Self::Input) -> Option<&str> {
                    input.$queue()
                }
            }
        )*
    };
}

without_entries! {
    AddPermission in add_permission by queue_url;
    CancelMessageMoveTask in cancel_message_move_task by queue_url;
    CreateQueue in create_queue by queue_name;
    DeleteQueue in delete_queue by queue_url;
    GetQueueAttributes in get_queue_attributes by queue_url;
    ListDeadLetterSourceQueues in list_dead_letter_source_queues by queue_url;
    ListMessageMoveTasks in list_message_move_tasks by source_arn;
    ListQueueTags in list_queue_tags by queue_url;
    ListQueues in list_queues by queue_url;
    PurgeQueue in purge_queue by queue_url;
    RemovePermission in remove_permission by queue_url;
    SetQueueAttributes in set_queue_attributes by queue_url;
    StartMessageMoveTask in start_message_move_task by source_arn;
    TagQueue in tag_queue by queue_url;
    UntagQueue in untag_queue by queue_url;
}

impl Target for sqs_client::operation::get_queue_url::GetQueueUrl {
    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_name()
    }

    fn owner(input: &Self::Input) -> Option<&str> {
        input.queue_owner_aws_account_id()
    }
}

/// Replaces the first digit of a checksum.
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

/// Removes entries from the output of a batch.
macro_rules! omit_from_batch {
    () => {
        fn omit(output: &mut Self::Output, ids: &[String]) {
            output.successful.retain(|entry| !ids.contains(&entry.id));
            output.failed.retain(|entry| !ids.contains(&entry.id));
        }
    };
}

impl Target for sqs_client::operation::send_message_batch::SendMessageBatch {
    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        let entries = input.entries().iter().enumerate().map(|(index, entry)| Entry {
            index,
            id: Some(&entry.id),
            body: Some(&entry.message_body),
            group: entry.message_group_id.as_deref(),
            deduplication_id: entry.message_deduplication_id.as_deref(),
            ..Entry::default()
        });
        entries.collect()
    }

    omit_from_batch!();

    fn corrupt(output: &mut Self::Output) -> bool {
        for entry in &mut output.successful {
            entry.md5_of_message_body = "0".repeat(32);
        }
        !output.successful.is_empty()
    }
}

/// Operations on receipt handles, each with its batch.
macro_rules! on_receipt_handles {
    ($( $single:ident in $single_module:ident, $batch:ident in $batch_module:ident; )*) => {
        $(
            impl Target for sqs_client::operation::$single_module::$single {
                fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
                    vec![Entry { receipt_handle: input.receipt_handle(), ..Entry::default() }]
                }
            }

            impl Target for sqs_client::operation::$batch_module::$batch {
                fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
                    let entries = input.entries().iter().enumerate().map(|(index, entry)| Entry {
                        index,
                        id: Some(&entry.id),
                        receipt_handle: Some(&entry.receipt_handle),
                        ..Entry::default()
                    });
                    entries.collect()
                }

                omit_from_batch!();
            }
        )*
    };
}

on_receipt_handles! {
    ChangeMessageVisibility in change_message_visibility,
        ChangeMessageVisibilityBatch in change_message_visibility_batch;
    DeleteMessage in delete_message, DeleteMessageBatch in delete_message_batch;
}
