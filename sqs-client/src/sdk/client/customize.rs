//! Settings for a single call.

use std::fmt;
use std::marker::PhantomData;

use super::Client;
use crate::client::{OperationOf, OutputOf};
use crate::sdk::config::Builder;
use crate::sdk::error::{SdkError, TypedOperation};
use crate::types::FluentBuilder;
use crate::wire::model::InputBuilder;

/// What the operation of a builder fails with.
type ErrorOf<B> = <OperationOf<B> as TypedOperation>::Error;

/// A call with settings of its own: request `B`, which answers `T` or fails with `E`.
///
/// The call shares connections, credentials and the budget for retries with the client, unless the settings replace them.
/// Another connect timeout takes new connections, and so does an `https` endpoint in place of an `http` one.
///
/// aws-sdk-sqs also lets a call change the signed request. Here nothing but the client makes requests, so this does not
/// compile; use [`http_client`](Builder::http_client) or a [`Transport`](crate::transport::Transport) to look at requests.
///
/// ```compile_fail,E0599
/// # fn test(client: sqs_client::sdk::Client) {
/// client.list_queues().customize().mutate_request(|_| {});
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<I>(client: sqs_client::sdk::Client, interceptor: I) {
/// client.list_queues().customize().interceptor(interceptor);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<F>(client: sqs_client::sdk::Client, map: F) {
/// client.list_queues().customize().map_request(map);
/// # }
/// ```
pub struct CustomizableOperation<T, E, B> {
    request: B,
    settings: Builder,
    result: PhantomData<fn() -> (T, E)>,
}

impl<B> FluentBuilder<B, Client>
where
    B: InputBuilder,
    OperationOf<B>: TypedOperation,
{
    /// Gives this call settings of its own.
    pub fn customize(self) -> CustomizableOperation<OutputOf<B>, ErrorOf<B>, Self> {
        CustomizableOperation { request: self, settings: Builder::default(), result: PhantomData }
    }
}

impl<T, E, B> CustomizableOperation<T, E, B> {
    /// Overrides the settings of the client with those that are set here. A later call replaces them.
    pub fn config_override(mut self, settings: impl Into<Builder>) -> Self {
        self.settings = settings.into();
        self
    }
}

impl<B> CustomizableOperation<OutputOf<B>, ErrorOf<B>, FluentBuilder<B, Client>>
where
    B: InputBuilder,
    OperationOf<B>: TypedOperation,
{
    /// Makes the call.
    ///
    /// # Errors
    /// The input cannot be built, or the call fails.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the call; whether the service has acted on it is then unknown.
    pub async fn send(self) -> Result<OutputOf<B>, SdkError<ErrorOf<B>>> {
        let (input, client) = self.request.into_parts();
        FluentBuilder::from_parts(input, client.with_override(self.settings)).send().await
    }
}

impl<T, E, B: fmt::Debug> fmt::Debug for CustomizableOperation<T, E, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomizableOperation").field("request", &self.request).finish_non_exhaustive()
    }
}
