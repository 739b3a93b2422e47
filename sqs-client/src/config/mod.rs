//! Client configuration: region, endpoint, credentials, retries, timeouts, transport.
//!
//! Create a [`Builder`] in one of three ways, then change its settings:
//!
//! - from environment variables and profiles: [`Builder::from_env`] or [`Builder::load`]
//! - in code: [`Config::builder`]
//! - from an `aws_types::SdkConfig`: `Builder::from(&sdk_config)`, with the feature `aws-config`
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use sqs_client::config::retry::RetryConfig;
//! use sqs_client::config::timeout::TimeoutConfig;
//! use sqs_client::config::{Builder, Region};
//!
//! let config = Builder::from_env()?
//!     .region(Region::new("eu-west-1"))
//!     .retry_config(RetryConfig::standard().with_max_attempts(5))
//!     .timeout_config(TimeoutConfig::builder().operation_timeout(Duration::from_secs(60)).build())
//!     .build();
//! let client = sqs_client::Client::from_conf(config);
//! # Ok::<(), sqs_client::config::ConfigError>(())
//! ```
//!
//! `build()` never fails. If a setting is missing, such as the region, calls fail with an error that names it.

mod environment;
#[cfg(feature = "aws-config")]
mod sdk_config;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::config::retry::RetryConfig;
use crate::config::timeout::TimeoutConfig;
use crate::credentials::{CredentialsSource, Environment};
use crate::endpoint::{Endpoint, EndpointError, EndpointParameters};
use crate::observe::Observe;
use crate::settings::Settings;
use crate::time::{SharedTimeSource, SystemClock, TimeSource};
use crate::transport::{DefaultTransport, PoolConfig, TlsConfig, Transport, connect_timeout};

#[doc(hidden)]
pub use crate::endpoint::redacted;
pub use crate::settings::ConfigError;
pub use crate::wire::checksum::ChecksumPolicy;
pub use crate::wire::protocol::Protocol;
pub use aws_credential_types::Credentials;
pub use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
#[cfg(feature = "aws-config")]
#[doc(hidden)]
pub use sdk_config::endpoint_url;

/// Retry settings: the types of the AWS SDK.
///
/// The client retries a failed attempt if the error is retryable and the retry budget is not exhausted. The budget has
/// 500 tokens: a retry costs 5, or 10 after a timeout. A success returns 1, or what its last retry took.
/// So retries do not multiply the load during an outage.
///
/// `standard` makes 3 attempts. The first pause is random: up to 1 s after throttling, up to 50 ms otherwise. A
/// configured `initial_backoff` other than 1 s (its default) replaces both limits. The limit doubles per attempt up to
/// `max_backoff` (20 s). If the service requests a longer pause (`x-amz-retry-after`), the client waits up to 5 s
/// longer. If the budget is exhausted, a receive still pauses before it fails, so that a loop of receives does not
/// spin.
///
/// `adaptive` is treated as `standard`: the retry budget bounds the load, and the client does not limit its request rate.
pub mod retry {
    pub use aws_smithy_types::retry::{RetryConfig, RetryConfigBuilder, RetryMode};
}

/// Timeout settings: the types of the AWS SDK.
///
/// `operation_attempt_timeout` and `read_timeout` limit one attempt: the smaller one counts. If both are unset, the limit is 30 s
/// (the AWS SDK has no default). The wait time of a receive is added, so the limit never cuts a long poll.
/// `disable_operation_attempt_timeout()` and [`TimeoutConfig::disabled`](timeout::TimeoutConfig::disabled) remove the
/// default.
///
/// `operation_timeout` limits all attempts and the pauses between them. It includes long polls and is unset by default.
pub mod timeout {
    pub use aws_smithy_types::timeout::{TimeoutConfig, TimeoutConfigBuilder};
}

/// Credentials providers: the default [`CredentialsChain`](credentials::CredentialsChain), and each of its sources.
///
/// [`Builder::from_env`] uses the chain. To use one source only, pass it to [`Builder::credentials_provider`]:
///
/// ```
/// use sqs_client::config::Builder;
/// use sqs_client::config::credentials::{ContainerCredentials, Environment};
///
/// let builder = Builder::from_env()?.credentials_provider(ContainerCredentials::new(Environment::default()));
/// # Ok::<(), sqs_client::config::ConfigError>(())
/// ```
pub mod credentials {
    pub use crate::credentials::{
        ContainerCredentials, CredentialsChain, Environment, EnvironmentCredentials, InstanceCredentials,
        ProcessCredentials, ProfileCredentials, WebIdentityCredentials,
    };
    pub use aws_credential_types::provider::error::CredentialsError;
}

/// Whether the client generates deduplication ids for messages to FIFO queues.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum DeduplicationIds {
    /// The client sends the id of the caller, if any. SQS rejects a message without an id, unless the queue uses
    /// content-based deduplication.
    #[default]
    AsGiven,
    /// The client adds a random id to each message without one, if the queue URL ends in `.fifo`. All attempts use the
    /// same id, so a retry cannot duplicate the message. Messages with equal bodies are distinct, also on queues with
    /// content-based deduplication.
    Generate,
}

/// The configuration of a [`Client`](crate::Client), made by a [`Builder`]. `Debug` shows no secret.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "four independent switches")]
#[expect(clippy::struct_field_names, reason = "the names of aws-sdk-sqs")]
pub struct Config {
    pub(crate) common: CommonSettings,
    pub(crate) endpoint_url: Option<String>,
    /// Shared with derived configurations until one of them sets another provider.
    pub(crate) credentials: Option<CredentialsSource>,
    /// The source of the default credentials chain. `None` if another provider is set.
    pub(crate) environment: Option<Environment>,
    pub(crate) allow_no_auth: bool,
    pub(crate) protocol: Protocol,
    pub(crate) retry_config: retry::RetryConfig,
    pub(crate) timeout_config: timeout::TimeoutConfig,
    /// Whether a configured attempt timeout also limits long polls, as in aws-sdk-sqs.
    pub(crate) exact_timeouts: bool,
    pub(crate) checksum_policy: ChecksumPolicy,
    pub(crate) deduplication_ids: DeduplicationIds,
    pub(crate) validate_input: bool,
    pub(crate) correct_clock_skew: bool,
    pub(crate) app_name: Option<AppName>,
    pub(crate) transport: Option<Arc<dyn Transport>>,
    pub(crate) pool: PoolConfig,
    /// Created by `build()` from the settings above. A derived configuration that does not change them shares it.
    pub(crate) default_transport: DefaultTransport,
    pub(crate) observer: Option<Arc<dyn Observe>>,
    pub(crate) hooks: Hooks,
}

/// What the crate `sqs-sdk` adds to a call.
#[doc(hidden)]
#[derive(Clone, Default)]
pub struct Hooks {
    /// Each changes the request of an attempt before it is signed.
    pub requests: Vec<MapRequest>,
    /// Classifies a failed attempt. `None` leaves the decision to this crate.
    pub classify: Option<Classify>,
    /// When the call began, for its operation timeout. By default, when this crate gets it.
    pub begun: Option<std::time::Instant>,
}

/// Returns the changed request, or the reason why it cannot be sent.
#[doc(hidden)]
pub type MapRequest =
    Arc<dyn Fn(http::Request<bytes::Bytes>) -> Result<http::Request<bytes::Bytes>, BoxError> + Send + Sync>;

/// Takes the error of an attempt.
#[doc(hidden)]
pub type Classify = Arc<dyn Fn(&crate::Error) -> Option<Classified> + Send + Sync>;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The class of a failed attempt.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Classified {
    /// Retry, if the retry settings allow it.
    Retry {
        /// Whether the service throttles the client.
        is_throttle: bool,
        /// The shortest pause before the retry.
        after: Option<Duration>,
    },
    /// Do not retry.
    Forbidden,
}

/// Settings that SQS shares with STS, which issues its credentials.
///
/// What is set in code comes first, then variables, then the profile. Both [`Config`] and [`Environment`] have them, and take what
/// they lack from the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommonSettings {
    pub(crate) region: Option<Region>,
    pub(crate) use_fips: Option<bool>,
    pub(crate) use_dual_stack: Option<bool>,
    pub(crate) tls: Option<TlsConfig>,
    pub(crate) time_source: Option<SharedTimeSource>,
}

impl CommonSettings {
    /// Of variables and the profile.
    pub(crate) fn read(settings: &Settings) -> Result<Self, ConfigError> {
        Ok(Self {
            region: settings.region().map(Region::new),
            use_fips: settings.flag("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint")?,
            use_dual_stack: settings.flag("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint")?,
            tls: Self::tls(settings),
            time_source: None,
        })
    }

    pub(crate) fn tls(settings: &Settings) -> Option<TlsConfig> {
        settings.get("AWS_CA_BUNDLE", "ca_bundle").map(|file| TlsConfig::ca_bundle(settings.path(&file)))
    }

    /// With the settings of `other` where these have none.
    pub(crate) fn or(self, other: &Self) -> Self {
        Self {
            region: self.region.or_else(|| other.region.clone()),
            use_fips: self.use_fips.or(other.use_fips),
            use_dual_stack: self.use_dual_stack.or(other.use_dual_stack),
            tls: self.tls.or_else(|| other.tls.clone()),
            time_source: self.time_source.or_else(|| other.time_source.clone()),
        }
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.time_source.as_ref().map_or_else(|| SystemClock.now(), TimeSource::now)
    }

    pub(crate) fn endpoint_parameters<'a>(&'a self, url: Option<&'a str>) -> EndpointParameters<'a> {
        EndpointParameters {
            region: self.region.as_ref().map(AsRef::as_ref),
            endpoint_url: url,
            use_fips: self.use_fips.unwrap_or_default(),
            use_dual_stack: self.use_dual_stack.unwrap_or_default(),
        }
    }
}

impl Config {
    /// A builder with the defaults.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A builder that starts from this configuration.
    ///
    /// Clients with the new configuration share connections with clients of this one, unless you change the transport,
    /// the pool, the TLS settings or the connect timeout. The credentials stay too: requests of the default chain to STS keep
    /// the region, FIPS, dual-stack, TLS and clock settings of the first build.
    pub fn to_builder(&self) -> Builder {
        Builder::from_config(self.clone())
    }

    /// The region for signatures and, without an endpoint URL, for the endpoint.
    pub fn region(&self) -> Option<&Region> {
        self.common.region.as_ref()
    }

    /// The endpoint URL, if set.
    pub fn endpoint_url(&self) -> Option<&str> {
        self.endpoint_url.as_deref()
    }

    pub(crate) fn endpoint(&self) -> Result<Endpoint, EndpointError> {
        let parameters = self.common.endpoint_parameters(self.endpoint_url.as_deref());
        Endpoint::resolve(crate::wire::sign::SERVICE, parameters)
    }

    /// The URL that requests are sent to.
    #[cfg(feature = "aws-config")]
    #[doc(hidden)]
    pub fn resolved_url(&self) -> Result<String, BoxError> {
        let url = self.endpoint()?.uri().to_string();
        Ok(url.strip_suffix('/').map(str::to_owned).unwrap_or(url))
    }

    /// The protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The retry settings.
    pub fn retry_config(&self) -> Option<&retry::RetryConfig> {
        Some(&self.retry_config)
    }

    /// The timeout settings.
    pub fn timeout_config(&self) -> Option<&timeout::TimeoutConfig> {
        Some(&self.timeout_config)
    }

    /// The credentials provider, if set.
    pub fn credentials_provider(&self) -> Option<SharedCredentialsProvider> {
        self.credentials.as_ref().map(CredentialsSource::provider)
    }

    /// The application name, if set.
    pub fn app_name(&self) -> Option<&AppName> {
        self.app_name.as_ref()
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("region", &self.common.region)
            .field("endpoint_url", &self.endpoint_url.as_deref().map(crate::endpoint::redacted))
            .field("use_fips", &self.common.use_fips.unwrap_or_default())
            .field("use_dual_stack", &self.common.use_dual_stack.unwrap_or_default())
            .field("has_credentials", &(self.credentials.is_some() || self.environment.is_some()))
            .field("protocol", &self.protocol)
            .field("retry_config", &self.retry_config)
            .field("timeout_config", &self.timeout_config)
            .field("checksum_policy", &self.checksum_policy)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}

/// The application name in the user agent of every request. Allowed are letters, digits and ``!#$%&'*+-.^_`|~``.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AppName(Cow<'static, str>);

impl AppName {
    /// Validates an application name.
    ///
    /// # Errors
    /// The name is empty or contains other characters.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Result<Self, InvalidAppName> {
        let name = name.into();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(allowed) {
            return Err(InvalidAppName(name.into_owned()));
        }
        Ok(Self(name))
    }
}

impl AsRef<str> for AppName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The text is not a valid [`AppName`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidAppName(String);

impl fmt::Display for InvalidAppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "application name {:?} is invalid; allowed are letters, digits and !#$%&'*+-.^_`|~", self.0)
    }
}

impl std::error::Error for InvalidAppName {}

/// A region, such as `eu-west-1`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Region(Cow<'static, str>);

impl Region {
    /// A region with this name. If it is not valid in a host name, the first call fails.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// A region whose name is known at compile time.
    pub const fn from_static(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }
}

impl AsRef<str> for Region {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Converts into an optional [`Region`]. Implemented for `Region` and `Option<Region>` of this crate and of the AWS SDK.
pub trait IntoRegion {
    /// Returns the region, if any.
    fn into_region(self) -> Option<Region>;
}

impl IntoRegion for Region {
    fn into_region(self) -> Option<Region> {
        Some(self)
    }
}

impl IntoRegion for Option<Region> {
    fn into_region(self) -> Option<Region> {
        self
    }
}

#[cfg(feature = "aws-config")]
impl IntoRegion for aws_types::region::Region {
    fn into_region(self) -> Option<Region> {
        Some(Region(Cow::Owned(self.as_ref().to_owned())))
    }
}

#[cfg(feature = "aws-config")]
impl IntoRegion for Option<aws_types::region::Region> {
    fn into_region(self) -> Option<Region> {
        self?.into_region()
    }
}

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
            common: CommonSettings::default(),
            endpoint_url: None,
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
            transport: None,
            pool: PoolConfig::default(),
            default_transport: DefaultTransport::new(PoolConfig::default(), TlsConfig::default()),
            observer: None,
            hooks: Hooks::default(),
        })
    }
}

impl Builder {
    /// A builder with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    fn from_config(config: Config) -> Self {
        Self(config)
    }

    /// Uses the default credentials chain. `build` creates it.
    fn credentials_of(mut self, environment: Environment, common: CommonSettings) -> Self {
        self.0.common = common;
        self.0.credentials = None;
        self.0.environment = Some(environment);
        self
    }

    pub(super) fn config(&self) -> &Config {
        &self.0
    }

    /// The region for signatures and, without an endpoint URL, for the endpoint.
    pub fn region(mut self, region: impl IntoRegion) -> Self {
        self.0.common.region = region.into_region();
        self
    }

    /// Sets or clears the region.
    pub fn set_region(&mut self, region: Option<Region>) -> &mut Self {
        self.0.common.region = region;
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
        self.0.common.use_fips = Some(use_fips.into());
        self
    }

    /// Whether to use the region's dual-stack endpoint (IPv4 and IPv6); off by default.
    pub fn use_dual_stack(mut self, use_dual_stack: impl Into<bool>) -> Self {
        self.0.common.use_dual_stack = Some(use_dual_stack.into());
        self
    }

    /// Sets whether to use the FIPS endpoint, or the default.
    pub fn set_use_fips(&mut self, use_fips: Option<bool>) -> &mut Self {
        self.0.common.use_fips = use_fips;
        self
    }

    /// Sets whether to use the dual-stack endpoint, or the default.
    pub fn set_use_dual_stack(&mut self, use_dual_stack: Option<bool>) -> &mut Self {
        self.0.common.use_dual_stack = use_dual_stack;
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
    #[cfg(feature = "aws-config")]
    #[doc(hidden)]
    pub fn uncached_credentials(mut self, provider: SharedCredentialsProvider) -> Self {
        self.0.credentials = Some(CredentialsSource::Uncached(provider));
        self.0.environment = None;
        self
    }

    /// Sets what the crate `sqs-sdk` adds to a call.
    #[doc(hidden)]
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.0.hooks = hooks;
        self
    }

    /// Whether a configured attempt timeout also limits long polls, as in aws-sdk-sqs.
    #[cfg(feature = "aws-config")]
    #[doc(hidden)]
    pub fn exact_timeouts(mut self, are_exact: bool) -> Self {
        self.0.exact_timeouts = are_exact;
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

    /// The retry settings: 3 attempts in standard mode by default. See [`retry`].
    pub fn retry_config(mut self, config: RetryConfig) -> Self {
        self.0.retry_config = config;
        self
    }

    /// Sets the retry settings, or restores the defaults.
    pub fn set_retry_config(&mut self, config: Option<RetryConfig>) -> &mut Self {
        self.0.retry_config = config.unwrap_or_else(RetryConfig::standard);
        self
    }

    /// The timeouts of operations and attempts. See [`timeout`].
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
        self.0.common.time_source = Some(SharedTimeSource::new(time_source));
        self
    }

    /// Sets the clock, or restores the system clock.
    pub fn set_time_source(&mut self, time_source: Option<SharedTimeSource>) -> &mut Self {
        self.0.common.time_source = time_source;
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
        self.0.common.tls = Some(tls);
        self
    }

    /// Receives a report of every call, for metrics.
    pub fn observer(mut self, observer: impl Observe) -> Self {
        self.0.observer = Some(Arc::new(observer));
        self
    }

    /// Builds the configuration. If the region, the credentials or the transport are missing, calls fail with an error that
    /// names the missing setting.
    pub fn build(mut self) -> Config {
        let mut pool = self.0.pool;
        pool.connect_timeout =
            connect_timeout(&self.0.timeout_config, pool.connect_timeout).unwrap_or(Duration::MAX);
        self.0.default_transport =
            self.0.default_transport.with(pool, self.0.common.tls.clone().unwrap_or_default());
        // The chain uses the common settings, so they must be final.
        if let Some(mut environment) = self.0.environment.take() {
            let of_endpoint =
                || self.0.endpoint().ok()?.region().map(|region| Region::new(region.to_owned()));
            let mut common = self.0.common.clone();
            common.region = common.region.or_else(of_endpoint);
            // Otherwise, STS would take a variant of its own from the variables.
            common.use_fips.get_or_insert_default();
            common.use_dual_stack.get_or_insert_default();
            let common = environment.common.clone().or(&common);
            environment.set_common(common);
            self.0.credentials = Some(CredentialsSource::chain(&environment));
        }
        self.0
    }
}
