//! Client configuration with the types and method names of aws-sdk-sqs.
//!
//! Settings of aws-sdk-sqs that this crate does not support do not exist here, so the compiler reports their use. The
//! [guide](crate::sdk) lists them.

mod builder;
mod identity;
mod settings;

use std::fmt;

use aws_types::SdkConfig;

pub use aws_credential_types::Credentials;
pub use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
pub use aws_smithy_async::rt::sleep::{AsyncSleep, SharedAsyncSleep, Sleep};
pub use aws_smithy_async::time::SharedTimeSource;
pub use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
pub use aws_smithy_runtime_api::client::http::{HttpClient, SharedHttpClient};
pub use aws_smithy_runtime_api::client::identity::{ResolveCachedIdentity, SharedIdentityCache};
pub use aws_smithy_runtime_api::client::stalled_stream_protection::StalledStreamProtectionConfig;
pub use aws_smithy_runtime_api::shared::IntoShared;
pub use aws_types::app_name::AppName;
pub use aws_types::region::Region;
pub use builder::Builder;

pub(super) use settings::Settings;

/// Retry settings. See [`config::retry`](crate::config::retry) for their effect.
pub mod retry {
    pub use aws_smithy_types::retry::{ReconnectMode, RetryConfig, RetryConfigBuilder, RetryMode};
}

/// Timeout settings. See [`config::timeout`](crate::config::timeout) for their effect.
pub mod timeout {
    pub use aws_smithy_types::timeout::{TimeoutConfig, TimeoutConfigBuilder};
}

/// The request and response types of errors and HTTP clients.
pub mod http {
    pub use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
}

/// The configuration of a [`Client`](crate::sdk::Client), made by a [`Builder`]. `Debug` shows no secret.
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

    /// The service name in signatures: `sqs`.
    pub fn signing_name(&self) -> &'static str {
        crate::wire::sign::SERVICE
    }

    pub(super) fn from_settings(settings: Settings) -> Self {
        Self(settings)
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.0
    }
}

impl From<&SdkConfig> for Config {
    fn from(config: &SdkConfig) -> Self {
        Self::new(config)
    }
}

/// Converts from the configuration of the plain client. Keeps settings that have no method here, such as the checksum
/// policy.
impl From<crate::Config> for Config {
    fn from(plain: crate::Config) -> Self {
        Self(Settings::from(plain))
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Config").field(&self.0.to_plain()).finish()
    }
}
