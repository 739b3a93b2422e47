//! The transport over hyper: HTTP/1.1 with a connection pool.

use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use bytes::Bytes;
use http::Uri;
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tower_service::Service;

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
        builder.pool_idle_timeout(pool.idle_limit()).pool_max_idle_per_host(pool.max_idle_per_host);
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

#[cfg(feature = "__rustls")]
type Stream = hyper_rustls::MaybeHttpsStream<TokioIo<TcpStream>>;
#[cfg(not(feature = "__rustls"))]
type Stream = TokioIo<TcpStream>;

type Connecting = Pin<Box<dyn Future<Output = Result<Stream, TransportError>> + Send>>;

/// One word wide, because hyper clones it for each request.
#[derive(Clone)]
struct Connector(Arc<Settings>);

struct Settings {
    http: HttpConnector,
    timeout: Duration,
    #[cfg(feature = "__rustls")]
    tls: Option<Encryption>,
}

#[cfg(feature = "__rustls")]
struct Encryption {
    config: Arc<rustls::ClientConfig>,
    proxies: hyper_util::client::proxy::matcher::Matcher,
}

impl Connector {
    pub(super) fn plain(timeout: Duration) -> Self {
        Self(Arc::new(Settings {
            http: http(),
            timeout,
            #[cfg(feature = "__rustls")]
            tls: None,
        }))
    }

    #[cfg(feature = "__rustls")]
    pub(super) fn encrypted(timeout: Duration, config: Arc<rustls::ClientConfig>) -> Self {
        let proxies = hyper_util::client::proxy::matcher::Matcher::from_env();
        Self(Arc::new(Settings { http: http(), timeout, tls: Some(Encryption { config, proxies }) }))
    }

    #[cfg_attr(
        not(feature = "__rustls"),
        expect(clippy::useless_conversion, reason = "not useless with TLS")
    )]
    fn connect(&self, to: Uri) -> Connecting {
        if to.scheme_str() == Some("https") {
            return self.connect_encrypted(to);
        }
        let connecting = self.0.http.clone().call(to);
        Box::pin(async move {
            match connecting.await {
                Ok(stream) => Ok(stream.into()),
                Err(error) => Err(not_connected(error)),
            }
        })
    }

    #[cfg(feature = "__rustls")]
    fn connect_encrypted(&self, to: Uri) -> Connecting {
        use hyper_rustls::HttpsConnector;
        use hyper_util::client::legacy::connect::proxy::Tunnel;

        let Some(Encryption { config, proxies }) = &self.0.tls else {
            return unsupported(super::PLAIN_HTTP);
        };
        let (http, config) = (self.0.http.clone(), Arc::clone(config));
        let Some(proxy) = proxies.intercept(&to) else {
            let connecting = HttpsConnector::from((http, config)).call(to);
            return Box::pin(async move { connecting.await.map_err(failed_handshake) });
        };
        if proxy.uri().scheme_str() != Some("http") {
            return unsupported(format!(
                "the proxy {} is not supported: HyperTransport supports http:// proxies only; use ReqwestTransport",
                proxy.uri()
            ));
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), http);
        if let Some(password) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(password.clone());
        }
        let connecting = HttpsConnector::from((tunnel, config)).call(to);
        Box::pin(async move { connecting.await.map_err(failed_handshake) })
    }

    #[cfg(not(feature = "__rustls"))]
    #[expect(clippy::unused_self, reason = "same signature with all features")]
    fn connect_encrypted(&self, _: Uri) -> Connecting {
        unsupported("the URL is an https URL: enable the feature `rustls` or `aws-lc`")
    }
}

/// The keepalive settings of reqwest: they detect a dead peer within a minute, also during a long poll.
fn http() -> HttpConnector {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_keepalive(Some(Duration::from_secs(15)));
    http.set_keepalive_interval(Some(Duration::from_secs(15)));
    http.set_keepalive_retries(Some(3));
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    http.set_tcp_user_timeout(Some(Duration::from_secs(30)));
    http
}

fn unsupported(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Connecting {
    let error = TransportError::new(TransportErrorKind::Invalid, cause);
    Box::pin(std::future::ready(Err(error)))
}

fn not_connected(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> TransportError {
    TransportError::new(TransportErrorKind::Connect, cause)
}

#[cfg(feature = "__rustls")]
fn failed_handshake(cause: Box<dyn StdError + Send + Sync>) -> TransportError {
    super::rustls::handshake_error(&*cause).unwrap_or_else(|| not_connected(cause))
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = TransportError;
    type Future = Connecting;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Connecting {
        let (connecting, limit) = (self.connect(to), self.0.timeout);
        Box::pin(async move {
            tokio::time::timeout(limit, connecting).await.unwrap_or_else(|_| {
                let text = format!("connect timeout: no connection within {limit:?}");
                Err(not_connected(io::Error::new(io::ErrorKind::TimedOut, text)))
            })
        })
    }
}
