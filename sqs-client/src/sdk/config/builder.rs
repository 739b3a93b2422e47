//! The configuration builder.

use std::fmt;

use aws_smithy_async::time::TimeSource;
use aws_smithy_runtime_api::shared::IntoShared as _;
use aws_types::SdkConfig;

use super::retry::RetryConfig;
use super::timeout::TimeoutConfig;
use super::{
    AppName, AsyncSleep, BehaviorVersion, Config, HttpClient, ProvideCredentials, Region,
    ResolveCachedIdentity, Settings, SharedAsyncSleep, SharedCredentialsProvider, SharedHttpClient,
    SharedTimeSource, StalledStreamProtectionConfig,
};

/// Builds a [`Config`]. Each setting has a method that takes it by value, and one with `set_` that takes an `Option`.
/// `Debug` shows no secret.
///
/// Passed to `customize().config_override(..)`, it overrides only the settings that you set on it.
///
/// ```
/// # fn test<T: Into<String>>(value: T) {
/// sqs_client::sdk::Config::builder().endpoint_url(value);
/// # }
/// ```
///
/// Settings that this client could not honour do not exist, so that the compiler finds them:
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_client::sdk::Config::builder().interceptor(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_client::sdk::Config::builder().endpoint_resolver(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_client::sdk::Config::builder().retry_classifier(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_client::sdk::Config::builder().retry_partition(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_client::sdk::Config::builder().push_auth_scheme(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_client::sdk::Config::builder().auth_scheme_resolver(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_client::sdk::Config::builder().invocation_id_generator(value);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn test<T>(value: T) {
/// sqs_client::sdk::Config::builder().framework_metadata(value);
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Builder(pub(super) Settings);

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

    /// The timeouts. By default 3.1 s for connecting and 30 s for an attempt.
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

    /// Has no effect: each release of this crate has one behaviour.
    pub fn behavior_version(mut self, version: BehaviorVersion) -> Self {
        self.0.behavior_version = Some(version);
        self
    }

    /// Has no effect; see the method without `set_`.
    pub fn set_behavior_version(&mut self, behavior_version: Option<BehaviorVersion>) -> &mut Self {
        self.0.behavior_version = behavior_version;
        self
    }

    /// Has no effect: each release of this crate has one behaviour.
    pub fn behavior_version_latest(self) -> Self {
        self.behavior_version(BehaviorVersion::latest())
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

    pub(in crate::sdk) fn into_settings(self) -> Settings {
        self.0
    }
}

impl From<&SdkConfig> for Builder {
    fn from(sdk: &SdkConfig) -> Self {
        let mut builder = Self::default().region(sdk.region().cloned());
        builder
            .set_endpoint_url(crate::config::endpoint_url(sdk))
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
        f.debug_tuple("Builder").field(&self.0.to_plain()).finish()
    }
}
