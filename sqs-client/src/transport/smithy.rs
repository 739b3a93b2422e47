//! An HTTP client of the AWS SDK as a transport: for a proxy, other TLS, metrics, or recorded responses in tests.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use aws_smithy_async::rt::sleep::SharedAsyncSleep;
use aws_smithy_async::time::SharedTimeSource;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector as _, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use aws_smithy_types::timeout::TimeoutConfig;
use bytes::Bytes;

use super::answer::{self, Chunks};
use super::connector_error::was_never_sent;
use super::pool::connect_timeout;
use super::{PoolConfig, Transport, TransportError, TransportErrorKind, TransportFuture};
use crate::runtime_components::runtime_components;
use crate::time::SystemClock;

/// Sends requests with an HTTP client of the AWS SDK, such as one of `aws-smithy-http-client`.
///
/// That client determines connections, proxies and TLS.
#[derive(Clone, Debug)]
pub struct SmithyTransport {
    connector: SharedHttpConnector,
}

impl SmithyTransport {
    /// A transport over `client`, with the connect timeout of `timeouts` (3.1 s by default). `client` gets no read timeout, since
    /// it could not tell a long poll from a lost response. Set it in
    /// [`timeout_config`](crate::config::Builder::timeout_config): the client adds the wait time of a receive.
    ///
    /// # Errors
    /// This version of `aws-smithy-runtime-api` requires components that this crate does not provide.
    pub fn new(client: &impl HttpClient, timeouts: &TimeoutConfig) -> Result<Self, TransportError> {
        Self::with_time(client, timeouts, None, SharedTimeSource::new(SystemClock), None)
    }

    /// Like [`new`](Self::new), with this read timeout, clock and timer. If the client cannot be used, every call fails with
    /// the reason.
    pub(crate) fn shared(
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
        settings.set_connect_timeout(connect_timeout(timeouts, PoolConfig::default().connect_timeout));
        settings.set_read_timeout(read_timeout);
        Ok(Self { connector: client.http_connector(&settings.build(), &components) })
    }
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
