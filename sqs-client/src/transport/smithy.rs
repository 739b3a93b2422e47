//! An HTTP client of the AWS SDK as a transport: for a proxy, other TLS, metrics, or recorded responses in tests.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use aws_smithy_async::rt::sleep::{SharedAsyncSleep, TokioSleep};
use aws_smithy_async::time::SharedTimeSource;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::auth::{
    AuthScheme, AuthSchemeEndpointConfig, AuthSchemeId, AuthSchemeOptionResolverParams,
    AuthSchemeOptionsFuture, ResolveAuthSchemeOptions, Sign,
};
use aws_smithy_runtime_api::client::endpoint::{EndpointFuture, EndpointResolverParams, ResolveEndpoint};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector as _, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::identity::{
    Identity, IdentityFuture, ResolveCachedIdentity, ResolveIdentity, SharedIdentityResolver,
};
use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::retries::{RetryStrategy, ShouldAttempt};
use aws_smithy_runtime_api::client::runtime_components::{
    BuildError, GetIdentityResolver, RuntimeComponents, RuntimeComponentsBuilder,
};
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use aws_smithy_types::config_bag::ConfigBag;
use aws_smithy_types::timeout::TimeoutConfig;
use bytes::Bytes;

use super::answer::{self, Chunks};
use super::connector_error::was_never_sent;
use super::{PoolConfig, Transport, TransportError, TransportErrorKind, TransportFuture, connect_timeout};
use crate::time::SystemClock;

/// Sends requests with an HTTP client of the AWS SDK, such as one of `aws-smithy-http-client`.
///
/// That client determines connections, proxies and TLS.
#[derive(Clone)]
pub struct SmithyTransport {
    connector: SharedHttpConnector,
}

/// Without the connector, whose `Debug` may show anything.
impl std::fmt::Debug for SmithyTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SmithyTransport").finish_non_exhaustive()
    }
}

impl SmithyTransport {
    /// A transport over `client`, with the connect timeout of `timeouts` (3.1 s by default), and this read timeout, clock and timer.
    /// If `client` cannot be used, every call fails with the reason.
    ///
    /// Set no read timeout for calls of this crate's client: `client` cannot tell a long poll from a lost response. The one in
    /// [`timeout_config`](crate::config::Builder::timeout_config) adds the wait time of a receive.
    #[doc(hidden)]
    pub fn shared(
        client: &impl HttpClient,
        timeouts: &TimeoutConfig,
        read_timeout: Option<Duration>,
        clock: Option<SharedTimeSource>,
        sleep: Option<SharedAsyncSleep>,
    ) -> Arc<dyn Transport> {
        let clock = clock.unwrap_or_else(|| SharedTimeSource::new(SystemClock));
        match Self::with_time(client, timeouts, read_timeout, clock, sleep) {
            Ok(transport) => Arc::new(transport),
            Err(error) => Arc::new(Unusable(error)),
        }
    }

    fn with_time(
        client: &impl HttpClient,
        timeouts: &TimeoutConfig,
        read_timeout: Option<Duration>,
        clock: SharedTimeSource,
        sleep: Option<SharedAsyncSleep>,
    ) -> Result<Self, TransportError> {
        let components = runtime_components(clock, sleep).map_err(invalid)?;
        let mut settings = HttpConnectorSettings::builder();
        settings.set_connect_timeout(connect_timeout_of(timeouts));
        settings.set_read_timeout(read_timeout);
        Ok(Self { connector: client.http_connector(&settings.build(), &components) })
    }
}

/// The connect timeout that an HTTP client gets; `None` if it is disabled.
pub fn connect_timeout_of(timeouts: &TimeoutConfig) -> Option<Duration> {
    connect_timeout(timeouts, PoolConfig::default().connect_timeout)
}

/// Fails every request with the reason why the HTTP client cannot be used.
#[derive(Debug)]
struct Unusable(TransportError);

impl Transport for Unusable {
    fn send(&self, _: http::Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move { Err(self.0.clone()) })
    }
}

impl Transport for SmithyTransport {
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            let request = HttpRequest::try_from(request.map(SdkBody::from)).map_err(invalid)?;
            let response = self.connector.call(request).await.map_err(failed)?;
            let (parts, body) = response.try_into_http1x().map_err(broken)?.into_parts();
            let body = answer::read(&mut ByteStream::new(body)).await?;
            Ok(http::Response::from_parts(parts, body))
        })
    }
}

impl Chunks for ByteStream {
    fn announced(&self) -> Option<u64> {
        self.size_hint().1
    }

    async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        self.try_next().await.map_err(broken)
    }
}

fn invalid(cause: impl StdError + Send + Sync + 'static) -> TransportError {
    TransportError::new(TransportErrorKind::Invalid, cause)
}

fn broken(cause: impl StdError + Send + Sync + 'static) -> TransportError {
    TransportError::new(TransportErrorKind::Broken, cause)
}

fn failed(cause: ConnectorError) -> TransportError {
    let kind = if cause.is_user() {
        TransportErrorKind::Invalid
    } else if was_never_sent(&cause) {
        TransportErrorKind::Connect
    } else if cause.is_timeout() {
        TransportErrorKind::Timeout
    } else {
        TransportErrorKind::Broken
    };
    TransportError::new(kind, cause)
}

/// Runtime components with this clock and timer. Without a timer, uses tokio's.
///
/// # Errors
/// This version of `aws-smithy-runtime-api` requires a component that is missing here.
pub fn runtime_components(
    time_source: SharedTimeSource,
    sleep: Option<SharedAsyncSleep>,
) -> Result<RuntimeComponents, BuildError> {
    let sleep = sleep.unwrap_or_else(|| SharedAsyncSleep::new(TokioSleep::new()));
    RuntimeComponentsBuilder::new("sqs-client")
        .with_time_source(Some(time_source))
        .with_sleep_impl(Some(sleep))
        .with_auth_scheme_option_resolver(Some(Unused))
        .with_auth_scheme(Unused)
        .with_endpoint_resolver(Some(Unused))
        .with_identity_cache(Some(Unused))
        .with_identity_resolver(Unused::SCHEME, Unused)
        .with_retry_strategy(Some(Unused))
        .build()
}

/// Stands for each component that is required but not supported.
#[derive(Debug)]
struct Unused;

impl Unused {
    const SCHEME: AuthSchemeId = AuthSchemeId::new("sqs-client");

    fn unsupported<T>() -> Result<T, BoxError> {
        Err("unsupported runtime component: sqs-client provides a clock and a timer only".into())
    }
}

impl ResolveAuthSchemeOptions for Unused {
    fn resolve_auth_scheme_options_v2<'a>(
        &'a self,
        _: &'a AuthSchemeOptionResolverParams,
        _: &'a ConfigBag,
        _: &'a RuntimeComponents,
    ) -> AuthSchemeOptionsFuture<'a> {
        AuthSchemeOptionsFuture::ready(Self::unsupported())
    }
}

impl AuthScheme for Unused {
    fn scheme_id(&self) -> AuthSchemeId {
        Self::SCHEME
    }

    fn identity_resolver(&self, _: &dyn GetIdentityResolver) -> Option<SharedIdentityResolver> {
        None
    }

    fn signer(&self) -> &dyn Sign {
        self
    }
}

impl Sign for Unused {
    fn sign_http_request(
        &self,
        _: &mut HttpRequest,
        _: &Identity,
        _: AuthSchemeEndpointConfig<'_>,
        _: &RuntimeComponents,
        _: &ConfigBag,
    ) -> Result<(), BoxError> {
        Self::unsupported()
    }
}

impl ResolveEndpoint for Unused {
    fn resolve_endpoint<'a>(&'a self, _: &'a EndpointResolverParams) -> EndpointFuture<'a> {
        EndpointFuture::ready(Self::unsupported())
    }
}

impl ResolveIdentity for Unused {
    fn resolve_identity<'a>(&'a self, _: &'a RuntimeComponents, _: &'a ConfigBag) -> IdentityFuture<'a> {
        IdentityFuture::ready(Self::unsupported())
    }
}

impl ResolveCachedIdentity for Unused {
    fn resolve_cached_identity<'a>(
        &'a self,
        _: SharedIdentityResolver,
        _: &'a RuntimeComponents,
        _: &'a ConfigBag,
    ) -> IdentityFuture<'a> {
        IdentityFuture::ready(Self::unsupported())
    }
}

impl RetryStrategy for Unused {
    fn should_attempt_initial_request(
        &self,
        _: &RuntimeComponents,
        _: &ConfigBag,
    ) -> Result<ShouldAttempt, BoxError> {
        Self::unsupported()
    }

    fn should_attempt_retry(
        &self,
        _: &InterceptorContext,
        _: &RuntimeComponents,
        _: &ConfigBag,
    ) -> Result<ShouldAttempt, BoxError> {
        Self::unsupported()
    }
}
