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
mod default;
#[cfg(feature = "hyper")]
mod hyper;
mod pool;
#[cfg(feature = "reqwest")]
mod reqwest;
#[cfg(feature = "aws-config")]
mod smithy;
mod tls;

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

#[cfg(feature = "aws-sdk-sqs")]
pub(crate) use self::connector_error::was_never_sent;
pub(crate) use self::default::{DefaultTransport, direct_http};
#[cfg(feature = "hyper")]
pub use self::hyper::HyperTransport;
pub use self::pool::PoolConfig;
pub(crate) use self::pool::connect_timeout;
#[cfg(feature = "reqwest")]
pub use self::reqwest::ReqwestTransport;
#[cfg(feature = "aws-config")]
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
}

impl TransportError {
    /// An error of the given kind.
    pub fn new(kind: TransportErrorKind, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { kind, cause: cause.into().into() }
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
            TransportErrorKind::Connect => f.write_str("cannot connect"),
            TransportErrorKind::Tls => write!(f, "TLS connection failed: {}", self.cause),
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
