//! HTTP transports: the trait [`Transport`] and its implementations.
//!
//! The default transport is `ReqwestTransport` (feature `reqwest`, on by default). If only the feature `hyper` is enabled,
//! it is `HyperTransport`. [`PoolConfig`] configures its connections, [`TlsConfig`] its TLS. Implement [`Transport`] to
//! use another HTTP client or to inspect requests:
//!
//! ```
//! use bytes::Bytes;
//! use sqs_client::transport::{Transport, TransportFuture};
//!
//! /// Counts the bytes of all requests.
//! #[derive(Debug)]
//! struct Counted<T> {
//!     inner: T,
//!     bytes: std::sync::atomic::AtomicUsize,
//! }
//!
//! impl<T: Transport> Transport for Counted<T> {
//!     fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
//!         self.bytes.fetch_add(request.body().len(), std::sync::atomic::Ordering::Relaxed);
//!         self.inner.send(request)
//!     }
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = sqs_mock_server::MockSqs::in_process();
//! # let (inner, config) = (server.transport(), server.client_config());
//!
//! let client = sqs_client::Client::from_conf(config.transport(Counted { inner, bytes: 0.into() }).build());
//! client.list_queues().send().await?;
//! # Ok(())
//! # }
//! ```

#[cfg(any(feature = "reqwest", feature = "hyper", feature = "aws-config"))]
mod answer;
#[cfg(any(feature = "aws-config", feature = "aws-sdk-sqs"))]
mod connector_error;
#[cfg(feature = "hyper")]
mod hyper;
#[cfg(feature = "reqwest")]
mod reqwest;
#[cfg(feature = "__rustls")]
#[cfg_attr(
    not(any(feature = "reqwest", feature = "hyper")),
    allow(dead_code, reason = "unused without a transport")
)]
mod rustls;
#[cfg(feature = "aws-config")]
#[doc(hidden)]
pub mod smithy;
mod tls;

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_smithy_types::timeout::TimeoutConfig;
use bytes::Bytes;

#[cfg(feature = "aws-sdk-sqs")]
pub(crate) use self::connector_error::was_never_sent;
#[cfg(feature = "hyper")]
pub use self::hyper::HyperTransport;
#[cfg(feature = "reqwest")]
pub use self::reqwest::ReqwestTransport;
// For sqs-sdk.
#[cfg(feature = "aws-config")]
#[doc(hidden)]
pub use self::smithy::SmithyTransport;
pub use self::tls::TlsConfig;

/// The error of `plain_http(..)` transports for `https` URLs.
#[cfg(any(feature = "reqwest", all(feature = "hyper", feature = "__rustls")))]
const PLAIN_HTTP: &str = "the URL is an https URL, but plain_http(..) creates transports for http URLs only";

/// What [`Transport::send`] returns.
pub type TransportFuture<'a> =
    Pin<Box<dyn Future<Output = Result<http::Response<Bytes>, TransportError>> + Send + 'a>>;

/// Sends one signed request and returns the complete response.
///
/// The client handles retries, timeouts and signatures. An implementation makes one exchange and returns the response with
/// any status. It must not follow redirects, because that would send the signature to another host.
///
/// # Cancel safety
/// The client drops the future when an attempt times out. An implementation must then cancel the exchange. It must not
/// reuse the connection while the response is outstanding.
pub trait Transport: fmt::Debug + Send + Sync + 'static {
    /// Sends the request. Its URI is absolute. Its `Host` header is signed, so it must be sent unchanged.
    ///
    /// # Errors
    /// There is no complete response. [`TransportError::kind`] tells whether the request may have reached the service.
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_>;
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
        (**self).send(request)
    }
}

/// How an exchange failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// No connection was made. The service did not receive the request.
    Connect,
    /// TLS could not be configured, for example because the platform has no root certificates, or the handshake failed, for
    /// example because the server's certificate is not trusted. The service did not receive the request. Not retryable.
    Tls,
    /// The connection broke, or the response was truncated. The service may have executed the request.
    Broken,
    /// The HTTP client gave up waiting for the response. The service may have executed the request. Transports need no
    /// such limit: the client's own timeouts include the wait time of a receive.
    Timeout,
    /// The response exceeds the size limit of the transport. The service may have executed the request.
    TooLarge,
    /// The request cannot be sent, for example because its URI is invalid. Not retryable.
    Invalid,
}

/// An exchange failed: there is no complete response.
#[derive(Clone, Debug)]
pub struct TransportError {
    kind: TransportErrorKind,
    cause: Arc<dyn StdError + Send + Sync>,
    /// Where no connection was made, with its port.
    host: Option<Arc<str>>,
}

impl TransportError {
    /// An error of the given kind.
    pub fn new(kind: TransportErrorKind, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { kind, cause: cause.into().into(), host: None }
    }

    /// Names the host, if no connection to it was made.
    pub(crate) fn with_host(self, host: &str) -> Self {
        let names_it = matches!(self.kind, TransportErrorKind::Connect | TransportErrorKind::Tls);
        Self { host: names_it.then(|| host.into()), ..self }
    }

    /// How the exchange failed.
    pub fn kind(&self) -> TransportErrorKind {
        self.kind
    }
}

/// For `Tls` and `Invalid`, the text includes the cause, because it says which settings to change. For the other kinds,
/// the cause is in `source()`.
impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TransportErrorKind::Connect => match &self.host {
                Some(host) => write!(f, "cannot connect to {host}"),
                None => f.write_str("cannot connect"),
            },
            TransportErrorKind::Tls => match &self.host {
                Some(host) => write!(f, "TLS connection to {host} failed: {}", self.cause),
                None => write!(f, "TLS connection failed: {}", self.cause),
            },
            TransportErrorKind::TooLarge => f.write_str("the response is too long"),
            TransportErrorKind::Broken => {
                f.write_str("the connection broke before the response was complete")
            }
            TransportErrorKind::Timeout => f.write_str("the HTTP client received no response in time"),
            TransportErrorKind::Invalid => write!(f, "the request cannot be sent: {}", self.cause),
        }
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.kind {
            // `Display` already shows the text of the cause.
            TransportErrorKind::Tls | TransportErrorKind::Invalid => self.cause.source(),
            _ => Some(&*self.cause),
        }
    }
}

/// Creates a transport for the first call. Clients with equal settings get the same transport and share its connections.
#[derive(Clone)]
pub(crate) struct DefaultTransport(Arc<Settings>);

struct Settings {
    pool: PoolConfig,
    tls: TlsConfig,
    /// Locked while the transport is created, which takes some milliseconds if certificates are loaded. First calls of
    /// other clients wait. A failure is not cached: the next call tries again.
    http: Mutex<Option<Arc<dyn Transport>>>,
    https: Mutex<Option<Arc<dyn Transport>>>,
}

impl DefaultTransport {
    pub(crate) fn new(pool: PoolConfig, tls: TlsConfig) -> Self {
        Self(Arc::new(Settings { pool, tls, http: Mutex::default(), https: Mutex::default() }))
    }

    /// Returns this transport if it has these settings, else a new one.
    pub(crate) fn with(self, pool: PoolConfig, tls: TlsConfig) -> Self {
        if self.0.pool == pool && self.0.tls.is_same(&tls) { self } else { Self::new(pool, tls) }
    }

    /// The transport for `https` URLs, or the one for `http` URLs. The latter loads no certificates.
    pub(crate) fn get(&self, encrypted: bool) -> Result<Arc<dyn Transport>, TransportError> {
        let slot = if encrypted { &self.0.https } else { &self.0.http };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(transport) = &*slot {
            return Ok(Arc::clone(transport));
        }
        let transport = make(self.0.pool, &self.0.tls, encrypted)?;
        *slot = Some(Arc::clone(&transport));
        Ok(transport)
    }
}

/// A transport for local `http` URLs, such as those of metadata services. It uses no proxy and keeps no idle connections.
#[cfg(feature = "reqwest")]
pub(crate) fn direct_http(connect_timeout: Duration) -> Result<Arc<dyn Transport>, TransportError> {
    Ok(Arc::new(ReqwestTransport::direct_http(connect_timeout)?))
}

/// The same over hyper, which never uses a proxy for `http` URLs.
#[cfg(not(feature = "reqwest"))]
pub(crate) fn direct_http(connect_timeout: Duration) -> Result<Arc<dyn Transport>, TransportError> {
    let pool = PoolConfig::default().max_idle_per_host(0).connect_timeout(connect_timeout);
    make(pool, &TlsConfig::default(), false)
}

#[cfg(feature = "reqwest")]
fn make(pool: PoolConfig, tls: &TlsConfig, encrypted: bool) -> Result<Arc<dyn Transport>, TransportError> {
    let transport =
        if encrypted { ReqwestTransport::with_tls(pool, tls) } else { ReqwestTransport::plain_http(pool) };
    Ok(Arc::new(transport?))
}

#[cfg(all(feature = "hyper", not(feature = "reqwest")))]
#[cfg_attr(
    not(feature = "__rustls"),
    expect(clippy::unnecessary_wraps, reason = "same signature with all features")
)]
fn make(pool: PoolConfig, tls: &TlsConfig, encrypted: bool) -> Result<Arc<dyn Transport>, TransportError> {
    #[cfg(feature = "__rustls")]
    if encrypted {
        return Ok(Arc::new(HyperTransport::with_tls(pool, tls)?));
    }
    // Without TLS, a request to an `https` URL fails.
    let _ = (tls, encrypted);
    Ok(Arc::new(HyperTransport::plain_http(pool)))
}

#[cfg(not(any(feature = "reqwest", feature = "hyper")))]
fn make(_: PoolConfig, _: &TlsConfig, _: bool) -> Result<Arc<dyn Transport>, TransportError> {
    Err(TransportError::new(
        TransportErrorKind::Invalid,
        "no transport: enable the feature `reqwest` or `hyper`",
    ))
}

impl fmt::Debug for DefaultTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { pool, tls, .. } = &*self.0;
        f.debug_struct("DefaultTransport").field("pool", pool).field("tls", tls).finish()
    }
}

/// The connection pool settings of a transport.
///
/// SQS uses HTTP/1.1, so each request occupies a connection until its response is complete. A long poll occupies one for
/// up to 20 seconds: a process with 50 receivers and 20 concurrent senders uses 70 connections. With a lower limit on idle
/// connections, requests above it need a new TLS handshake. If idle connections are kept longer than the service keeps
/// them, requests occasionally fail and are retried.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PoolConfig {
    /// The maximum number of idle connections per host; unlimited by default.
    pub max_idle_per_host: usize,
    /// How long an idle connection is kept: 20 seconds by default, shorter than on AWS load balancers. [`Duration::MAX`] keeps it
    /// until the service closes it.
    pub idle_timeout: Duration,
    /// The connect timeout: 3.1 seconds by default, as in the AWS SDKs. [`Duration::MAX`] disables it.
    pub connect_timeout: Duration,
}

/// The connect timeout of `timeouts`, else the default; `None` if it is disabled.
pub(crate) fn connect_timeout(timeouts: &TimeoutConfig, default: Duration) -> Option<Duration> {
    let default = TimeoutConfig::builder().connect_timeout(default).build();
    // The getter returns `None` for unset and for disabled timeouts. `take_defaults_from` replaces only unset ones.
    timeouts.clone().take_defaults_from(&default).connect_timeout()
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            max_idle_per_host: usize::MAX,
            idle_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_millis(3_100),
        }
    }
}

impl PoolConfig {
    /// Sets the maximum number of idle connections per host.
    pub fn max_idle_per_host(mut self, connections: usize) -> Self {
        self.max_idle_per_host = connections;
        self
    }

    /// Sets how long an idle connection is kept.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// `None` if it never ends: the pool of hyper panics for a time that no clock reaches.
    #[cfg(any(feature = "reqwest", feature = "hyper"))]
    fn idle_limit(self) -> Option<Duration> {
        let ends = tokio::time::Instant::now().into_std().checked_add(self.idle_timeout);
        ends.map(|_| self.idle_timeout)
    }

    /// Sets the connect timeout.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }
}
