//! The operations that the client changes.

use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::Operation;

use super::ExtendedClient;
use crate::error::Error;

/// An operation that the client changes.
pub(crate) trait Rewritten: Operation {
    /// Whether a call with this input is changed. Otherwise the client below gets the input unchanged.
    fn needs_rewrite<H: Execute>(client: &ExtendedClient<H>, input: &Self::Input) -> bool;

    /// Runs a changed call.
    fn run<H: Execute>(
        client: &ExtendedClient<H>,
        input: Self::Input,
        options: CallOptions,
    ) -> impl Future<Output = Result<Self::Output, Error>> + Send;
}
