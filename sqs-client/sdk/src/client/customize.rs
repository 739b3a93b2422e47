//! Settings for a single call.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use sqs_client::config::MapRequest;

use super::Client;
use crate::config::Builder;
use crate::error::{SdkError, TypedOperation};
use sqs_client::client::Customize;
use sqs_client::operation::{Input, InputBuilder, Operation};
use sqs_client::types::FluentBuilder;

/// The operation of a builder.
type OperationOf<B> = <<B as InputBuilder>::Input as Input>::Operation;
/// Its output.
type OutputOf<B> = <OperationOf<B> as Operation>::Output;
/// The error type of a builder's operation.
type ErrorOf<B> = <OperationOf<B> as TypedOperation>::Error;

/// A call with its own settings: request builder `B`, output `T`, error `E`.
///
/// The call shares connections, credentials and the retry budget with the client, unless the settings replace them. A
/// changed connect timeout needs new connections, and so does an `https` endpoint instead of an `http` one.
///
/// Interceptors are not supported, so the method does not exist. To inspect requests, use
/// [`http_client`](Builder::http_client) or a [`Transport`](sqs_client::transport::Transport).
///
/// ```
/// # fn test(client: sqs_sdk::Client, builder: sqs_sdk::config::Builder) {
/// // This compiles:
/// client.list_queues().customize().config_override(builder);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<I>(client: sqs_sdk::Client, interceptor: I) {
/// client.list_queues().customize().interceptor(interceptor);
/// # }
/// ```
pub struct CustomizableOperation<T, E, B> {
    request: B,
    settings: Builder,
    changes: Vec<MapRequest>,
    result: PhantomData<fn() -> (T, E)>,
}

impl<B> Customize<B> for Client
where
    B: InputBuilder,
    OperationOf<B>: TypedOperation,
{
    type Customized = CustomizableOperation<OutputOf<B>, ErrorOf<B>, FluentBuilder<B, Self>>;

    fn customize(request: FluentBuilder<B, Self>) -> Self::Customized {
        CustomizableOperation {
            request,
            settings: Builder::default(),
            changes: Vec::new(),
            result: PhantomData,
        }
    }
}

impl<T, E, B> CustomizableOperation<T, E, B> {
    /// Overrides settings of the client for this call. A second `config_override` replaces the first one.
    pub fn config_override(mut self, settings: impl Into<Builder>) -> Self {
        self.settings = settings.into();
        self
    }

    /// Changes the request of each attempt before it is signed. If `map` fails, the call fails with a dispatch failure, and
    /// nothing is sent.
    pub fn map_request<F, MapE>(mut self, map: F) -> Self
    where
        F: Fn(HttpRequest) -> Result<HttpRequest, MapE> + Send + Sync + 'static,
        MapE: std::error::Error + Send + Sync + 'static,
    {
        self.changes.push(Arc::new(move |request| {
            let request = HttpRequest::try_from(request.map(SdkBody::from))?;
            let (parts, body) = map(request)?.try_into_http1x()?.into_parts();
            let body = body.bytes().ok_or("the body of a request must be in memory")?;
            Ok(http::Request::from_parts(parts, Bytes::copy_from_slice(body)))
        }));
        self
    }

    /// Changes the request of each attempt before it is signed.
    pub fn mutate_request<F>(self, mutate: F) -> Self
    where
        F: Fn(&mut HttpRequest) + Send + Sync + 'static,
    {
        self.map_request(move |mut request| {
            mutate(&mut request);
            Ok::<_, Infallible>(request)
        })
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
        FluentBuilder::from_parts(input, client.with_override(self.settings).with_requests(self.changes))
            .send()
            .await
    }
}

impl<T, E, B: fmt::Debug> fmt::Debug for CustomizableOperation<T, E, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomizableOperation").field("request", &self.request).finish_non_exhaustive()
    }
}
