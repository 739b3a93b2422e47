//! Client configuration with the types and method names of aws-sdk-sqs.
//!
//! Settings of aws-sdk-sqs that this crate does not support do not exist here, so the compiler reports their use. The
//! [guide](crate) lists them.

mod cached_credentials;
pub mod endpoint;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_smithy_async::time::TimeSource;
use aws_smithy_runtime_api::client::endpoint::{EndpointResolverParams, SharedEndpointResolver};
use aws_smithy_runtime_api::client::retries::classifiers::{ClassifyRetry, SharedRetryClassifier};
use aws_types::SdkConfig;
use sqs_client::config::{AppName as PlainAppName, Builder as PlainBuilder, Config as PlainConfig, redacted};
use sqs_client::time::SystemClock;
use sqs_client::transport::smithy::connect_timeout_of;
use sqs_client::transport::{SmithyTransport, Transport};

use self::cached_credentials::CachedCredentials;
use self::retry::RetryConfig;
use self::timeout::TimeoutConfig;

pub use aws_credential_types::Credentials;
pub use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
pub use aws_smithy_async::rt::sleep::{AsyncSleep, SharedAsyncSleep, Sleep};
pub use aws_smithy_async::time::SharedTimeSource;
pub use aws_smithy_runtime::client::identity::IdentityCache;
pub use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
pub use aws_smithy_runtime_api::client::http::{HttpClient, SharedHttpClient};
pub use aws_smithy_runtime_api::client::identity::{ResolveCachedIdentity, SharedIdentityCache};
pub use aws_smithy_runtime_api::client::stalled_stream_protection::StalledStreamProtectionConfig;
pub use aws_smithy_runtime_api::shared::IntoShared;
pub use aws_types::app_name::AppName;
pub use aws_types::region::Region;

/// Retry settings. See [`config::retry`](sqs_client::config::retry) for their effect. The reconnect mode has none.
pub mod retry {
    pub use aws_smithy_runtime_api::client::retries::ShouldAttempt;
    pub use aws_smithy_runtime_api::client::retries::classifiers::{ClassifyRetry, RetryAction};
    pub use aws_smithy_types::retry::{ReconnectMode, RetryConfig, RetryConfigBuilder, RetryMode};
}

/// Timeout settings.
///
/// `operation_attempt_timeout` and `read_timeout` limit one attempt, also a long poll, as in aws-sdk-sqs: set them above the wait
/// time of your receives (at most 20 s). If both are unset, the limit is 30 s plus the wait time. The plain client of
/// [`as_plain`](crate::Client::as_plain) always [adds the wait time](sqs_client::config::timeout).
///
/// `operation_timeout` limits the endpoint resolver, all attempts and the pauses between them. It is unset by default.
pub mod timeout {
    pub use aws_smithy_types::timeout::{TimeoutConfig, TimeoutConfigBuilder};
}

/// The request and response types of errors and HTTP clients.
pub mod http {
    pub use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
}

/// The configuration of a [`Client`](crate::Client), made by a [`Builder`]. `Debug` shows no secret.
#[derive(Clone)]
pub struct Config(Settings);

impl Config {
    /// A builder with the defaults.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Takes region, endpoint, credentials, HTTP client, retries and timeouts from a shared configuration.
    pub fn new(config: &SdkConfig) -> Self {
        Builder::from(config).build()
    }

    /// A builder that starts from this configuration.
    pub fn to_builder(&self) -> Builder {
        Builder(self.0.clone())
    }

    /// The region.
    pub fn region(&self) -> Option<&Region> {
        self.0.region.as_ref()
    }

    /// The retry settings, if set.
    pub fn retry_config(&self) -> Option<&retry::RetryConfig> {
        self.0.retry_config.as_ref()
    }

    /// The timeout settings, if set.
    pub fn timeout_config(&self) -> Option<&timeout::TimeoutConfig> {
        self.0.timeout_config.as_ref()
    }

    /// The application name in the user agent, if set.
    pub fn app_name(&self) -> Option<&AppName> {
        self.0.app_name.as_ref()
    }

    /// The HTTP client, if set.
    pub fn http_client(&self) -> Option<SharedHttpClient> {
        self.0.http_client.clone()
    }

    /// The credentials provider, if set.
    pub fn credentials_provider(&self) -> Option<SharedCredentialsProvider> {
        self.0.credentials_provider.clone()
    }

    /// The identity cache, if set.
    pub fn identity_cache(&self) -> Option<SharedIdentityCache> {
        self.0.identity_cache.clone()
    }

    /// The clock, if set.
    pub fn time_source(&self) -> Option<SharedTimeSource> {
        self.0.time_source.clone()
    }

    /// The timer of the HTTP client, if set.
    pub fn sleep_impl(&self) -> Option<SharedAsyncSleep> {
        self.0.sleep_impl.clone()
    }

    /// The stalled stream protection settings, which have no effect.
    pub fn stalled_stream_protection(&self) -> Option<&StalledStreamProtectionConfig> {
        self.0.stalled_stream_protection.as_ref()
    }

    /// Whether clock skew correction is disabled.
    pub fn disable_clock_skew_correction(&self) -> Option<bool> {
        self.0.disable_clock_skew_correction
    }

    /// The endpoint resolver: that of the configuration, or the default one.
    pub fn endpoint_resolver(&self) -> SharedEndpointResolver {
        let set = self.0.endpoint_resolver.clone();
        set.unwrap_or_else(|| {
            endpoint::ResolveEndpoint::into_shared_resolver(endpoint::DefaultResolver::new())
        })
    }

    /// The classifiers of failed attempts that were added.
    pub fn retry_classifiers(&self) -> impl Iterator<Item = SharedRetryClassifier> + '_ {
        self.0.retry_classifiers.iter().cloned()
    }

    /// The service name in signatures: `sqs`.
    pub fn signing_name(&self) -> &'static str {
        "sqs"
    }

    pub(crate) fn from_settings(settings: Settings) -> Self {
        Self(settings)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0
    }
}

impl From<&SdkConfig> for Config {
    fn from(config: &SdkConfig) -> Self {
        Self::new(config)
    }
}

/// Converts from the configuration of the plain client. A client keeps settings that have no method here, such as the checksum
/// policy; an override of one call does not. FIPS, dual stack and clock stay until they are set: to clear them has no effect.
impl From<sqs_client::Config> for Config {
    fn from(plain: sqs_client::Config) -> Self {
        Self(Settings::from(plain))
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Config").field(&self.0).finish()
    }
}

/// Builds a [`Config`]. Each setting has a method that takes it by value, and one with `set_` that takes an `Option`.
/// `Debug` shows no secret.
///
/// Passed to `customize().config_override(..)`, it overrides only the settings that you set on it.
///
/// ```
/// # fn test<T: Into<String>>(value: T) {
/// sqs_sdk::Config::builder().endpoint_url(value);
/// # }
/// ```
///
/// Settings that this client could not honour do not exist, so that the compiler finds them:
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_sdk::Config::builder().interceptor(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_sdk::Config::builder().retry_partition(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_sdk::Config::builder().push_auth_scheme(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_sdk::Config::builder().auth_scheme_resolver(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_sdk::Config::builder().invocation_id_generator(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_sdk::Config::builder().framework_metadata(value);
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Builder(pub(crate) Settings);

impl Builder {
    /// A builder with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The region for signatures and, without an endpoint URL, for the endpoint.
    pub fn region(mut self, region: impl Into<Option<Region>>) -> Self {
        self.0.region = region.into();
        self
    }

    /// Sets or clears the region.
    pub fn set_region(&mut self, region: Option<Region>) -> &mut Self {
        self.0.region = region;
        self
    }

    /// Sends requests to this absolute `http` or `https` URL instead of the region's endpoint.
    pub fn endpoint_url(mut self, endpoint_url: impl Into<String>) -> Self {
        self.0.endpoint_url = Some(endpoint_url.into());
        self
    }

    /// Sets or clears the endpoint URL.
    pub fn set_endpoint_url(&mut self, endpoint_url: Option<String>) -> &mut Self {
        self.0.endpoint_url = endpoint_url;
        self
    }

    /// Whether to use the region's FIPS endpoint; off by default.
    pub fn use_fips(mut self, use_fips: impl Into<bool>) -> Self {
        self.0.use_fips = Some(use_fips.into());
        self
    }

    /// Sets whether to use the FIPS endpoint, or restores the default.
    pub fn set_use_fips(&mut self, use_fips: Option<bool>) -> &mut Self {
        self.0.use_fips = use_fips;
        self
    }

    /// Whether to use the region's dual-stack endpoint (IPv4 and IPv6); off by default.
    pub fn use_dual_stack(mut self, use_dual_stack: impl Into<bool>) -> Self {
        self.0.use_dual_stack = Some(use_dual_stack.into());
        self
    }

    /// Sets whether to use the dual-stack endpoint, or restores the default.
    pub fn set_use_dual_stack(&mut self, use_dual_stack: Option<bool>) -> &mut Self {
        self.0.use_dual_stack = use_dual_stack;
        self
    }

    /// The credentials provider.
    pub fn credentials_provider(mut self, provider: impl ProvideCredentials + 'static) -> Self {
        self.0.credentials_provider = Some(SharedCredentialsProvider::new(provider));
        self
    }

    /// Sets or clears the credentials provider.
    pub fn set_credentials_provider(
        &mut self,
        credentials_provider: Option<SharedCredentialsProvider>,
    ) -> &mut Self {
        self.0.credentials_provider = credentials_provider;
        self
    }

    /// Caches credentials in this identity cache, which clients of other services can share. By default, the client has its
    /// own cache and renews credentials five minutes before they expire.
    pub fn identity_cache(mut self, cache: impl ResolveCachedIdentity + 'static) -> Self {
        self.set_identity_cache(cache);
        self
    }

    /// Sets the identity cache.
    pub fn set_identity_cache(&mut self, cache: impl ResolveCachedIdentity + 'static) -> &mut Self {
        self.0.identity_cache = Some(cache.into_shared());
        self
    }

    /// Sends unsigned requests if there are no credentials. Some local servers accept them.
    pub fn allow_no_auth(mut self) -> Self {
        self.set_allow_no_auth();
        self
    }

    /// Sends unsigned requests if there are no credentials.
    pub fn set_allow_no_auth(&mut self) -> &mut Self {
        self.0.allow_no_auth = true;
        self
    }

    /// The retry settings: 3 attempts in standard mode by default.
    pub fn retry_config(mut self, retry_config: RetryConfig) -> Self {
        self.0.retry_config = Some(retry_config);
        self
    }

    /// Sets the retry settings, or restores the defaults.
    pub fn set_retry_config(&mut self, retry_config: Option<RetryConfig>) -> &mut Self {
        self.0.retry_config = retry_config;
        self
    }

    /// The [timeouts](timeout). By default 3.1 s for connecting, and for an attempt 30 s plus the wait time of a receive.
    pub fn timeout_config(mut self, timeout_config: TimeoutConfig) -> Self {
        self.0.timeout_config = Some(timeout_config);
        self
    }

    /// Sets the timeouts, or restores the defaults.
    pub fn set_timeout_config(&mut self, timeout_config: Option<TimeoutConfig>) -> &mut Self {
        self.0.timeout_config = timeout_config;
        self
    }

    /// Sends requests with this HTTP client: for a proxy, other TLS, metrics, or recorded responses in tests. By default,
    /// the transport of this crate sends them.
    pub fn http_client(mut self, client: impl HttpClient + 'static) -> Self {
        self.0.http_client = Some(client.into_shared());
        self
    }

    /// Sets the HTTP client, or restores the default.
    pub fn set_http_client(&mut self, http_client: Option<SharedHttpClient>) -> &mut Self {
        self.0.http_client = http_client;
        self
    }

    /// The application name in the user agent.
    pub fn app_name(mut self, app_name: AppName) -> Self {
        self.0.app_name = Some(app_name);
        self
    }

    /// Sets or clears the application name.
    pub fn set_app_name(&mut self, app_name: Option<AppName>) -> &mut Self {
        self.0.app_name = app_name;
        self
    }

    /// The clock for signatures and the expiry of credentials.
    pub fn time_source(mut self, time_source: impl TimeSource + 'static) -> Self {
        self.0.time_source = Some(SharedTimeSource::new(time_source));
        self
    }

    /// Sets the clock, or restores the system clock.
    pub fn set_time_source(&mut self, time_source: Option<SharedTimeSource>) -> &mut Self {
        self.0.time_source = time_source;
        self
    }

    /// Whether to disable clock skew correction. By default, if SQS rejects a signature because the local clock is wrong,
    /// the client signs with the time of the service.
    pub fn disable_clock_skew_correction(mut self, disable: impl Into<Option<bool>>) -> Self {
        self.set_disable_clock_skew_correction(disable.into());
        self
    }

    /// Sets whether to disable clock skew correction, or restores the default.
    pub fn set_disable_clock_skew_correction(&mut self, disable: Option<bool>) -> &mut Self {
        self.0.disable_clock_skew_correction = disable;
        self
    }

    /// The timer of the HTTP client and the identity cache, if those are set. Timeouts and retries always use the timer of
    /// tokio.
    pub fn sleep_impl(mut self, sleep: impl AsyncSleep + 'static) -> Self {
        self.0.sleep_impl = Some(sleep.into_shared());
        self
    }

    /// Sets the timer, or restores the timer of tokio.
    pub fn set_sleep_impl(&mut self, sleep_impl: Option<SharedAsyncSleep>) -> &mut Self {
        self.0.sleep_impl = sleep_impl;
        self
    }

    /// Has no effect: responses of SQS are not streams, and the attempt timeout covers them.
    pub fn stalled_stream_protection(mut self, config: StalledStreamProtectionConfig) -> Self {
        self.0.stalled_stream_protection = Some(config);
        self
    }

    /// Has no effect; see the method without `set_`.
    pub fn set_stalled_stream_protection(
        &mut self,
        stalled_stream_protection: Option<StalledStreamProtectionConfig>,
    ) -> &mut Self {
        self.0.stalled_stream_protection = stalled_stream_protection;
        self
    }

    /// Has no effect: each release of this crate has one behavior.
    pub fn behavior_version(mut self, version: BehaviorVersion) -> Self {
        self.0.behavior_version = Some(version);
        self
    }

    /// Has no effect; see the method without `set_`.
    pub fn set_behavior_version(&mut self, behavior_version: Option<BehaviorVersion>) -> &mut Self {
        self.0.behavior_version = behavior_version;
        self
    }

    /// Has no effect: each release of this crate has one behavior.
    pub fn behavior_version_latest(self) -> Self {
        self.behavior_version(BehaviorVersion::latest())
    }

    /// Resolves the endpoint of each call, within its operation timeout, else its attempt timeout. It gets region, endpoint URL
    /// and the kind of endpoint that are configured.
    pub fn endpoint_resolver(mut self, endpoint_resolver: impl endpoint::ResolveEndpoint + 'static) -> Self {
        self.set_endpoint_resolver(Some(endpoint_resolver.into_shared_resolver()));
        self
    }

    /// Sets the endpoint resolver, or restores the default.
    pub fn set_endpoint_resolver(&mut self, endpoint_resolver: Option<SharedEndpointResolver>) -> &mut Self {
        self.0.endpoint_resolver = endpoint_resolver;
        self
    }

    /// Adds a classifier of failed attempts. Those with a higher priority run later and override the others, and the rules of
    /// this crate come first. After `RetryForbidden`, no other classifier is asked.
    pub fn retry_classifier(mut self, retry_classifier: impl ClassifyRetry + 'static) -> Self {
        self.push_retry_classifier(SharedRetryClassifier::new(retry_classifier));
        self
    }

    /// Adds a shared classifier; see [`retry_classifier`](Self::retry_classifier).
    pub fn push_retry_classifier(&mut self, retry_classifier: SharedRetryClassifier) -> &mut Self {
        self.0.retry_classifiers.push(retry_classifier);
        self
    }

    /// Replaces all classifiers.
    pub fn set_retry_classifiers(&mut self, retry_classifiers: Vec<SharedRetryClassifier>) -> &mut Self {
        self.0.retry_classifiers = retry_classifiers;
        self
    }

    /// Sets fixed credentials and a fixed clock for tests. Real services reject the signatures.
    #[cfg(feature = "test-util")]
    pub fn with_test_defaults(mut self) -> Self {
        self.apply_test_defaults();
        self
    }

    /// The same as [`with_test_defaults`](Self::with_test_defaults).
    #[cfg(feature = "test-util")]
    pub fn apply_test_defaults(&mut self) -> &mut Self {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_234_567_890);
        let clock = aws_smithy_async::time::StaticTimeSource::new(time);
        let credentials = SharedCredentialsProvider::new(aws_credential_types::Credentials::for_tests());
        self.set_time_source(Some(SharedTimeSource::new(clock))).set_credentials_provider(Some(credentials))
    }

    /// The same as [`with_test_defaults`](Self::with_test_defaults), and sets the region `us-east-1` if none is set.
    #[cfg(feature = "test-util")]
    pub fn with_test_defaults_v2(mut self) -> Self {
        self.apply_test_defaults_v2();
        self
    }

    /// The same as [`with_test_defaults_v2`](Self::with_test_defaults_v2).
    #[cfg(feature = "test-util")]
    pub fn apply_test_defaults_v2(&mut self) -> &mut Self {
        self.0.region.get_or_insert_with(|| Region::from_static("us-east-1"));
        self.apply_test_defaults()
    }

    /// Builds the configuration. If a setting is missing, such as the region, calls fail with an error that names it.
    pub fn build(self) -> Config {
        Config(self.0)
    }

    pub(crate) fn into_settings(self) -> Settings {
        self.0
    }
}

impl From<&SdkConfig> for Builder {
    fn from(sdk: &SdkConfig) -> Self {
        let mut builder = Self::default().region(sdk.region().cloned());
        builder
            .set_endpoint_url(sqs_client::config::endpoint_url(sdk))
            .set_use_fips(sdk.use_fips())
            .set_use_dual_stack(sdk.use_dual_stack())
            .set_credentials_provider(sdk.credentials_provider())
            .set_retry_config(sdk.retry_config().cloned())
            .set_timeout_config(sdk.timeout_config().cloned())
            .set_http_client(sdk.http_client())
            .set_app_name(sdk.app_name().cloned())
            .set_time_source(sdk.time_source())
            .set_disable_clock_skew_correction(sdk.disable_clock_skew_correction())
            .set_sleep_impl(sdk.sleep_impl())
            .set_stalled_stream_protection(sdk.stalled_stream_protection())
            .set_behavior_version(sdk.behavior_version());
        match sdk.identity_cache() {
            Some(cache) => builder.identity_cache(cache),
            None => builder,
        }
    }
}

impl From<Config> for Builder {
    fn from(config: Config) -> Self {
        Self(config.0)
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Builder").field(&self.0).finish()
    }
}

#[derive(Clone, Default)]
pub(crate) struct Settings {
    /// The plain configuration that this one was converted from. It has the settings without a field here.
    pub(crate) plain: Option<Box<PlainConfig>>,
    pub(crate) region: Option<Region>,
    pub(crate) endpoint_url: Option<String>,
    pub(crate) use_fips: Option<bool>,
    pub(crate) use_dual_stack: Option<bool>,
    pub(crate) credentials_provider: Option<SharedCredentialsProvider>,
    pub(crate) identity_cache: Option<SharedIdentityCache>,
    pub(crate) allow_no_auth: bool,
    pub(crate) retry_config: Option<RetryConfig>,
    pub(crate) timeout_config: Option<TimeoutConfig>,
    pub(crate) app_name: Option<AppName>,
    pub(crate) time_source: Option<SharedTimeSource>,
    pub(crate) disable_clock_skew_correction: Option<bool>,
    pub(crate) http_client: Option<SharedHttpClient>,
    pub(crate) sleep_impl: Option<SharedAsyncSleep>,
    pub(crate) stalled_stream_protection: Option<StalledStreamProtectionConfig>,
    pub(crate) behavior_version: Option<BehaviorVersion>,
    pub(crate) endpoint_resolver: Option<SharedEndpointResolver>,
    pub(crate) retry_classifiers: Vec<SharedRetryClassifier>,
}

/// Of what the program gave, only whether it is there: its `Debug` may show anything.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("region", &self.region)
            .field("endpoint_url", &self.endpoint_url.as_deref().map(redacted))
            .field("use_fips", &self.use_fips)
            .field("use_dual_stack", &self.use_dual_stack)
            .field("has_credentials_provider", &self.credentials_provider.is_some())
            .field("has_identity_cache", &self.identity_cache.is_some())
            .field("retry_config", &self.retry_config)
            .field("timeout_config", &self.timeout_config)
            .field("app_name", &self.app_name)
            .field("has_http_client", &self.http_client.is_some())
            .field("has_endpoint_resolver", &self.endpoint_resolver.is_some())
            .field("retry_classifiers", &self.retry_classifiers.len())
            .field("plain", &self.plain)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// The equivalent configuration of the plain client.
    pub(crate) fn to_plain(&self) -> PlainConfig {
        let mut plain = self.plain.as_ref().map_or_else(PlainConfig::builder, |plain| plain.to_builder());
        // Those that are set follow; the others may have been cleared since. The rest has no getter, so it stays until it is set.
        plain.set_region(None).set_endpoint_url(None).set_credentials_provider(None);
        plain.set_retry_config(None).set_timeout_config(None).set_app_name(None);
        self.apply_to(plain.exact_timeouts(true), self.transport())
    }

    /// The configuration for layers over a client that has `own`. They receive with long polls, which no timeout may cut.
    pub(crate) fn for_layers(&self, own: &PlainConfig) -> PlainConfig {
        let mut builder = own.to_builder().exact_timeouts(false);
        // An HTTP client cannot tell a long poll from a lost response.
        if self.read_timeout().is_some() && self.http_client.is_some() {
            builder.set_transport(self.transport_with(None));
        }
        builder.build()
    }

    /// The plain configuration with these settings and, if given, this transport.
    pub(crate) fn apply_to(
        &self,
        mut builder: PlainBuilder,
        transport: Option<Arc<dyn Transport>>,
    ) -> PlainConfig {
        macro_rules! take {
            ($($setting:ident)*) => { $(
                if let Some(value) = self.$setting.clone() {
                    builder = builder.$setting(value);
                }
            )* };
        }
        take!(region endpoint_url use_fips use_dual_stack retry_config timeout_config time_source);
        take!(disable_clock_skew_correction);
        if self.allow_no_auth {
            builder = builder.allow_no_auth();
        }
        match (&self.credentials_provider, &self.identity_cache) {
            (Some(provider), None) => builder = builder.credentials_provider(provider.clone()),
            (Some(provider), Some(cache)) => {
                let (provider, cache) = (provider.clone(), cache.clone());
                let cached = CachedCredentials::new(cache, provider, self.clock(), self.sleep_impl.clone());
                builder = builder.uncached_credentials(SharedCredentialsProvider::new(cached));
            }
            (None, _) => {}
        }
        if let Some(Ok(name)) = self.app_name.as_ref().map(|name| PlainAppName::new(name.to_string())) {
            builder = builder.app_name(name);
        }
        if transport.is_some() {
            builder.set_transport(transport);
        }
        builder.build()
    }

    /// These settings, overridden by those of `other`. Each timeout is merged separately, as in aws-sdk-sqs.
    pub(crate) fn overridden_by(&self, other: &Self) -> Self {
        macro_rules! merge {
            ($($setting:ident)*) => { Self {
                $( $setting: other.$setting.clone().or_else(|| self.$setting.clone()), )*
                allow_no_auth: self.allow_no_auth || other.allow_no_auth,
                timeout_config: merged(self.timeout_config.as_ref(), other.timeout_config.as_ref()),
                retry_classifiers: self.retry_classifiers.iter().chain(&other.retry_classifiers).cloned().collect(),
            } };
        }
        merge! {
            plain region endpoint_url use_fips use_dual_stack credentials_provider identity_cache retry_config app_name
            time_source disable_clock_skew_correction http_client sleep_impl stalled_stream_protection behavior_version
            endpoint_resolver
        }
    }

    /// What an endpoint resolver gets.
    pub(crate) fn endpoint_params(&self) -> EndpointResolverParams {
        let params = endpoint::Params::builder()
            .set_region(self.region.as_ref().map(ToString::to_string))
            .set_endpoint(self.endpoint_url.clone())
            .set_use_fips(self.use_fips)
            .set_use_dual_stack(self.use_dual_stack);
        EndpointResolverParams::new(params.built())
    }

    /// Whether an override with these settings keeps the credentials.
    pub(crate) fn keeps_credentials(&self) -> bool {
        self.credentials_provider.is_none() && self.identity_cache.is_none()
    }

    /// Whether these settings, which `before` has become by an override, have its HTTP client with the same settings.
    pub(crate) fn has_http_client_of(&self, before: &Self, by: &Self) -> bool {
        let timeouts = |settings: &Self| (connect_timeout_of(&settings.timeouts()), settings.read_timeout());
        by.http_client.is_none()
            && by.time_source.is_none()
            && by.sleep_impl.is_none()
            && timeouts(self) == timeouts(before)
    }

    /// How long a call takes at most, if it has a timeout.
    pub(crate) fn longest_call(&self) -> Option<Duration> {
        let timeouts = self.timeout_config.as_ref()?;
        timeouts.operation_timeout().or(timeouts.operation_attempt_timeout())
    }

    fn timeouts(&self) -> TimeoutConfig {
        self.timeout_config.clone().unwrap_or_else(|| TimeoutConfig::builder().build())
    }

    fn read_timeout(&self) -> Option<Duration> {
        self.timeout_config.as_ref()?.read_timeout()
    }

    /// The HTTP client as a transport.
    pub(crate) fn transport(&self) -> Option<Arc<dyn Transport>> {
        self.transport_with(self.read_timeout())
    }

    fn transport_with(&self, read_timeout: Option<Duration>) -> Option<Arc<dyn Transport>> {
        let client = self.http_client.as_ref()?;
        let (clock, sleep) = (self.time_source.clone(), self.sleep_impl.clone());
        Some(SmithyTransport::shared(client, &self.timeouts(), read_timeout, clock, sleep))
    }
}

impl From<PlainConfig> for Settings {
    fn from(plain: PlainConfig) -> Self {
        Self {
            region: plain.region().map(|region| Region::new(region.to_string())),
            endpoint_url: plain.endpoint_url().map(str::to_owned),
            credentials_provider: plain.credentials_provider(),
            retry_config: plain.retry_config().cloned(),
            timeout_config: plain.timeout_config().cloned(),
            app_name: plain.app_name().and_then(|name| AppName::new(name.as_ref().to_owned()).ok()),
            plain: Some(Box::new(plain)),
            ..Self::default()
        }
    }
}

impl Settings {
    fn clock(&self) -> SharedTimeSource {
        self.time_source.clone().unwrap_or_else(|| SharedTimeSource::new(SystemClock))
    }
}

/// An override without any timeout disables all timeouts, as in aws-sdk-sqs.
fn merged(ours: Option<&TimeoutConfig>, other: Option<&TimeoutConfig>) -> Option<TimeoutConfig> {
    let (Some(ours), Some(other)) = (ours, other) else { return other.or(ours).cloned() };
    let mut merged = other.clone();
    if merged.has_timeouts() {
        merged.take_defaults_from(ours);
    }
    Some(merged)
}
