//! Every number of SQS, each with its source: for checks of your own, and for texts that tell users what is allowed. State of
//! November 2026.
//!
//! Sizes are in bytes, durations in seconds, unless a name says otherwise.

use std::ops::RangeInclusive;

/// Entries in one batch request.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_BATCH_ENTRIES: usize = 10;
/// Bytes of all messages of one batch, and the most that a queue can allow for one message.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_BATCH_BYTES: usize = 1_048_576;
/// Bytes of one message: body plus, for each attribute, name, data type and value.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_MESSAGE_BYTES: usize = 1_048_576;
/// Message attributes on one message.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const MAX_MESSAGE_ATTRIBUTES: usize = 10;
/// Characters of the name of a message attribute.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const MAX_ATTRIBUTE_NAME_CHARS: usize = 256;
/// Characters of the data type of a message attribute, label included.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const MAX_DATA_TYPE_CHARS: usize = 256;
/// Digits of precision of a `Number` attribute.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const MAX_NUMBER_DIGITS: usize = 38;
/// Decimal exponents that a `Number` attribute may have.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const NUMBER_EXPONENTS: RangeInclusive<i64> = -128..=126;
/// Characters of a queue name, `.fifo` included.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html>
pub const MAX_QUEUE_NAME_CHARS: usize = 80;
/// Characters of the id of a batch entry.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_BATCH_ENTRY_ID_CHARS: usize = 80;
/// Characters of a group id, deduplication id or receive attempt id.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html>
pub const MAX_FIFO_ID_CHARS: usize = 128;

/// Messages that one receive may ask for.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
pub const RECEIVE_MESSAGES: RangeInclusive<i32> = 1..=10;
/// Wait of a receive.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
pub const WAIT_TIME_SECONDS: RangeInclusive<i32> = 0..=20;
/// Visibility timeout; also the longest that a message can stay hidden after one receive.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html>
pub const VISIBILITY_TIMEOUT_SECONDS: RangeInclusive<i32> = 0..=43_200;
/// Delay of a message.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-delay-queues.html>
pub const DELAY_SECONDS: RangeInclusive<i32> = 0..=900;
/// How long a queue keeps messages.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
pub const RETENTION_SECONDS: RangeInclusive<i32> = 60..=1_209_600;
/// `MaximumMessageSize` of a queue.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
pub const MAXIMUM_MESSAGE_SIZE: RangeInclusive<i32> = 1_024..=1_048_576;
/// How long a KMS data key is reused.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
pub const KMS_REUSE_SECONDS: RangeInclusive<i32> = 60..=86_400;
/// Page size of the two list actions.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListQueues.html>
pub const LIST_RESULTS: RangeInclusive<i32> = 1..=1_000;
/// Page size of `ListMessageMoveTasks`.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListMessageMoveTasks.html>
pub const LIST_MOVE_TASKS_RESULTS: RangeInclusive<i32> = 1..=10;
/// Fixed rate of a move task, messages a second.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>
pub const MOVE_TASK_RATE: RangeInclusive<i32> = 1..=500;
/// `maxReceiveCount` of a redrive policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>
pub const MAX_RECEIVE_COUNT: RangeInclusive<i64> = 1..=1_000;
/// Source queues that a redrive allow policy may name.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
pub const MAX_REDRIVE_SOURCES: usize = 10;

/// Messages in flight per queue.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_IN_FLIGHT: usize = 120_000;
/// How many messages of a FIFO queue a receive looks at for groups that can give some.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const FIFO_RECEIVE_WINDOW: usize = 120_000;
/// How long a deduplication id is remembered.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html>
pub const DEDUPLICATION_SECONDS: u64 = 300;
/// How long a receive attempt can be repeated.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
pub const RECEIVE_ATTEMPT_SECONDS: u64 = 300;
/// Between two purges of a queue.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_PurgeQueue.html>
pub const PURGE_INTERVAL_SECONDS: u64 = 60;
/// Between deleting a queue and creating one of the same name.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteQueue.html>
pub const DELETE_COOLDOWN_SECONDS: u64 = 60;
/// Move tasks that one account may run at once.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>
pub const MAX_MOVE_TASKS: usize = 100;

/// Tags on one queue that AWS recommends at most; more are no error.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html>
pub const RECOMMENDED_TAGS: usize = 50;
/// Characters of a tag key.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-tags.html>
pub const MAX_TAG_KEY_CHARS: usize = 128;
/// Characters of a tag value.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-tags.html>
pub const MAX_TAG_VALUE_CHARS: usize = 256;
/// Characters of a permission label.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html>
pub const MAX_LABEL_CHARS: usize = 80;
/// Actions in one policy statement.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_ACTIONS: usize = 7;
/// Statements in one policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_STATEMENTS: usize = 20;
/// Principals in one policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_PRINCIPALS: usize = 50;
/// Conditions in one policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_CONDITIONS: usize = 10;
/// Bytes of one policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_BYTES: usize = 8_192;
