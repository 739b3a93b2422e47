//! State that the clones of a client share.

use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, OnceLock};

use http::HeaderValue;
use tokio::time::Instant;

use crate::config::Config;
use crate::config::retry::RetryMode;
use crate::credentials::CredentialsSource;
use crate::endpoint::{Endpoint, EndpointError};
use crate::error::Cause;
use crate::retry::{Policy, RateLimiter, TokenBucket};
use crate::transport::Transport;
use crate::wire::sign::Signer;

pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) endpoint: Result<Endpoint, EndpointError>,
    /// Created by the first call.
    transport: OnceLock<Arc<dyn Transport>>,
    pub(super) credentials: Option<CredentialsSource>,
    pub(super) signer: Signer,
    pub(super) policy: Policy,
    /// Locked for a few instructions after each call and each failed attempt; never held across an await.
    pub(super) bucket: Arc<Mutex<TokenBucket>>,
    /// Adaptive mode only. Locked for a few instructions before and after each attempt.
    pub(super) limiter: Option<Arc<Mutex<RateLimiter>>>,
    /// Seconds by which the service's clock is ahead of the local one.
    pub(super) skew: Arc<AtomicI64>,
    pub(super) user_agent: HeaderValue,
    pub(super) host: HeaderValue,
    pub(super) started: Instant,
}

impl Shared {
    pub(super) fn new(config: Config) -> Self {
        let endpoint = config.endpoint();
        Self {
            transport: OnceLock::new(),
            credentials: config.credentials.clone(),
            signer: Signer::default(),
            policy: Policy::from(&config.retry_config),
            bucket: Arc::default(),
            limiter: (config.retry_config.mode() == RetryMode::Adaptive).then(Arc::default),
            skew: Arc::default(),
            user_agent: user_agent(&config),
            host: HeaderValue::from_str(endpoint.as_ref().map_or("", Endpoint::host))
                .unwrap_or(HeaderValue::from_static("")),
            started: Instant::now(),
            endpoint,
            config,
        }
    }

    /// The same client with other settings. It shares the retry budget, the clock correction and, with
    /// `same_credentials`, the credentials. Connections are shared through the configuration.
    #[cfg(feature = "sdk")]
    pub(super) fn with_config(&self, config: Config, same_credentials: bool) -> Self {
        let mut derived = Self::new(config);
        if same_credentials {
            derived.credentials.clone_from(&self.credentials);
        }
        if let (Some(limiter), Some(shared)) = (&mut derived.limiter, &self.limiter) {
            *limiter = Arc::clone(shared);
        }
        derived.bucket = Arc::clone(&self.bucket);
        derived.skew = Arc::clone(&self.skew);
        derived.started = self.started;
        derived
    }

    /// The transport. The first call creates it.
    pub(super) fn transport(&self) -> Result<&Arc<dyn Transport>, Cause> {
        if let Some(transport) = self.transport.get() {
            return Ok(transport);
        }
        let transport = match &self.config.transport {
            Some(transport) => Arc::clone(transport),
            None => self.default_transport()?,
        };
        Ok(self.transport.get_or_init(|| transport))
    }

    fn default_transport(&self) -> Result<Arc<dyn Transport>, Cause> {
        let endpoint = self.endpoint.as_ref().map_err(|error| Cause::Endpoint(error.clone()))?;
        let encrypted = endpoint.uri().scheme_str() == Some("https");
        if cfg!(not(any(feature = "reqwest", feature = "hyper"))) {
            return Err(Cause::NoTransport);
        }
        if encrypted && cfg!(not(feature = "__rustls")) {
            return Err(Cause::NoTls);
        }
        self.config.default_transport.get(encrypted).map_err(Cause::Transport)
    }
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
