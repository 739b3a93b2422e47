//! The transport over hyper: HTTP/1.1 with a connection pool.

mod connector;

use std::error::Error as StdError;
use std::fmt;

use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use self::connector::Connector;
#[cfg(feature = "__rustls")]
use super::TlsConfig;
use super::answer::{self, Chunks};
use super::{PoolConfig, Transport, TransportError, TransportErrorKind, TransportFuture};

/// Sends requests with hyper. It makes fewer allocations per request than `ReqwestTransport`.
///
/// Requests to `https` URLs use the proxy in `HTTPS_PROXY` or `ALL_PROXY`, unless `NO_PROXY` excludes the host. The proxy
/// URL must be an `http` URL; requests through any other proxy fail. Requests to `http` URLs never use a proxy. For other
/// proxies, use `ReqwestTransport`.
#[derive(Clone)]
pub struct HyperTransport(Client<Connector, Full<Bytes>>);

impl HyperTransport {
    /// A transport with its own pool, for `https` and `http` URLs, with the default TLS settings.
    ///
    /// # Errors
    /// TLS cannot be configured, for example because the platform has no root certificates.
    #[cfg(feature = "__rustls")]
    pub fn new(pool: PoolConfig) -> Result<Self, TransportError> {
        Self::with_tls(pool, &TlsConfig::default())
    }

    /// A transport with its own pool, for `https` and `http` URLs.
    ///
    /// # Errors
    /// TLS cannot be configured, for example because a file with root certificates cannot be read.
    #[cfg(feature = "__rustls")]
    pub fn with_tls(pool: PoolConfig, tls: &TlsConfig) -> Result<Self, TransportError> {
        Ok(Self::build(pool, Connector::encrypted(pool.connect_timeout, tls.client_config()?)))
    }

    /// A transport for `http` URLs only. It loads no certificates, which saves some milliseconds and works in containers
    /// without certificates.
    pub fn plain_http(pool: PoolConfig) -> Self {
        Self::build(pool, Connector::plain(pool.connect_timeout))
    }

    fn build(pool: PoolConfig, connector: Connector) -> Self {
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_idle_timeout(pool.idle_timeout).pool_max_idle_per_host(pool.max_idle_per_host);
        // The request already has a signed `Host` header.
        builder.timer(TokioTimer::new()).pool_timer(TokioTimer::new()).set_host(false);
        Self(builder.build(connector))
    }
}

impl Transport for HyperTransport {
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            if request.uri().scheme().is_none() {
                let cause = format!("{} is not an absolute URL", request.uri());
                return Err(TransportError::new(TransportErrorKind::Invalid, cause));
            }
            let response = self.0.request(request.map(Full::new)).await.map_err(failed)?;
            let (head, body) = response.into_parts();
            Ok(http::Response::from_parts(head, answer::read(&mut Frames(body)).await?))
        })
    }
}

struct Frames<B>(B);

impl<B> Chunks for Frames<B>
where
    B: Body<Data = Bytes, Error: StdError + Send + Sync + 'static> + Send + Unpin,
{
    fn announced(&self) -> Option<u64> {
        self.0.size_hint().exact()
    }

    async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        while let Some(frame) = self.0.frame().await {
            let frame = frame.map_err(|cause| TransportError::new(TransportErrorKind::Broken, cause))?;
            // Any other frame is a trailer, which SQS does not send.
            if let Ok(chunk) = frame.into_data() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}

fn failed(cause: Error) -> TransportError {
    if !cause.is_connect() {
        return TransportError::new(TransportErrorKind::Broken, cause);
    }
    // The connector has already classified the failure.
    let known = cause.source().and_then(|cause| cause.downcast_ref::<TransportError>());
    known.cloned().unwrap_or_else(|| TransportError::new(TransportErrorKind::Connect, cause))
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransport").finish_non_exhaustive()
    }
}
