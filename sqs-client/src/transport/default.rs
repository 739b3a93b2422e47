//! The default transport.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{PoolConfig, TlsConfig, Transport, TransportError};

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
    Ok(Arc::new(super::ReqwestTransport::direct_http(connect_timeout)?))
}

/// The same over hyper, which never uses a proxy for `http` URLs.
#[cfg(not(feature = "reqwest"))]
pub(crate) fn direct_http(connect_timeout: Duration) -> Result<Arc<dyn Transport>, TransportError> {
    let pool = PoolConfig::default().max_idle_per_host(0).connect_timeout(connect_timeout);
    make(pool, &TlsConfig::default(), false)
}

#[cfg(feature = "reqwest")]
fn make(pool: PoolConfig, tls: &TlsConfig, encrypted: bool) -> Result<Arc<dyn Transport>, TransportError> {
    use super::ReqwestTransport;

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
    use super::HyperTransport;

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
        super::TransportErrorKind::Invalid,
        "no transport: enable the feature `reqwest` or `hyper`",
    ))
}

impl fmt::Debug for DefaultTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { pool, tls, .. } = &*self.0;
        f.debug_struct("DefaultTransport").field("pool", pool).field("tls", tls).finish()
    }
}
