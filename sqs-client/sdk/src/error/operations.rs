//! The error enum of each operation, with the errors that the service model lists for it.

use std::error::Error as StdError;

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::result::CreateUnhandledError;
use aws_smithy_types::error::metadata::ErrorMetadata;

use super::TypedError;
use sqs_client::error::ErrorCode;
use sqs_client::operation::Operation;

/// An operation whose errors have types.
// Only this crate implements it, and only its bounds name it.
#[doc(hidden)]
pub trait TypedOperation: Operation {
    /// The error of the operation.
    type Error: TypedError;
}

macro_rules! operations {
    ($( $op:ident, $module:ident: $($shape:ident)*; )*) => { pastey::paste! { $(
        error_enum! {
            #[doc = concat!("The errors of `", stringify!($op), "`.")]
            [<$op Error>]: InvalidAddress InvalidSecurity RequestThrottled UnsupportedOperation $($shape)*
        }

        operation_error!([<$op Error>]: InvalidAddress InvalidSecurity RequestThrottled UnsupportedOperation $($shape)*);

        impl TypedOperation for sqs_client::operation::$module::$op {
            type Error = [<$op Error>];
        }
    )* } };
}

/// Adds the methods of operation errors.
macro_rules! operation_error {
    ($name:ident: $($shape:ident)*) => { pastey::paste! {
        impl $name {
            /// An unhandled error with this source, for tests.
            pub fn unhandled(source: impl Into<BoxError>) -> Self {
                Self::new_unhandled(source.into(), ErrorMetadata::default())
            }

            /// An unhandled error with this code and message, for tests.
            pub fn generic(meta: ErrorMetadata) -> Self {
                Self::new_unhandled(meta.clone().into(), meta)
            }

            /// The code, message and request id.
            pub fn meta(&self) -> &ErrorMetadata {
                aws_smithy_types::error::metadata::ProvideErrorMetadata::meta(self)
            }

            $(
                #[doc = concat!("Whether SQS returned the error `", stringify!($shape), "`.")]
                pub fn [<is_ $shape:snake>](&self) -> bool {
                    matches!(self, Self::$shape(_))
                }
            )*
        }

        impl StdError for $name {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                match self {
                    $( Self::$shape(error) => Some(error), )*
                    #[allow(deprecated, reason = "returns the source of an unhandled error")]
                    Self::Unhandled(error) => Some(&*error.source),
                }
            }
        }

        impl TypedError for $name {
            fn from_answer(code: &ErrorCode, meta: ErrorMetadata) -> Self {
                let message = meta.message().map(str::to_owned);
                match code {
                    $(
                        ErrorCode::$shape => {
                            Self::$shape(super::shapes::$shape { message, meta })
                        }
                    )*
                    _ => Self::generic(meta),
                }
            }

            fn from_unhandled(source: BoxError, meta: ErrorMetadata) -> Self {
                Self::new_unhandled(source, meta)
            }
        }

        impl CreateUnhandledError for $name {
            fn create_unhandled_error(source: BoxError, meta: Option<ErrorMetadata>) -> Self {
                Self::new_unhandled(source, meta.unwrap_or_default())
            }
        }

        impl aws_smithy_types::retry::ProvideErrorKind for $name {
            fn retryable_error_kind(&self) -> Option<aws_smithy_types::retry::ErrorKind> {
                None
            }

            fn code(&self) -> Option<&str> {
                self.meta().code()
            }
        }

        impl From<$name> for super::Error {
            fn from(error: $name) -> Self {
                match error {
                    $( $name::$shape(error) => Self::$shape(error), )*
                    #[allow(deprecated, reason = "converts an unhandled error")]
                    $name::Unhandled(error) => Self::Unhandled(error),
                }
            }
        }
    } };
}

// The errors that the service model lists for each operation, in addition to the four that it lists for all.
operations! {
    AddPermission, add_permission: OverLimit QueueDoesNotExist;
    CancelMessageMoveTask, cancel_message_move_task: ResourceNotFoundException;
    ChangeMessageVisibility, change_message_visibility: MessageNotInflight QueueDoesNotExist ReceiptHandleIsInvalid;
    ChangeMessageVisibilityBatch, change_message_visibility_batch:
        BatchEntryIdsNotDistinct EmptyBatchRequest InvalidBatchEntryId QueueDoesNotExist TooManyEntriesInBatchRequest;
    CreateQueue, create_queue: InvalidAttributeName InvalidAttributeValue QueueDeletedRecently QueueNameExists;
    DeleteMessage, delete_message: InvalidIdFormat QueueDoesNotExist ReceiptHandleIsInvalid;
    DeleteMessageBatch, delete_message_batch:
        BatchEntryIdsNotDistinct EmptyBatchRequest InvalidBatchEntryId QueueDoesNotExist TooManyEntriesInBatchRequest;
    DeleteQueue, delete_queue: QueueDoesNotExist;
    GetQueueAttributes, get_queue_attributes: InvalidAttributeName QueueDoesNotExist;
    GetQueueUrl, get_queue_url: QueueDoesNotExist;
    ListDeadLetterSourceQueues, list_dead_letter_source_queues: QueueDoesNotExist;
    ListMessageMoveTasks, list_message_move_tasks: ResourceNotFoundException;
    ListQueueTags, list_queue_tags: QueueDoesNotExist;
    ListQueues, list_queues: ;
    PurgeQueue, purge_queue: PurgeQueueInProgress QueueDoesNotExist;
    ReceiveMessage, receive_message:
        KmsAccessDenied KmsDisabled KmsInvalidKeyUsage KmsInvalidState KmsNotFound KmsOptInRequired KmsThrottled OverLimit
        QueueDoesNotExist;
    RemovePermission, remove_permission: QueueDoesNotExist;
    SendMessage, send_message:
        InvalidMessageContents KmsAccessDenied KmsDisabled KmsInvalidKeyUsage KmsInvalidState KmsNotFound
        KmsOptInRequired KmsThrottled QueueDoesNotExist;
    SendMessageBatch, send_message_batch:
        BatchEntryIdsNotDistinct BatchRequestTooLong EmptyBatchRequest InvalidBatchEntryId KmsAccessDenied KmsDisabled
        KmsInvalidKeyUsage KmsInvalidState KmsNotFound KmsOptInRequired KmsThrottled QueueDoesNotExist
        TooManyEntriesInBatchRequest;
    SetQueueAttributes, set_queue_attributes: InvalidAttributeName InvalidAttributeValue OverLimit QueueDoesNotExist;
    StartMessageMoveTask, start_message_move_task: ResourceNotFoundException;
    TagQueue, tag_queue: QueueDoesNotExist;
    UntagQueue, untag_queue: QueueDoesNotExist;
}
