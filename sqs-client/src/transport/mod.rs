//! How requests reach the service: the trait [`Transport`], and its implementations.
//!
//! The default transport is `ReqwestTransport` (feature `reqwest`, on by default), or `HyperTransport` if only the
//! feature `hyper` is on. [`PoolConfig`] tunes its connections and [`TlsConfig`] its TLS. Implement [`Transport`] to use
//! another HTTP client or to inspect requests:
//!
//! ```
//! use bytes::Bytes;
//! use sqs_client::transport::{Transport, TransportFuture};
//!
//! /// Counts what goes through it.
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

pub(crate) use self::default::{DefaultTransport, direct_http};
#[cfg(feature = "hyper")]
pub use self::hyper::HyperTransport;
pub use self::pool::PoolConfig;
#[cfg(feature = "reqwest")]
pub use self::reqwest::ReqwestTransport;
#[cfg(feature = "aws-config")]
pub use self::smithy::SmithyTransport;
pub use self::tls::TlsConfig;

/// Why `plain_http(..)` transports refuse `https` URLs.
#[cfg(any(feature = "reqwest", all(feature = "hyper", feature = "__rustls")))]
const PLAIN_HTTP: &str =
    "the URL is an https URL, and this transport was made by plain_http(..) for http URLs";

/// What [`Transport::send`] returns.
pub type TransportFuture<'a> =
    Pin<Box<dyn Future<Output = Result<http::Response<Bytes>, TransportError>> + Send + 'a>>;

/// Sends one signed request and returns the whole answer.
///
/// Retries, timeouts and signatures are the client's business: an implementation makes one exchange and returns
/// whatever status comes. It must not follow redirects, since those would carry the signature elsewhere.
///
/// # Cancel safety
/// The client drops the future when an attempt takes too long. An implementation must then give up the exchange
/// and must not hand its connection to another request with the answer still to come.
pub trait Transport: fmt::Debug + Send + Sync + 'static {
    /// Makes one exchange. The URI of the request is absolute, and the `Host` header is there: it is signed, so it
    /// must be sent as it is.
    ///
    /// # Errors
    /// No whole answer came; [`TransportError::kind`] says whether the request may have reached the service.
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
    /// No connection was made: the service has not seen the request.
    Connect,
    /// TLS could not be set up, for instance because the platform has no root certificates, or the handshake failed,
    /// for instance because the server's certificate is not trusted. The service has not seen the request, and a
    /// retry does not help.
    Tls,
    /// The connection broke or the answer was cut: the service may have acted on the request.
    Broken,
    /// The answer is longer than the transport takes: the service may have acted on the request.
    TooLarge,
    /// The request can never be sent as it is, for instance because its URI is not one.
    Invalid,
}

/// No whole answer came.
#[derive(Clone, Debug)]
pub struct TransportError {
    kind: TransportErrorKind,
    cause: Arc<dyn StdError + Send + Sync>,
}

impl TransportError {
    /// An error of that kind.
    pub fn new(kind: TransportErrorKind, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { kind, cause: cause.into().into() }
    }

    /// How the exchange failed.
    pub fn kind(&self) -> TransportErrorKind {
        self.kind
    }
}

/// `Tls` and `Invalid` show their cause, since only other settings help. The cause of the others is in `source()`.
impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TransportErrorKind::Connect => f.write_str("no connection"),
            TransportErrorKind::Tls => write!(f, "no secure connection: {}", self.cause),
            TransportErrorKind::TooLarge => f.write_str("the answer is too long"),
            TransportErrorKind::Broken => f.write_str("the connection broke before the answer was complete"),
            TransportErrorKind::Invalid => write!(f, "the request cannot be sent: {}", self.cause),
        }
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.kind {
            // The text of the cause is shown already.
            TransportErrorKind::Tls | TransportErrorKind::Invalid => self.cause.source(),
            _ => Some(&*self.cause),
        }
    }
}
