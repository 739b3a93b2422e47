//! The service model: a table of the 23 operations, and the traits of all operations.
//!
//! The public items are exported from [`operation`](crate::operation).

use std::fmt;
use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use super::checksum::{ChecksumMismatch, ChecksumPolicy};
use super::validate::Validate;
use crate::types::HasMetadata;

/// Only this crate implements the traits of the model, because its features add items to them.
mod sealed {
    pub trait Sealed {}
}

/// An operation of the service: its name, input type and output type. Only the types of this crate implement it.
pub trait Operation: sealed::Sealed + Send + Sync + 'static {
    /// The name of the operation.
    const ACTION: Action;
    /// The input type.
    type Input: Input<Operation = Self>;
    /// The output type.
    type Output: Output;

    /// Verifies the checksums of an output according to the policy. Returns the mismatches that make the call fail. A
    /// receive moves single damaged messages to `damaged_messages()` instead.
    #[doc(hidden)]
    fn verify(
        policy: ChecksumPolicy,
        input: &Self::Input,
        output: &mut Self::Output,
    ) -> Vec<ChecksumMismatch>;

    /// The error type of the operation in aws-sdk-sqs.
    #[cfg(feature = "aws-sdk-sqs")]
    #[doc(hidden)]
    type SdkError: aws_smithy_types::error::metadata::ProvideErrorMetadata
        + std::error::Error
        + Send
        + Sync
        + 'static;

    /// Runs the operation with a client of aws-sdk-sqs. `overrides` applies to this call only.
    #[cfg(feature = "aws-sdk-sqs")]
    #[doc(hidden)]
    fn call_sdk(
        client: &aws_sdk_sqs::Client,
        input: &Self::Input,
        overrides: aws_sdk_sqs::config::Builder,
    ) -> impl Future<Output = SdkResult<Self>> + Send;
}

/// The result of a call through aws-sdk-sqs, with the output type of this crate.
#[cfg(feature = "aws-sdk-sqs")]
#[doc(hidden)]
pub type SdkResult<O> = Result<
    <O as Operation>::Output,
    aws_sdk_sqs::error::SdkError<<O as Operation>::SdkError, aws_sdk_sqs::config::http::HttpResponse>,
>;

/// The output of an operation. Only the types of this crate implement it.
pub trait Output:
    sealed::Sealed
    + fmt::Debug
    + Clone
    + Default
    + PartialEq
    + Serialize
    + DeserializeOwned
    + HasMetadata
    + Send
    + Sync
    + 'static
{
}

/// The input of an operation. Only the types of this crate implement it.
pub trait Input:
    sealed::Sealed
    + fmt::Debug
    + Clone
    + Default
    + PartialEq
    + Serialize
    + DeserializeOwned
    + Validate
    + Send
    + Sync
    + 'static
{
    /// The operation of this input.
    type Operation: Operation<Input = Self>;

    /// The queue URL of the request, if the operation takes one.
    fn queue_url(&self) -> Option<&str>;

    /// How long the service may delay its response: the wait time of a receive, else zero.
    fn wait_time(&self) -> Duration {
        Duration::ZERO
    }

    /// The length of all message bodies in bytes, to allocate the request buffer once.
    // For the client.
    #[doc(hidden)]
    fn message_bytes(&self) -> usize {
        0
    }

    /// A copy in which each message to a FIFO queue has a deduplication id; `id` generates the missing ones. `None` if no
    /// id is missing.
    // For the client.
    #[doc(hidden)]
    fn with_deduplication_ids(&self, id: fn() -> String) -> Option<Self> {
        let _ = id;
        None
    }
}

/// The builder of an input, which a fluent builder contains.
pub trait InputBuilder: Send {
    /// The input type.
    type Input: Input;

    /// Builds the input.
    ///
    /// # Errors
    /// A required member was not set.
    fn build(self) -> Result<Self::Input, aws_smithy_types::error::operation::BuildError>;
}

/// Calls `$callback!` with the table of operations. The columns of a row: marker type, module, family of shapes, `url` if
/// the input has a queue URL, `void` if the output has no members, special treatment, documentation.
///
/// Exported for layers over the client, which have the same methods. The columns may change in any version.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_operation {
    ($callback:ident) => {
        $callback! {
            AddPermission, add_permission, queue, url, void, plain, "Grants other AWS accounts permission to call actions on a queue.";
            CancelMessageMoveTask, cancel_message_move_task, queue, none, members, plain, "Cancels a running message move task.";
            ChangeMessageVisibility, change_message_visibility, message, url, void, plain, "Sets the visibility timeout of a received message, counted from now.";
            ChangeMessageVisibilityBatch, change_message_visibility_batch, batch, url, members, plain, "Sets the visibility timeouts of up to ten received messages, counted from now.";
            CreateQueue, create_queue, queue, none, members, plain, "Creates a queue. If a queue with this name and these attributes exists, returns its URL.";
            DeleteMessage, delete_message, message, url, void, plain, "Deletes a received message.";
            DeleteMessageBatch, delete_message_batch, batch, url, members, plain, "Deletes up to ten received messages.";
            DeleteQueue, delete_queue, queue, url, void, plain, "Deletes a queue and all its messages.";
            GetQueueAttributes, get_queue_attributes, queue, url, members, plain, "Returns attributes of a queue.";
            GetQueueUrl, get_queue_url, queue, none, members, plain, "Returns the URL of a queue, given its name.";
            ListDeadLetterSourceQueues, list_dead_letter_source_queues, queue, url, members, plain, "Lists the source queues of a dead-letter queue.";
            ListMessageMoveTasks, list_message_move_tasks, queue, none, members, plain, "Lists the most recent message move tasks of a dead-letter queue.";
            ListQueueTags, list_queue_tags, queue, url, members, plain, "Lists the tags of a queue.";
            ListQueues, list_queues, queue, none, members, plain, "Lists the queues of the account in the region.";
            PurgeQueue, purge_queue, queue, url, void, plain, "Deletes all messages in a queue.";
            ReceiveMessage, receive_message, message, url, members, receive, "Receives up to ten messages and hides them from other consumers for the visibility timeout.";
            RemovePermission, remove_permission, queue, url, void, plain, "Removes the permission with the given label from the queue policy.";
            SendMessage, send_message, message, url, members, send, "Sends a message.";
            SendMessageBatch, send_message_batch, batch, url, members, send_batch, "Sends up to ten messages with a total size of at most 1 MiB.";
            SetQueueAttributes, set_queue_attributes, queue, url, void, plain, "Changes attributes of a queue.";
            StartMessageMoveTask, start_message_move_task, queue, none, members, plain, "Starts a task that moves messages from a dead-letter queue to their source queues or to another queue.";
            TagQueue, tag_queue, queue, url, void, plain, "Adds or overwrites tags of a queue.";
            UntagQueue, untag_queue, queue, url, void, plain, "Removes tags from a queue.";
        }
    };
}
pub(crate) use for_each_operation;

macro_rules! queue_url {
    ($input:ident url) => {
        $input.queue_url.as_deref()
    };
    ($input:ident none) => {{
        let _ = $input;
        None
    }};
}

macro_rules! is_void {
    (void) => {
        true
    };
    (members) => {
        false
    };
}

/// Special treatment of single operations: message checksums, the wait time of a receive, deduplication ids.
macro_rules! special {
    (verify plain $module:ident $_op:ident $policy:ident $input:ident $output:ident) => {{
        let _ = ($policy, $input, $output);
        Vec::new()
    }};
    (verify $special:ident $module:ident $_op:ident $policy:ident $input:ident $output:ident) => {
        crate::wire::checksum::$module($policy, $input, $output)
    };
    (input receive) => {
        fn wait_time(&self) -> std::time::Duration {
            crate::types::message::wait_time(self)
        }
    };
    (input send) => {
        fn with_deduplication_ids(&self, id: fn() -> String) -> Option<Self> {
            crate::types::message::with_deduplication_ids(self, id)
        }

        fn message_bytes(&self) -> usize {
            self.message_body().map_or(0, str::len)
        }
    };
    (input send_batch) => {
        fn with_deduplication_ids(&self, id: fn() -> String) -> Option<Self> {
            crate::types::batch::with_deduplication_ids(self, id)
        }

        fn message_bytes(&self) -> usize {
            self.entries().iter().map(|entry| entry.message_body().len()).sum()
        }
    };
    (input plain) => {};
}

macro_rules! declare {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $special:tt, $doc:literal; )*) => { pastey::paste! {
        /// The name of an operation.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Action {
            $( #[doc = $doc] $op, )*
        }

        impl Action {
            /// All 23 operations in alphabetical order.
            pub const ALL: [Self; 23] = [ $( Self::$op, )* ];

            /// The name on the wire, such as `SendMessage`.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$op => stringify!($op), )* }
            }

            /// The action with this name on the wire.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $( stringify!($op) => Some(Self::$op), )*
                    _ => None,
                }
            }

            /// Whether the output has no members. The response body is then empty in AWS JSON, and has no `Result` element
            /// in the Query protocol.
            pub const fn is_void(self) -> bool {
                match self { $( Self::$op => is_void!($answer), )* }
            }
        }

        $(
            #[doc = concat!("The operation `", stringify!($op), "`. ", $doc)]
            #[derive(Clone, Copy, Debug, Default)]
            #[non_exhaustive]
            pub struct $op;

            impl sealed::Sealed for $op {}
            impl sealed::Sealed for crate::types::$family::[<$op Input>] {}
            impl sealed::Sealed for crate::types::$family::[<$op Output>] {}

            impl Operation for $op {
                const ACTION: Action = Action::$op;
                type Input = crate::types::$family::[<$op Input>];
                type Output = crate::types::$family::[<$op Output>];

                fn verify(
                    policy: ChecksumPolicy,
                    input: &Self::Input,
                    output: &mut Self::Output,
                ) -> Vec<ChecksumMismatch> {
                    if policy == ChecksumPolicy::Off {
                        return Vec::new();
                    }
                    special!(verify $special $module $op policy input output)
                }

                #[cfg(feature = "aws-sdk-sqs")]
                type SdkError = aws_sdk_sqs::operation::$module::[<$op Error>];

                #[cfg(feature = "aws-sdk-sqs")]
                async fn call_sdk(
                    client: &aws_sdk_sqs::Client,
                    input: &Self::Input,
                    overrides: aws_sdk_sqs::config::Builder,
                ) -> SdkResult<Self> {
                    use crate::types::aws_sdk::{Answer as _, Request as _};

                    let request = input.fill(client.$module());
                    let request = request.map_err(aws_sdk_sqs::error::SdkError::construction_failure)?;
                    let output = request.customize().config_override(overrides).send().await?;
                    Ok(Self::Output::from_sdk(output))
                }
            }

            impl Output for crate::types::$family::[<$op Output>] {}

            impl Input for crate::types::$family::[<$op Input>] {
                type Operation = $op;

                fn queue_url(&self) -> Option<&str> {
                    let input = self;
                    queue_url!(input $url)
                }

                special!(input $special);
            }

            impl InputBuilder for crate::types::$family::[<$op InputBuilder>] {
                type Input = crate::types::$family::[<$op Input>];

                fn build(self) -> Result<Self::Input, aws_smithy_types::error::operation::BuildError> {
                    self.build()
                }
            }
        )*
    }};
}

for_each_operation!(declare);

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
