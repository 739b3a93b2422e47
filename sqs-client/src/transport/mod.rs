//! How requests reach the service: one trait, and reqwest behind the default feature.
//!
//! Take [`PoolConfig`] to tune connections, and write a [`Transport`] for another HTTP client, a proxy, or to look at requests:
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

#[cfg(feature = "reqwest")]
mod reqwest;

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

#[cfg(feature = "reqwest")]
pub use self::reqwest::{PoolConfig, ReqwestTransport};

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
    /// The connection could not be secured, for instance because a certificate is not trusted: the service has not
    /// seen the request, and trying again does not help.
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

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            TransportErrorKind::Connect => "no connection",
            TransportErrorKind::Tls => "no secure connection",
            TransportErrorKind::TooLarge => "the answer is too long",
            TransportErrorKind::Broken => "the connection broke before the answer was complete",
            TransportErrorKind::Invalid => "the request cannot be sent",
        })
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.cause)
    }
}
