//! Opens connections: direct or through a proxy, plain or with TLS, with a timeout.

use std::error::Error as StdError;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::transport::{TransportError, TransportErrorKind};

#[cfg(feature = "__rustls")]
type Stream = hyper_rustls::MaybeHttpsStream<TokioIo<TcpStream>>;
#[cfg(not(feature = "__rustls"))]
type Stream = TokioIo<TcpStream>;

type Connecting = Pin<Box<dyn Future<Output = Result<Stream, TransportError>> + Send>>;

/// One word wide, because hyper clones it for each request.
#[derive(Clone)]
pub(super) struct Connector(Arc<Settings>);

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
                Err(error) => Err(failed(error)),
            }
        })
    }

    #[cfg(feature = "__rustls")]
    fn connect_encrypted(&self, to: Uri) -> Connecting {
        use hyper_rustls::HttpsConnector;
        use hyper_util::client::legacy::connect::proxy::Tunnel;

        let Some(Encryption { config, proxies }) = &self.0.tls else {
            return unsupported(crate::transport::PLAIN_HTTP);
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

fn failed(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> TransportError {
    TransportError::new(TransportErrorKind::Connect, cause)
}

#[cfg(feature = "__rustls")]
fn failed_handshake(cause: Box<dyn StdError + Send + Sync>) -> TransportError {
    crate::transport::tls::handshake_error(&*cause).unwrap_or_else(|| failed(cause))
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
                Err(failed(io::Error::new(io::ErrorKind::TimedOut, text)))
            })
        })
    }
}
