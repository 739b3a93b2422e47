//! The configuration builder, with the method names of aws-sdk-sqs.

use std::sync::Arc;
use std::time::Duration;

use super::{
    AppName, BehaviorVersion, Config, DeduplicationIds, IntoRegion, ProvideCredentials, Region,
    SharedCredentialsProvider, StalledStreamProtectionConfig, retry::RetryConfig, timeout::TimeoutConfig,
};
use crate::credentials::{CredentialsSource, EndpointVariant, Environment};
use crate::observe::Observe;
use crate::time::{SharedTimeSource, SystemClock, TimeSource};
use crate::transport::{DefaultTransport, PoolConfig, TlsConfig, Transport, connect_timeout};
use crate::wire::checksum::ChecksumPolicy;
use crate::wire::protocol::Protocol;

/// Builds a [`Config`]. Each setting has a method that takes a value. Methods with `set_` take an `Option`, as in the AWS SDK.
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

    /// Uses the default credentials chain. `build` creates it.
    pub(super) fn credentials_of(mut self, environment: Environment) -> Self {
        self.0.credentials = None;
        self.0.environment = Some(environment);
        self
    }

    pub(super) fn config(&self) -> &Config {
        &self.0
    }

    /// The region for signatures and, without an endpoint URL, for the endpoint.
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

    /// Whether to use the region's FIPS endpoint; off by default.
    pub fn use_fips(mut self, use_fips: impl Into<bool>) -> Self {
        self.0.use_fips = use_fips.into();
        self
    }

    /// Whether to use the region's dual-stack endpoint (IPv4 and IPv6); off by default.
    pub fn use_dual_stack(mut self, use_dual_stack: impl Into<bool>) -> Self {
        self.0.use_dual_stack = use_dual_stack.into();
        self
    }

    /// Sets whether to use the FIPS endpoint, or the default.
    pub fn set_use_fips(&mut self, use_fips: Option<bool>) -> &mut Self {
        self.0.use_fips = use_fips.unwrap_or_default();
        self
    }

    /// Sets whether to use the dual-stack endpoint, or the default.
    pub fn set_use_dual_stack(&mut self, use_dual_stack: Option<bool>) -> &mut Self {
        self.0.use_dual_stack = use_dual_stack.unwrap_or_default();
        self
    }

    /// The credentials provider. The client caches credentials and renews them before they expire.
    pub fn credentials_provider(mut self, provider: impl ProvideCredentials + 'static) -> Self {
        self.set_credentials_provider(Some(SharedCredentialsProvider::new(provider)));
        self
    }

    /// Sets or clears the credentials provider.
    pub fn set_credentials_provider(&mut self, provider: Option<SharedCredentialsProvider>) -> &mut Self {
        self.0.credentials = provider.map(CredentialsSource::cached);
        self.0.environment = None;
        self
    }

    /// Sets a provider that has a cache: the client calls it for each request.
    #[cfg(feature = "sdk")]
    pub(crate) fn uncached_credentials(mut self, provider: SharedCredentialsProvider) -> Self {
        self.0.credentials = Some(CredentialsSource::Uncached(provider));
        self.0.environment = None;
        self
    }

    /// Sends unsigned requests if no credentials provider is set or the provider has no credentials. Some local servers
    /// accept them.
    pub fn allow_no_auth(mut self) -> Self {
        self.0.allow_no_auth = true;
        self
    }

    /// The protocol: AWS JSON by default, or Query for services that support only Query.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.0.protocol = protocol;
        self
    }

    /// The retry settings: 3 attempts in standard mode by default. See [`retry`](super::retry).
    pub fn retry_config(mut self, config: RetryConfig) -> Self {
        self.0.retry_config = config;
        self
    }

    /// Sets the retry settings, or restores the defaults.
    pub fn set_retry_config(&mut self, config: Option<RetryConfig>) -> &mut Self {
        self.0.retry_config = config.unwrap_or_else(RetryConfig::standard);
        self
    }

    /// The timeouts of operations and attempts. See [`timeout`](super::timeout).
    pub fn timeout_config(mut self, config: TimeoutConfig) -> Self {
        self.0.timeout_config = config;
        self
    }

    /// Sets the timeouts, or restores the defaults.
    pub fn set_timeout_config(&mut self, config: Option<TimeoutConfig>) -> &mut Self {
        self.0.timeout_config = config.unwrap_or_else(|| TimeoutConfig::builder().build());
        self
    }

    /// How strictly MD5 checksums are verified. By default, all are required and verified.
    pub fn checksum_policy(mut self, policy: ChecksumPolicy) -> Self {
        self.0.checksum_policy = policy;
        self
    }

    /// Whether the client generates deduplication ids for messages to FIFO queues; off by default.
    pub fn deduplication_ids(mut self, policy: DeduplicationIds) -> Self {
        self.0.deduplication_ids = policy;
        self
    }

    /// Whether to check inputs against the documented rules before sending; off by default. Invalid input then fails
    /// without a request. A rule that SQS has relaxed since this release is still enforced.
    pub fn validate_input(mut self, validate: bool) -> Self {
        self.0.validate_input = validate;
        self
    }

    /// Whether to disable clock skew correction. By default, if SQS rejects a signature because the local clock is wrong,
    /// the client signs with the time of the service.
    pub fn disable_clock_skew_correction(mut self, disable: impl Into<Option<bool>>) -> Self {
        self.0.correct_clock_skew = !disable.into().unwrap_or(false);
        self
    }

    /// The application name in the user agent.
    pub fn app_name(mut self, name: AppName) -> Self {
        self.0.app_name = Some(name);
        self
    }

    /// Sets or clears the application name.
    pub fn set_app_name(&mut self, name: Option<AppName>) -> &mut Self {
        self.0.app_name = name;
        self
    }

    /// The clock for signatures and the expiry of credentials.
    pub fn time_source(mut self, time_source: impl TimeSource + 'static) -> Self {
        self.0.time_source = SharedTimeSource::new(time_source);
        self
    }

    /// Sets the clock, or restores the system clock.
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

    /// Sets the transport, or restores the default one.
    pub fn set_transport(&mut self, transport: Option<Arc<dyn Transport>>) -> &mut Self {
        self.0.transport = transport;
        self
    }

    /// The connection pool of the default transport. A connect timeout in [`timeout_config`](Self::timeout_config)
    /// overrides the one of the pool.
    pub fn pool_config(mut self, pool: PoolConfig) -> Self {
        self.0.pool = pool;
        self
    }

    /// The TLS settings of the default transport. By default it trusts the platform's root certificates.
    pub fn tls_config(mut self, tls: TlsConfig) -> Self {
        self.0.tls = tls;
        self
    }

    /// Sets the TLS settings, or restores the defaults.
    pub fn set_tls_config(&mut self, tls: Option<TlsConfig>) -> &mut Self {
        self.0.tls = tls.unwrap_or_default();
        self
    }

    /// Receives a report of every call, for metrics.
    pub fn observer(mut self, observer: impl Observe) -> Self {
        self.0.observer = Some(Arc::new(observer));
        self
    }

    /// Has no effect; accepted for compatibility with the AWS SDK. Each release of this crate has one behaviour.
    pub fn behavior_version(self, _: BehaviorVersion) -> Self {
        self
    }

    /// Has no effect; accepted for compatibility with the AWS SDK. Each release of this crate has one behaviour.
    pub fn behavior_version_latest(self) -> Self {
        self
    }

    /// Has no effect; accepted for compatibility with the AWS SDK. Each release of this crate has one behaviour.
    pub fn set_behavior_version(&mut self, _: Option<BehaviorVersion>) -> &mut Self {
        self
    }

    /// Has no effect; accepted for compatibility with the AWS SDK. The attempt timeout covers the response body.
    pub fn stalled_stream_protection(self, _: StalledStreamProtectionConfig) -> Self {
        self
    }

    /// Builds the configuration. If the region, the credentials or the transport are missing, calls fail with an error that
    /// names the missing setting.
    pub fn build(mut self) -> Config {
        let mut pool = self.0.pool;
        pool.connect_timeout =
            connect_timeout(&self.0.timeout_config, pool.connect_timeout).unwrap_or(Duration::MAX);
        self.0.default_transport = self.0.default_transport.with(pool, self.0.tls.clone());
        // The chain uses the region, clock and TLS settings of this builder, so they must be final.
        if let Some(mut environment) = self.0.environment.take() {
            let of_endpoint = || self.0.endpoint().ok()?.region().map(str::to_owned);
            let region = self.0.region.as_ref().map(ToString::to_string).or_else(of_endpoint);
            if let (None, Some(region)) = (environment.configured_region(), region) {
                environment = environment.region(region);
            }
            environment.time_source.get_or_insert_with(|| self.0.time_source.clone());
            environment.tls.get_or_insert_with(|| self.0.tls.clone());
            let (use_fips, use_dual_stack) = (self.0.use_fips, self.0.use_dual_stack);
            environment.endpoint_variant = Some(EndpointVariant { use_fips, use_dual_stack });
            self.0.credentials = Some(CredentialsSource::chain(&environment));
        }
        self.0
    }
}
