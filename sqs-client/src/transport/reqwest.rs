//! The transport over reqwest: HTTP/1.1 with a pool of kept connections.

use std::error::Error as StdError;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::Uri;
use reqwest::Url;

use super::{Transport, TransportError, TransportErrorKind, TransportFuture};

/// Bytes that an answer may have: ten messages of 1 MiB in their longest encoding (XML, `&quot;`), and some.
const MAX_ANSWER_BYTES: usize = 72 * 1_048_576;

/// How connections are made and kept.
///
/// SQS speaks HTTP/1.1, so a request has a connection to itself until its answer is complete. A long poll keeps
/// one for up to 20 seconds: a process with 50 receivers and 20 concurrent senders uses 70 connections. Keeping
/// fewer idle ones than that costs a TLS handshake for each request above the number; keeping them longer
/// than the service does costs a retry now and then.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PoolConfig {
    /// Idle connections kept per host; without a bound by default, since each was in use at the same time once.
    pub max_idle_per_host: usize,
    /// How long an idle connection is kept: 20 seconds by default, less than any AWS load balancer keeps it.
    pub idle_timeout: Duration,
    /// How long making a connection may take: 3.1 seconds by default, as in the AWS SDKs.
    pub connect_timeout: Duration,
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
    /// Sets how many idle connections are kept per host.
    pub fn max_idle_per_host(mut self, connections: usize) -> Self {
        self.max_idle_per_host = connections;
        self
    }

    /// Sets how long an idle connection is kept.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets how long making a connection may take.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }
}

/// Sends requests with reqwest. Proxies are taken from the environment (`HTTPS_PROXY`, `NO_PROXY`).
#[derive(Clone, Debug)]
pub struct ReqwestTransport {
    client: reqwest::Client,
    /// That of the last request, since a client posts to one URL: comparing it costs less than reading it again.
    /// Locked for a comparison and a copy.
    last: Arc<RwLock<Option<(Uri, Url)>>>,
}

impl ReqwestTransport {
    /// A transport with a pool of its own, for `https` and `http` URLs.
    ///
    /// # Errors
    /// TLS cannot be set up, for instance because the platform has no certificates.
    pub fn new(pool: PoolConfig) -> Result<Self, TransportError> {
        Self::build(pool, true)
    }

    /// A transport for `http` URLs alone. The platform's certificates are not loaded, which takes a while and which
    /// a container may not have.
    ///
    /// # Errors
    /// None is known.
    pub fn plain_http(pool: PoolConfig) -> Result<Self, TransportError> {
        Self::build(pool, false)
    }

    /// Uses a client that is configured elsewhere. It must not follow redirects.
    pub fn from_client(client: reqwest::Client) -> Self {
        Self { client, last: Arc::default() }
    }

    fn build(pool: PoolConfig, encrypted: bool) -> Result<Self, TransportError> {
        let builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            // The client above repeats requests. Only without any retries are they not copied for it: `never` copies.
            .retry(reqwest::retry::never().max_retries_per_request(0))
            .http1_only()
            .tcp_nodelay(true)
            .pool_max_idle_per_host(pool.max_idle_per_host)
            .pool_idle_timeout(pool.idle_timeout)
            .connect_timeout(pool.connect_timeout);
        let client = with_tls(builder, encrypted)?.build().map_err(invalid)?;
        Ok(Self::from_client(client))
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
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some((uri.clone(), url.clone()));
        Ok(url)
    }
}

#[cfg(feature = "rustls")]
fn with_tls(
    builder: reqwest::ClientBuilder,
    encrypted: bool,
) -> Result<reqwest::ClientBuilder, TransportError> {
    use rustls_platform_verifier::BuilderVerifierExt as _;

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(invalid)?;
    let config = if encrypted {
        config.with_platform_verifier().map_err(invalid)?
    } else {
        config.with_root_certificates(rustls::RootCertStore::empty())
    };
    Ok(builder.tls_backend_preconfigured(config.with_no_client_auth()))
}

#[cfg(not(feature = "rustls"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature of its twin")]
fn with_tls(builder: reqwest::ClientBuilder, _: bool) -> Result<reqwest::ClientBuilder, TransportError> {
    Ok(builder)
}

impl Transport for ReqwestTransport {
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            let mut answer = self.client.execute(self.converted(request)?).await.map_err(failed)?;
            let mut response = http::Response::new(Bytes::new());
            *response.status_mut() = answer.status();
            *response.headers_mut() = std::mem::take(answer.headers_mut());
            *response.body_mut() = read(&mut answer).await?;
            Ok(response)
        })
    }
}

/// Reads the body; one that comes in one piece is not copied.
async fn read(answer: &mut reqwest::Response) -> Result<Bytes, TransportError> {
    let Some(first) = answer.chunk().await.map_err(failed)? else {
        return Ok(Bytes::new());
    };
    let Some(second) = answer.chunk().await.map_err(failed)? else {
        return Ok(first);
    };
    let mut body = BytesMut::from(first);
    let mut next = Some(second);
    while let Some(chunk) = next {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            let cause = format!("the answer is longer than {MAX_ANSWER_BYTES} bytes");
            return Err(TransportError::new(TransportErrorKind::TooLarge, cause));
        }
        body.extend_from_slice(&chunk);
        next = answer.chunk().await.map_err(failed)?;
    }
    Ok(body.freeze())
}

fn invalid(cause: impl StdError + Send + Sync + 'static) -> TransportError {
    TransportError::new(TransportErrorKind::Invalid, cause)
}

fn failed(cause: reqwest::Error) -> TransportError {
    let kind = if is_tls(&cause) {
        TransportErrorKind::Tls
    } else if cause.is_connect() {
        TransportErrorKind::Connect
    } else if cause.is_builder() {
        TransportErrorKind::Invalid
    } else {
        TransportErrorKind::Broken
    };
    // The URL is the endpoint's and says nothing new; the cause behind it does.
    TransportError::new(kind, cause.without_url())
}

/// Whether the reason, somewhere down the chain of sources, is the security of the connection.
#[cfg(feature = "rustls")]
fn is_tls(cause: &(dyn StdError + 'static)) -> bool {
    let wrapped = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    cause.is::<rustls::Error>()
        || wrapped.is_some_and(|inner| is_tls(inner))
        || cause.source().is_some_and(is_tls)
}

#[cfg(not(feature = "rustls"))]
fn is_tls(_: &(dyn StdError + 'static)) -> bool {
    false
}
