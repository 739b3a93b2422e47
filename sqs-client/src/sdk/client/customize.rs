//! Settings for a single call.

use std::fmt;
use std::marker::PhantomData;

use super::Client;
use crate::client::{OperationOf, OutputOf};
use crate::sdk::config::Builder;
use crate::sdk::error::{SdkError, TypedOperation};
use crate::types::FluentBuilder;
use crate::wire::model::InputBuilder;

/// The error type of a builder's operation.
type ErrorOf<B> = <OperationOf<B> as TypedOperation>::Error;

/// A call with its own settings: request builder `B`, output `T`, error `E`.
///
/// The call shares connections, credentials and the retry budget with the client, unless the settings replace them. A
/// changed connect timeout needs new connections, and so does an `https` endpoint instead of an `http` one.
///
/// In aws-sdk-sqs, a call can also change the request. This crate does not support that, so these methods do not exist. To
/// inspect requests, use [`http_client`](Builder::http_client) or a [`Transport`](crate::transport::Transport).
///
/// ```
/// # fn test(client: sqs_client::sdk::Client, builder: sqs_client::sdk::config::Builder) {
/// // This compiles:
/// client.list_queues().customize().config_override(builder);
/// # }
/// ```
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
    /// Returns a builder for a call with its own settings.
    pub fn customize(self) -> CustomizableOperation<OutputOf<B>, ErrorOf<B>, Self> {
        CustomizableOperation { request: self, settings: Builder::default(), result: PhantomData }
    }
}

impl<T, E, B> CustomizableOperation<T, E, B> {
    /// Overrides settings of the client for this call. A second `config_override` replaces the first one.
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
    /// Sends the request and returns the output.
    ///
    /// # Errors
    /// The input cannot be built, or the call fails.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the call. SQS may still execute the request.
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
