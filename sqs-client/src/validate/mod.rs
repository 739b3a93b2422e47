//! The rules of the service about its input, in AWS's order and words.
//!
//! A client applies them to what it sends where
//! [`Builder::validate_input`](crate::config::Builder::validate_input) is on; call them yourself to refuse early, with the text
//! that SQS would answer:
//!
//! ```
//! use sqs_client::operation::receive_message::ReceiveMessageInput;
//! use sqs_client::validate::Validate;
//!
//! let input = ReceiveMessageInput::builder().queue_url("http://localhost:9324/0/orders").wait_time_seconds(21).build()?;
//! let refusal = input.validate().unwrap_err();
//! assert_eq!(refusal.code.query_code(), "InvalidParameterValue");
//! # Ok::<(), sqs_client::error::BuildError>(())
//! ```
//!
//! ```text
//! client   opt-in, before sending      input.validate()
//! server   before applying             input.validate(), then what needs the queue: Draft::validate_for, batch, receive
//! ```
//! [`Validate`] says everything that can be said without knowing the queue. What depends on it takes
//! [`QueueRules`]. A batch is refused as a whole only for the faults that refuse it as a whole; its entries
//! implement [`Validate`] too, for their own results.
//!
//! Nothing is allocated for good input. Texts follow recorded answers where there are any; AWS may change
//! them at any time, so match on the code.

pub mod attribute;
pub mod batch;
mod characters;
pub mod message;
pub mod move_task;
mod number;
pub mod permission;
pub mod queue;
pub mod receive;
pub mod refusal;
pub mod tags;

pub use batch::BatchEntry;
pub use message::Draft;

use crate::service_error::ServiceError;

/// Input that the service may refuse without looking at a queue.
pub trait Validate {
    /// Checks the input.
    ///
    /// # Errors
    /// What the service would answer: code and text of the first rule that is broken.
    fn validate(&self) -> Result<(), ServiceError>;
}

/// What the rules about messages have to know of a queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueueRules {
    /// Whether it is a FIFO queue.
    pub fifo: bool,
    /// Whether deduplication ids are made from bodies where none is given.
    pub content_based_deduplication: bool,
    /// `MaximumMessageSize`, in bytes.
    pub maximum_message_size: usize,
}

#[cfg(test)]
mod tests {
    use super::Validate;
    use crate::operation::{Input, for_each_operation};

    fn refuses_emptiness<I: Input + Validate>() -> bool {
        I::default().validate().is_err()
    }

    macro_rules! check_each {
        ($( $operation:ident, $module:ident, $family:ident $(, $column:tt)*; )*) => { pastey::paste! {
            [$( (
                stringify!($operation),
                refuses_emptiness::<crate::operation::$module::[<$operation Input>]>(),
            ), )*]
        } };
    }

    #[test]
    fn every_operation_but_one_refuses_an_input_without_anything() {
        for (name, refused) in for_each_operation!(check_each) {
            assert_eq!(refused, name != "ListQueues", "{name}");
        }
    }
}
