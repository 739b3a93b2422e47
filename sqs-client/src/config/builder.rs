//! Builds a configuration, with the method names of aws-sdk-sqs.

use std::sync::Arc;

use super::{
    AppName, BehaviorVersion, Config, DeduplicationIds, IntoRegion, ProvideCredentials, Region,
    SharedCredentialsProvider, StalledStreamProtectionConfig, retry::RetryConfig, timeout::TimeoutConfig,
};
use crate::credentials::{CredentialsCache, CredentialsChain, Environment};
use crate::observe::Observe;
use crate::time::{SharedTimeSource, SystemClock, TimeSource};
use crate::transport::{DefaultTransport, PoolConfig, TlsConfig, Transport};
use crate::wire::checksum::ChecksumPolicy;
use crate::wire::protocol::Protocol;

/// Builds a [`Config`]. Each setting has a method that takes it by value; those with `set_` take an `Option`, as in the AWS SDK.
///
/// ```
/// use sqs_client::config::{Config, Credentials, Region};
///
/// let config = Config::builder()
///     .region(Region::new("us-east-1"))
///     .credentials_provider(Credentials::new("test", "test", None, None, "example"))
///     .endpoint_url("http://localhost:9324")
///     .build();
/// assert_eq!(config.endpoint_url(), Some("http://localhost:9324"));
/// ```
#[derive(Clone, Debug)]
pub struct Builder(Config);

impl Default for Builder {
    fn default() -> Self {
        Self(Config {
            region: None,
            endpoint_url: None,
            use_fips: false,
            use_dual_stack: false,
            credentials: None,
            environment: None,
            allow_no_auth: false,
            protocol: Protocol::default(),
            retry_config: RetryConfig::standard(),
            timeout_config: TimeoutConfig::builder().build(),
            exact_timeouts: false,
            checksum_policy: ChecksumPolicy::default(),
            deduplication_ids: DeduplicationIds::default(),
            validate_input: false,
            correct_clock_skew: true,
            app_name: None,
            time_source: SharedTimeSource::new(SystemClock),
            transport: None,
            pool: PoolConfig::default(),
            tls: TlsConfig::default(),
            default_transport: DefaultTransport::new(PoolConfig::default(), TlsConfig::default()),
            observer: None,
        })
    }
}

impl Builder {
    /// A builder with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn from_config(config: Config) -> Self {
        Self(config)
    }

    /// Takes credentials from the chain of providers, which is made when the configuration is built.
    pub(super) fn credentials_of(mut self, environment: Environment) -> Self {
        self.0.credentials = None;
        self.0.environment = Some(environment);
        self
    }

    pub(super) fn config(&self) -> &Config {
        &self.0
    }

    /// The region that requests are signed for and, without an endpoint URL, sent to.
    pub fn region(mut self, region: impl IntoRegion) -> Self {
        self.0.region = region.into_region();
        self
    }

    /// Sets or clears the region.
    pub fn set_region(&mut self, region: Option<Region>) -> &mut Self {
        self.0.region = region;
        self
    }

    /// Sends requests to this absolute `http` or `https` URL instead of the region's endpoint.
    pub fn endpoint_url(mut self, url: impl Into<String>) -> Self {
        self.0.endpoint_url = Some(url.into());
        self
    }

    /// Sets or clears the endpoint URL.
    pub fn set_endpoint_url(&mut self, url: Option<String>) -> &mut Self {
        self.0.endpoint_url = url;
        self
    }

    /// Whether to use the region's endpoint with FIPS 140 validated cryptography.
    pub fn use_fips(mut self, use_fips: impl Into<bool>) -> Self {
        self.0.use_fips = use_fips.into();
        self
    }

    /// Whether to use the region's endpoint that has IPv4 and IPv6 addresses.
    pub fn use_dual_stack(mut self, use_dual_stack: impl Into<bool>) -> Self {
        self.0.use_dual_stack = use_dual_stack.into();
        self
    }

    /// Sets or clears the choice of a FIPS endpoint.
    pub fn set_use_fips(&mut self, use_fips: Option<bool>) -> &mut Self {
        self.0.use_fips = use_fips.unwrap_or_default();
        self
    }

    /// Sets or clears the choice of a dual-stack endpoint.
    pub fn set_use_dual_stack(&mut self, use_dual_stack: Option<bool>) -> &mut Self {
        self.0.use_dual_stack = use_dual_stack.unwrap_or_default();
        self
    }

    /// Where credentials come from. They are kept until shortly before they expire.
    pub fn credentials_provider(mut self, provider: impl ProvideCredentials + 'static) -> Self {
        self.set_credentials_provider(Some(SharedCredentialsProvider::new(provider)));
        self
    }

    /// Sets or clears the provider of credentials.
    pub fn set_credentials_provider(&mut self, provider: Option<SharedCredentialsProvider>) -> &mut Self {
        self.0.credentials = provider.map(|provider| Arc::new(CredentialsCache::new(provider)));
        self.0.environment = None;
        self
    }

    /// Sends unsigned requests when there is no provider of credentials, or when the provider has none; some local
    /// servers take them.
    pub fn allow_no_auth(mut self) -> Self {
        self.0.allow_no_auth = true;
        self
    }

    /// The protocol: AWS JSON by default, or Query for services that speak only that one.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.0.protocol = protocol;
        self
    }

    /// How often and how patiently to retry; 3 attempts in the standard mode by default, see [`retry`](super::retry).
    pub fn retry_config(mut self, config: RetryConfig) -> Self {
        self.0.retry_config = config;
        self
    }

    /// Sets the retry settings, or the defaults.
    pub fn set_retry_config(&mut self, config: Option<RetryConfig>) -> &mut Self {
        self.0.retry_config = config.unwrap_or_else(RetryConfig::standard);
        self
    }

    /// How long operations and attempts may take; see [`timeout`](super::timeout).
    pub fn timeout_config(mut self, config: TimeoutConfig) -> Self {
        self.0.timeout_config = config;
        self
    }

    /// Sets the timeout settings, or the defaults.
    pub fn set_timeout_config(&mut self, config: Option<TimeoutConfig>) -> &mut Self {
        self.0.timeout_config = config.unwrap_or_else(|| TimeoutConfig::builder().build());
        self
    }

    /// How strictly the MD5s of messages are verified; every one by default.
    pub fn checksum_policy(mut self, policy: ChecksumPolicy) -> Self {
        self.0.checksum_policy = policy;
        self
    }

    /// Who chooses deduplication ids for messages to FIFO queues; the caller by default.
    pub fn deduplication_ids(mut self, policy: DeduplicationIds) -> Self {
        self.0.deduplication_ids = policy;
        self
    }

    /// Checks inputs against the documented rules before sending, off by default: errors come sooner and cost no
    /// request, while rules that the service has since relaxed would still be enforced here.
    pub fn validate_input(mut self, validate: bool) -> Self {
        self.0.validate_input = validate;
        self
    }

    /// Whether a clock that the service finds wrong is corrected by the service's own; on by default.
    pub fn disable_clock_skew_correction(mut self, disable: impl Into<Option<bool>>) -> Self {
        self.0.correct_clock_skew = !disable.into().unwrap_or(false);
        self
    }

    /// Names the application in the user agent.
    pub fn app_name(mut self, name: AppName) -> Self {
        self.0.app_name = Some(name);
        self
    }

    /// Sets or clears the name of the application.
    pub fn set_app_name(&mut self, name: Option<AppName>) -> &mut Self {
        self.0.app_name = name;
        self
    }

    /// Where the time of day comes from, for signatures and the expiry of credentials.
    pub fn time_source(mut self, time_source: impl TimeSource + 'static) -> Self {
        self.0.time_source = SharedTimeSource::new(time_source);
        self
    }

    /// Sets the source of the time of day, or the system's clock.
    pub fn set_time_source(&mut self, time_source: Option<SharedTimeSource>) -> &mut Self {
        self.0.time_source = time_source.unwrap_or_else(|| SharedTimeSource::new(SystemClock));
        self
    }

    /// Sends requests with this transport instead of the default one. It has its own connections and TLS settings:
    /// [`pool_config`](Self::pool_config) and [`tls_config`](Self::tls_config) apply to the default transport only.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.0.transport = Some(Arc::new(transport));
        self
    }

    /// Sets the transport, or the default one.
    pub fn set_transport(&mut self, transport: Option<Arc<dyn Transport>>) -> &mut Self {
        self.0.transport = transport;
        self
    }

    /// How the default transport makes and keeps connections. A connect timeout in
    /// [`timeout_config`](Self::timeout_config) overrides the one of the pool.
    pub fn pool_config(mut self, pool: PoolConfig) -> Self {
        self.0.pool = pool;
        self
    }

    /// Which root certificates the default transport trusts: those of the platform by default.
    pub fn tls_config(mut self, tls: TlsConfig) -> Self {
        self.0.tls = tls;
        self
    }

    /// Sets the TLS settings, or the defaults.
    pub fn set_tls_config(&mut self, tls: Option<TlsConfig>) -> &mut Self {
        self.0.tls = tls.unwrap_or_default();
        self
    }

    /// Is told about every call, for metrics.
    pub fn observer(mut self, observer: impl Observe) -> Self {
        self.0.observer = Some(Arc::new(observer));
        self
    }

    /// Accepted for compatibility with the AWS SDK; this crate has one behaviour per release.
    pub fn behavior_version(self, _: BehaviorVersion) -> Self {
        self
    }

    /// Accepted for compatibility with the AWS SDK; this crate has one behaviour per release.
    pub fn behavior_version_latest(self) -> Self {
        self
    }

    /// Accepted for compatibility with the AWS SDK; this crate has one behaviour per release.
    pub fn set_behavior_version(&mut self, _: Option<BehaviorVersion>) -> &mut Self {
        self
    }

    /// Accepted for compatibility with the AWS SDK; here the timeout of an attempt bounds its answer too.
    pub fn stalled_stream_protection(self, _: StalledStreamProtectionConfig) -> Self {
        self
    }

    /// The finished configuration. What it lacks shows as an error of the first call.
    pub fn build(mut self) -> Config {
        let mut pool = self.0.pool;
        if let Some(timeout) = self.0.timeout_config.connect_timeout() {
            pool.connect_timeout = timeout;
        }
        self.0.default_transport = self.0.default_transport.with(pool, self.0.tls.clone());
        // Only now, since the chain uses region, clock and TLS settings of this builder.
        if let Some(mut environment) = self.0.environment.take() {
            let of_endpoint = || self.0.endpoint().ok()?.region().map(str::to_owned);
            let region = self.0.region.as_ref().map(ToString::to_string).or_else(of_endpoint);
            if let Some(region) = region {
                environment = environment.region(region);
            }
            environment = environment.time_source(self.0.time_source.clone()).tls(self.0.tls.clone());
            let provider = SharedCredentialsProvider::new(CredentialsChain::new(&environment));
            self.0.credentials = Some(Arc::new(CredentialsCache::new(provider)));
        }
        self.0
    }
}
