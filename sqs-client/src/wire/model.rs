//! The service model: a table of the 23 operations, and what all of them have in common.
//!
//! The public face is [`operation`](crate::operation).

use std::fmt;
use std::time::Duration;

use serde::{Serialize, de::DeserializeOwned};

use crate::types::HasMetadata;
use crate::wire::checksum::{ChecksumMismatch, ChecksumPolicy};
use crate::wire::validate::Validate;

/// An operation of the service: a name, what it takes and what it answers.
pub trait Operation: Send + Sync + 'static {
    /// Which of the 23 it is.
    const ACTION: Action;
    /// What it takes.
    type Input: Input<Operation = Self>;
    /// What it answers.
    type Output: Output;

    /// Verifies the checksums of an answer as the policy demands. Returns the mismatches for which the call has to fail. A
    /// receive moves single damaged messages aside instead.
    #[doc(hidden)]
    fn verify(
        policy: ChecksumPolicy,
        input: &Self::Input,
        output: &mut Self::Output,
    ) -> Vec<ChecksumMismatch>;

    /// Why it fails in aws-sdk-sqs.
    #[cfg(feature = "aws-sdk-sqs")]
    #[doc(hidden)]
    type SdkError: aws_smithy_types::error::metadata::ProvideErrorMetadata
        + std::error::Error
        + Send
        + Sync
        + 'static;

    /// Runs it with a client of aws-sdk-sqs, whose configuration `overrides` changes for this call.
    #[cfg(feature = "aws-sdk-sqs")]
    #[doc(hidden)]
    fn call_sdk(
        client: &aws_sdk_sqs::Client,
        input: &Self::Input,
        overrides: aws_sdk_sqs::config::Builder,
    ) -> impl Future<Output = SdkResult<Self>> + Send;
}

/// What an operation gives in aws-sdk-sqs, with our output.
#[cfg(feature = "aws-sdk-sqs")]
#[doc(hidden)]
pub type SdkResult<O> = Result<
    <O as Operation>::Output,
    aws_sdk_sqs::error::SdkError<<O as Operation>::SdkError, aws_sdk_sqs::config::http::HttpResponse>,
>;

/// What an operation answers.
pub trait Output:
    fmt::Debug + Clone + Default + PartialEq + Serialize + DeserializeOwned + HasMetadata + Send + Sync + 'static
{
}

/// What an operation takes.
pub trait Input:
    fmt::Debug + Clone + Default + PartialEq + Serialize + DeserializeOwned + Validate + Send + Sync + 'static
{
    /// The operation that takes it.
    type Operation: Operation<Input = Self>;

    /// The queue that the request is about, when it names one by URL.
    fn queue_url(&self) -> Option<&str>;

    /// How long the service may hold the answer back: the wait of a receive.
    fn wait_time(&self) -> Duration {
        Duration::ZERO
    }

    /// How many bytes the bodies of its messages have, so that room for them is made at once.
    fn message_bytes(&self) -> usize {
        0
    }

    /// A copy in which each message to a FIFO queue has a deduplication id, from `id` where it had none; `None` if there is
    /// nothing to add.
    fn with_deduplication_ids(&self, id: fn() -> String) -> Option<Self> {
        let _ = id;
        None
    }
}

/// A builder of an input, as fluent builders hold it.
pub trait InputBuilder: Send {
    /// What it builds.
    type Input: Input;

    /// The finished input.
    ///
    /// # Errors
    /// A required member was not set.
    fn build(self) -> Result<Self::Input, aws_smithy_types::error::operation::BuildError>;
}

/// Calls `$callback!` with the table, one row an operation: marker, module, family, how the queue is named,
/// whether the answer has members, what is special about it, and what it is for.
///
/// Exported for layers over the client, which have the same methods; its rows may change with any version.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_operation {
    ($callback:ident) => {
        $callback! {
            AddPermission, add_permission, permission, url, void, plain, "Allows accounts to use actions of a queue.";
            CancelMessageMoveTask, cancel_message_move_task, move_task, none, members, plain, "Stops a move task.";
            ChangeMessageVisibility, change_message_visibility, message, url, void, plain, "Sets how long a received message stays hidden, from now.";
            ChangeMessageVisibilityBatch, change_message_visibility_batch, batch, url, members, plain, "Sets how long up to ten received messages stay hidden.";
            CreateQueue, create_queue, queue, none, members, plain, "Creates a queue, or finds the one that has this name and these attributes.";
            DeleteMessage, delete_message, message, url, void, plain, "Deletes a received message.";
            DeleteMessageBatch, delete_message_batch, batch, url, members, plain, "Deletes up to ten received messages.";
            DeleteQueue, delete_queue, queue, url, void, plain, "Deletes a queue with all its messages.";
            GetQueueAttributes, get_queue_attributes, queue, url, members, plain, "Reads attributes of a queue.";
            GetQueueUrl, get_queue_url, queue, none, members, plain, "Finds the URL of a queue by its name.";
            ListDeadLetterSourceQueues, list_dead_letter_source_queues, queue, url, members, plain, "Lists the queues whose dead letters come to a queue.";
            ListMessageMoveTasks, list_message_move_tasks, move_task, none, members, plain, "Lists the latest move tasks of a dead-letter queue.";
            ListQueueTags, list_queue_tags, tags, url, members, plain, "Lists the tags of a queue.";
            ListQueues, list_queues, queue, none, members, plain, "Lists queues.";
            PurgeQueue, purge_queue, queue, url, void, plain, "Deletes all messages of a queue.";
            ReceiveMessage, receive_message, message, url, members, receive, "Receives up to ten messages and hides them from other receivers.";
            RemovePermission, remove_permission, permission, url, void, plain, "Removes a permission by its label.";
            SendMessage, send_message, message, url, members, send, "Sends a message.";
            SendMessageBatch, send_message_batch, batch, url, members, send_batch, "Sends up to ten messages of together at most 1 MiB.";
            SetQueueAttributes, set_queue_attributes, queue, url, void, plain, "Changes attributes of a queue.";
            StartMessageMoveTask, start_message_move_task, move_task, none, members, plain, "Starts to move dead letters back, or to another queue.";
            TagQueue, tag_queue, tags, url, void, plain, "Adds tags to a queue.";
            UntagQueue, untag_queue, tags, url, void, plain, "Removes tags from a queue.";
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

/// What single operations need beside the rule: checksums of messages, the wait of a receive, deduplication ids.
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
            /// All 23, in alphabetical order.
            pub const ALL: [Self; 23] = [ $( Self::$op, )* ];

            /// The name on the wire, such as `SendMessage`.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$op => stringify!($op), )* }
            }

            /// The action of a wire name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $( stringify!($op) => Some(Self::$op), )*
                    _ => None,
                }
            }

            /// Whether the answer has no members. AWS JSON then answers with zero bytes, and the Query
            /// protocol leaves the `Result` element out.
            pub const fn is_void(self) -> bool {
                match self { $( Self::$op => is_void!($answer), )* }
            }
        }

        $(
            #[doc = concat!("The operation `", stringify!($op), "`. ", $doc)]
            #[derive(Clone, Copy, Debug, Default)]
            #[non_exhaustive]
            pub struct $op;

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
