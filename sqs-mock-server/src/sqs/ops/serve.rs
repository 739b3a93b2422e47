//! The trait of an operation: running it, and what faults need of its input and output.

use std::future::Future;

use sqs_client::operation::{Input as _, Operation};
use sqs_client::wire::service_error::ServiceError;

use super::{Context, Service};
use crate::service::faults::Entry;

/// The result of an operation.
pub(crate) type Served<O> = Result<<O as Operation>::Output, ServiceError>;

/// An operation that a [`Service`] implements.
pub(crate) trait Serve: Operation {
    /// Runs the operation.
    ///
    /// # Cancel safety
    /// A receive that is dropped before it completes has taken no message. No other operation waits.
    fn serve(
        service: &Service,
        context: &Context,
        input: Self::Input,
    ) -> impl Future<Output = Served<Self>> + Send;

    /// The name, URL or ARN of the queue.
    fn queue(input: &Self::Input) -> Option<&str> {
        input.queue_url()
    }

    /// The account of the queue, if the input has it in a separate field.
    fn owner(_: &Self::Input) -> Option<&str> {
        None
    }

    /// The messages and receipt handles of the input.
    fn entries(_: &Self::Input) -> Vec<Entry<'_>> {
        Vec::new()
    }

    /// Whether the output has a message.
    fn delivers(_: &Self::Output) -> bool {
        false
    }

    /// Removes entries from the output.
    fn omit(_: &mut Self::Output, _: &[String]) {}

    /// Makes the checksums of the output wrong; `false` if it has none.
    fn corrupt(_: &mut Self::Output) -> bool {
        false
    }
}

/// Replaces the first digit of a checksum.
pub(super) fn break_sum(sum: &mut Option<String>) -> bool {
    let Some(sum) = sum else { return false };
    let other = if sum.starts_with('0') { "1" } else { "0" };
    if sum.is_ascii() && !sum.is_empty() {
        sum.replace_range(..1, other);
    }
    true
}
