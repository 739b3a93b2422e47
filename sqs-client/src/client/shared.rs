//! What the clones of a client share.

use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

use http::HeaderValue;
use tokio::time::Instant;

use crate::config::Config;
use crate::config::retry::RetryMode;
use crate::credentials::CredentialsCache;
use crate::endpoint::{Endpoint, EndpointError, EndpointParameters};
use crate::error::Cause;
use crate::retry::{Policy, RateLimiter, TokenBucket};
use crate::sign::Signer;
use crate::transport::Transport;

pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) endpoint: Result<Endpoint, EndpointError>,
    pub(super) transport: Result<Arc<dyn Transport>, Cause>,
    pub(super) credentials: Option<Arc<CredentialsCache>>,
    pub(super) signer: Signer,
    pub(super) policy: Policy,
    /// Taken for a few instructions after each call and each failed attempt; nobody waits while holding it.
    pub(super) bucket: Mutex<TokenBucket>,
    /// In adaptive mode only; taken for a few instructions before and after each attempt.
    pub(super) limiter: Option<Mutex<RateLimiter>>,
    /// Seconds that the service's clock is ahead of ours.
    pub(super) skew: AtomicI64,
    pub(super) user_agent: HeaderValue,
    pub(super) host: HeaderValue,
    pub(super) started: Instant,
}

impl Shared {
    pub(super) fn new(config: Config) -> Self {
        let endpoint = Endpoint::resolve(EndpointParameters {
            region: config.region.as_ref().map(AsRef::as_ref),
            endpoint_url: config.endpoint_url.as_deref(),
            use_fips: config.use_fips,
            use_dual_stack: config.use_dual_stack,
        });
        let encrypted = endpoint.as_ref().is_ok_and(|endpoint| endpoint.uri().scheme_str() == Some("https"));
        Self {
            transport: transport(&config, encrypted),
            credentials: config
                .credentials_provider
                .clone()
                .map(|provider| Arc::new(CredentialsCache::new(provider))),
            signer: Signer::default(),
            policy: Policy::from(&config.retry_config),
            bucket: Mutex::default(),
            limiter: (config.retry_config.mode() == RetryMode::Adaptive).then(Mutex::default),
            skew: AtomicI64::new(0),
            user_agent: user_agent(&config),
            host: HeaderValue::from_str(endpoint.as_ref().map_or("", Endpoint::host))
                .unwrap_or(HeaderValue::from_static("")),
            started: Instant::now(),
            endpoint,
            config,
        }
    }
}

fn transport(config: &Config, encrypted: bool) -> Result<Arc<dyn Transport>, Cause> {
    if let Some(transport) = &config.transport {
        return Ok(Arc::clone(transport));
    }
    default_transport(config, encrypted)
}

#[cfg(feature = "reqwest")]
fn default_transport(config: &Config, encrypted: bool) -> Result<Arc<dyn Transport>, Cause> {
    use crate::transport::ReqwestTransport;

    if encrypted && cfg!(not(any(feature = "rustls", feature = "native-tls"))) {
        return Err(Cause::NoTls);
    }
    let mut pool = config.pool;
    if let Some(timeout) = config.timeout_config.connect_timeout() {
        pool.connect_timeout = timeout;
    }
    let transport = if encrypted { ReqwestTransport::new(pool) } else { ReqwestTransport::plain_http(pool) };
    Ok(Arc::new(transport.map_err(Cause::Transport)?))
}

#[cfg(not(feature = "reqwest"))]
fn default_transport(_: &Config, _: bool) -> Result<Arc<dyn Transport>, Cause> {
    Err(Cause::NoTransport)
}

fn user_agent(config: &Config) -> HeaderValue {
    const PRODUCT: &str = concat!("sqs-client-rust/", env!("CARGO_PKG_VERSION"));
    let os = std::env::consts::OS;
    let text = match &config.app_name {
        Some(name) => format!("{PRODUCT} os/{os} app/{}", name.as_ref()),
        None => format!("{PRODUCT} os/{os}"),
    };
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(PRODUCT))
}
