//! The transport over reqwest: HTTP/1.1 with a connection pool.

use std::error::Error as StdError;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use http::Uri;
use reqwest::Url;

use super::answer::{self, Chunks};
use super::{PoolConfig, TlsConfig, Transport, TransportError, TransportErrorKind, TransportFuture};

/// Sends requests with reqwest. It uses the proxies from the environment (`HTTPS_PROXY`, `NO_PROXY`).
#[derive(Clone, Debug)]
pub struct ReqwestTransport {
    client: reqwest::Client,
    /// Whether certificates are loaded, so that `https` URLs are supported.
    encrypted: bool,
    /// The parsed URL of the last request. A client posts to one URL, and comparing it is cheaper than parsing it again.
    /// Locked only for a comparison and a copy.
    last: Arc<RwLock<Option<(Uri, Url)>>>,
}

impl ReqwestTransport {
    /// A transport with its own pool, for `https` and `http` URLs, with the default TLS settings.
    ///
    /// # Errors
    /// TLS cannot be configured, for example because the platform has no root certificates.
    pub fn new(pool: PoolConfig) -> Result<Self, TransportError> {
        Self::with_tls(pool, &TlsConfig::default())
    }

    /// A transport with its own pool, for `https` and `http` URLs.
    ///
    /// # Errors
    /// TLS cannot be configured, for example because a file with root certificates cannot be read.
    pub fn with_tls(pool: PoolConfig, tls: &TlsConfig) -> Result<Self, TransportError> {
        Ok(Self::from_client(encrypted(builder(pool), tls)?.build().map_err(invalid)?))
    }

    /// A transport for `http` URLs only. It loads no certificates, which saves some milliseconds and works in containers
    /// without certificates.
    ///
    /// # Errors
    /// reqwest cannot create a client.
    pub fn plain_http(pool: PoolConfig) -> Result<Self, TransportError> {
        let client = unencrypted(builder(pool))?.build().map_err(invalid)?;
        Ok(Self { encrypted: false, ..Self::from_client(client) })
    }

    /// A transport for local `http` URLs, such as those of metadata services. It uses no proxy and keeps no idle connections.
    pub(crate) fn direct_http(connect_timeout: std::time::Duration) -> Result<Self, TransportError> {
        let pool = PoolConfig::default().max_idle_per_host(0).connect_timeout(connect_timeout);
        let client = unencrypted(builder(pool).no_proxy())?.build().map_err(invalid)?;
        Ok(Self { encrypted: false, ..Self::from_client(client) })
    }

    /// Uses the given client. It must not follow redirects.
    pub fn from_client(client: reqwest::Client) -> Self {
        Self { client, encrypted: true, last: Arc::default() }
    }
}

impl ReqwestTransport {
    fn converted(&self, request: http::Request<Bytes>) -> Result<reqwest::Request, TransportError> {
        let (parts, body) = request.into_parts();
        let mut converted = reqwest::Request::new(parts.method, self.url(&parts.uri)?);
        *converted.headers_mut() = parts.headers;
        *converted.body_mut() = Some(body.into());
        Ok(converted)
    }

    fn url(&self, uri: &Uri) -> Result<Url, TransportError> {
        if let Some((last, url)) = &*self.last.read().unwrap_or_else(PoisonError::into_inner)
            && last == uri
        {
            return Ok(url.clone());
        }
        let url = Url::parse(&uri.to_string()).map_err(invalid)?;
        if !self.encrypted && url.scheme() == "https" {
            return Err(TransportError::new(TransportErrorKind::Invalid, super::PLAIN_HTTP));
        }
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some((uri.clone(), url.clone()));
        Ok(url)
    }
}

fn builder(pool: PoolConfig) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        // `Client` retries requests. `never()` alone would still clone each request; a limit of zero avoids that.
        .retry(reqwest::retry::never().max_retries_per_request(0))
        .http1_only()
        .tcp_nodelay(true)
        .pool_max_idle_per_host(pool.max_idle_per_host)
        .pool_idle_timeout(pool.idle_limit())
        .connect_timeout(pool.connect_timeout)
}

#[cfg(feature = "__rustls")]
fn encrypted(
    builder: reqwest::ClientBuilder,
    tls: &TlsConfig,
) -> Result<reqwest::ClientBuilder, TransportError> {
    Ok(builder.tls_backend_preconfigured(Arc::unwrap_or_clone(tls.client_config()?)))
}

#[cfg(not(feature = "__rustls"))]
#[expect(clippy::unnecessary_wraps, reason = "same signature with all features")]
fn encrypted(
    builder: reqwest::ClientBuilder,
    _: &TlsConfig,
) -> Result<reqwest::ClientBuilder, TransportError> {
    Ok(builder)
}

#[cfg(feature = "__rustls")]
fn unencrypted(builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder, TransportError> {
    // Otherwise reqwest would load the platform's certificates.
    Ok(builder.tls_backend_preconfigured(super::rustls::unused()?))
}

#[cfg(not(feature = "__rustls"))]
#[expect(clippy::unnecessary_wraps, reason = "same signature with all features")]
fn unencrypted(builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder, TransportError> {
    Ok(builder)
}

impl Transport for ReqwestTransport {
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            let mut received = self.client.execute(self.converted(request)?).await.map_err(failed)?;
            let mut response = http::Response::new(Bytes::new());
            *response.status_mut() = received.status();
            *response.headers_mut() = std::mem::take(received.headers_mut());
            *response.body_mut() = answer::read(&mut received).await?;
            Ok(response)
        })
    }
}

impl Chunks for reqwest::Response {
    fn announced(&self) -> Option<u64> {
        self.content_length()
    }

    async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        self.chunk().await.map_err(failed)
    }
}

fn invalid(cause: impl StdError + Send + Sync + 'static) -> TransportError {
    TransportError::new(TransportErrorKind::Invalid, cause)
}

fn failed(cause: reqwest::Error) -> TransportError {
    // The text with URL would repeat the endpoint and hide the cause.
    let cause = cause.without_url();
    let kind = if cause.is_connect() {
        #[cfg(feature = "__rustls")]
        if let Some(error) = super::rustls::handshake_error(&cause) {
            return error;
        }
        TransportErrorKind::Connect
    } else if cause.is_timeout() {
        TransportErrorKind::Timeout
    } else if cause.is_builder() {
        TransportErrorKind::Invalid
    } else {
        TransportErrorKind::Broken
    };
    TransportError::new(kind, cause)
}
