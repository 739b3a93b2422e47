//! The validation rules of SQS, in the order and with the messages of the service.
//!
//! A client applies them before sending if [`Builder::validate_input`](crate::config::Builder::validate_input) is set. Call
//! them yourself to reject invalid input early, with the error that SQS would return:
//!
//! ```
//! use sqs_client::operation::receive_message::ReceiveMessageInput;
//! use sqs_client::wire::validate::Validate;
//!
//! let input = ReceiveMessageInput::builder().queue_url("http://localhost:9324/0/orders").wait_time_seconds(21).build()?;
//! let error = input.validate().unwrap_err();
//! assert_eq!(error.code.query_code(), "InvalidParameterValue");
//! # Ok::<(), sqs_client::error::BuildError>(())
//! ```
//!
//! ```text
//! client   opt-in, before sending      input.validate()
//! server   before executing            input.validate(), then the rules of the queue: Draft::validate_for, batch
//! ```
//! [`Validate`] checks the rules that do not depend on the queue. The other rules take [`QueueRules`]. Validating a batch
//! input reports only errors of the whole request. Batch entries implement [`Validate`] too, for the errors of an entry.
//!
//! Validating correct input does not allocate. The messages follow recorded responses of SQS where available. AWS may
//! change them at any time, so match on the code.

pub mod attribute;
pub mod batch;
pub mod error;
pub mod message;
pub mod queue;

pub use batch::BatchEntry;
pub use message::Draft;

use crate::wire::service_error::ServiceError;

/// Input that can be validated without knowledge of the queue.
pub trait Validate {
    /// Checks the input.
    ///
    /// # Errors
    /// Code and message of the first violated rule, as SQS would return them.
    fn validate(&self) -> Result<(), ServiceError>;
}

/// The properties of a queue that the rules for messages depend on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueueRules {
    /// Whether it is a FIFO queue.
    pub fifo: bool,
    /// Whether SQS generates missing deduplication ids from the body.
    pub content_based_deduplication: bool,
    /// `MaximumMessageSize`, in bytes.
    pub maximum_message_size: usize,
}

#[cfg(test)]
mod tests {
    use super::Validate;
    use crate::wire::model::{Input, for_each_operation};

    fn rejects_empty_input<I: Input + Validate>() -> bool {
        I::default().validate().is_err()
    }

    macro_rules! check_each {
        ($( $operation:ident, $module:ident, $family:ident $(, $column:tt)*; )*) => { pastey::paste! {
            [$( (
                stringify!($operation),
                rejects_empty_input::<crate::operation::$module::[<$operation Input>]>(),
            ), )*]
        } };
    }

    #[test]
    fn every_operation_except_list_queues_rejects_empty_input() {
        for (name, is_rejected) in for_each_operation!(check_each) {
            assert_eq!(is_rejected, name != "ListQueues", "{name}");
        }
    }
}
