//! Quotas and limits of SQS, each with its source. As of November 2026.
//!
//! Use them for your own checks and messages. Sizes are in bytes and durations in seconds, unless the name says otherwise.

use std::ops::RangeInclusive;

/// Maximum number of entries in a batch request.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_BATCH_ENTRIES: usize = 10;
/// Maximum total size of the messages in a batch, in bytes.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_BATCH_BYTES: usize = 1_048_576;
/// Maximum size of a message, in bytes: body plus name, data type and value of each attribute.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_MESSAGE_BYTES: usize = 1_048_576;
/// Maximum number of message attributes.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const MAX_MESSAGE_ATTRIBUTES: usize = 10;
/// Maximum characters of a message attribute name.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const MAX_ATTRIBUTE_NAME_CHARS: usize = 256;
/// Maximum characters of the data type of a message attribute, including the label.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const MAX_DATA_TYPE_CHARS: usize = 256;
/// Maximum digits of precision of a `Number` attribute.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const MAX_NUMBER_DIGITS: usize = 38;
/// Range of the decimal exponent of a `Number` attribute.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html>
pub const NUMBER_EXPONENTS: RangeInclusive<i64> = -128..=126;
/// Maximum characters of a queue name, including `.fifo`.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html>
pub const MAX_QUEUE_NAME_CHARS: usize = 80;
/// Maximum characters of the id of a batch entry.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_BATCH_ENTRY_ID_CHARS: usize = 80;
/// Maximum characters of a message group id, deduplication id or receive request attempt id.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html>
pub const MAX_FIFO_ID_CHARS: usize = 128;

/// `MaxNumberOfMessages` of a receive.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
pub const RECEIVE_MESSAGES: RangeInclusive<i32> = 1..=10;
/// `WaitTimeSeconds` of a receive.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
pub const WAIT_TIME_SECONDS: RangeInclusive<i32> = 0..=20;
/// Visibility timeout. The upper bound also limits the total time that a message stays hidden after a receive.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html>
pub const VISIBILITY_TIMEOUT_SECONDS: RangeInclusive<i32> = 0..=43_200;
/// Delivery delay of a message.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-delay-queues.html>
pub const DELAY_SECONDS: RangeInclusive<i32> = 0..=900;
/// Message retention period of a queue.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
pub const RETENTION_SECONDS: RangeInclusive<i32> = 60..=1_209_600;
/// `MaximumMessageSize` of a queue.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
pub const MAXIMUM_MESSAGE_SIZE: RangeInclusive<i32> = 1_024..=1_048_576;
/// How long SQS reuses a KMS data key.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
pub const KMS_REUSE_SECONDS: RangeInclusive<i32> = 60..=86_400;
/// Page size of `ListQueues` and `ListDeadLetterSourceQueues`.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListQueues.html>
pub const LIST_RESULTS: RangeInclusive<i32> = 1..=1_000;
/// Page size of `ListMessageMoveTasks`.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListMessageMoveTasks.html>
pub const LIST_MOVE_TASKS_RESULTS: RangeInclusive<i32> = 1..=10;
/// Fixed rate of a move task, in messages per second.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>
pub const MOVE_TASK_RATE: RangeInclusive<i32> = 1..=500;
/// `maxReceiveCount` of a redrive policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>
pub const MAX_RECEIVE_COUNT: RangeInclusive<i64> = 1..=1_000;
/// Maximum number of source queues in a redrive allow policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html>
pub const MAX_REDRIVE_SOURCES: usize = 10;

/// Maximum number of messages in flight per queue.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_IN_FLIGHT: usize = 120_000;
/// How many messages of a FIFO queue a receive searches for available message groups.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const FIFO_RECEIVE_WINDOW: usize = 120_000;
/// Deduplication interval of FIFO queues.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html>
pub const DEDUPLICATION_SECONDS: u64 = 300;
/// How long a receive can be repeated with the same receive request attempt id.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html>
pub const RECEIVE_ATTEMPT_SECONDS: u64 = 300;
/// Minimum time between two purges of a queue.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_PurgeQueue.html>
pub const PURGE_INTERVAL_SECONDS: u64 = 60;
/// Minimum time between deleting a queue and creating one with the same name.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteQueue.html>
pub const DELETE_COOLDOWN_SECONDS: u64 = 60;
/// Maximum number of active move tasks per account.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html>
pub const MAX_MOVE_TASKS: usize = 100;

/// Maximum characters of a tag key.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-tags.html>
pub const MAX_TAG_KEY_CHARS: usize = 128;
/// Maximum characters of a tag value.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-tags.html>
pub const MAX_TAG_VALUE_CHARS: usize = 256;
/// Maximum characters of a permission label.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_AddPermission.html>
pub const MAX_LABEL_CHARS: usize = 80;
/// Maximum number of actions in a policy statement.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_ACTIONS: usize = 7;
/// Maximum number of statements in a policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_STATEMENTS: usize = 20;
/// Maximum number of principals in a policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_PRINCIPALS: usize = 50;
/// Maximum number of conditions in a policy.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_CONDITIONS: usize = 10;
/// Maximum size of a policy, in bytes.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html>
pub const MAX_POLICY_BYTES: usize = 8_192;
