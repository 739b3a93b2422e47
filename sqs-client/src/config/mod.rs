//! How a client is configured: region, endpoint, credentials, retries, timeouts, transport.
//!
//! Three ways lead to a [`Config`]: from variables and profiles ([`Builder::from_env`], [`Builder::load`]), from code
//! ([`Config::builder`]), and with the feature `aws-config` from the AWS SDK's own loader (`Client::new`). Each gives a
//! [`Builder`], so that its settings can be changed.
//!
//! ```
//! use std::time::Duration;
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
//! Building never fails. What is missing, such as a region, shows as an error of the first call.

mod app_name;
mod builder;
mod environment;
mod region;
#[cfg(feature = "aws-config")]
mod sdk_config;

use std::fmt;
use std::sync::Arc;

use crate::credentials::{CredentialsCache, Environment};
use crate::endpoint::{Endpoint, EndpointError, EndpointParameters};
use crate::observe::Observe;
use crate::time::SharedTimeSource;
use crate::transport::{DefaultTransport, PoolConfig, TlsConfig, Transport};

pub use crate::credentials::EnvironmentCredentials;
pub use crate::settings::ConfigError;
pub use crate::wire::checksum::ChecksumPolicy;
pub use crate::wire::protocol::Protocol;
pub use app_name::{AppName, InvalidAppName};
pub use aws_credential_types::Credentials;
pub use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
pub use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
pub use aws_smithy_runtime_api::client::stalled_stream_protection::StalledStreamProtectionConfig;
pub use builder::Builder;
pub use region::{IntoRegion, Region};
#[cfg(feature = "sdk")]
pub(crate) use sdk_config::endpoint_url;

/// Retry settings, the types of the AWS SDK.
///
/// A failed attempt is retried if its error code is retryable and the client has budget left: 500 tokens, of which a
/// retry takes 5, or 10 after a timeout. Each success returns some, so an outage is not multiplied by retries.
///
/// `standard` makes 3 attempts. The first pause is random, up to 1 s if the service throttles and up to 50 ms otherwise;
/// a configured `initial_backoff` replaces both. Pauses double up to `max_backoff` (20 s). A longer pause that
/// the service asks for (`x-amz-retry-after`) is granted up to 5 s. A receive waits also when the budget is empty, before it
/// fails, so that a loop of receives does not spin.
pub mod retry {
    pub use aws_smithy_types::retry::{RetryConfig, RetryConfigBuilder, RetryMode};
}

/// Timeout settings, the types of the AWS SDK.
///
/// `operation_attempt_timeout` bounds one attempt; without it, `read_timeout` does, and without both, 30 s (the AWS SDK has
/// no default). It grows by the wait time of a receive, so that it never cuts a long poll. `operation_timeout` bounds all
/// attempts and the pauses between them exactly, long polls included; there is none by default.
/// `disable_operation_attempt_timeout()` and [`TimeoutConfig::disabled`](timeout::TimeoutConfig::disabled) switch the
/// default off.
pub mod timeout {
    pub use aws_smithy_types::timeout::{TimeoutConfig, TimeoutConfigBuilder};
}

/// Providers of credentials: [`CredentialsChain`](credentials::CredentialsChain), and each source of it alone.
///
/// [`Builder::from_env`] sets the chain. Give a single one to [`Builder::credentials_provider`] to allow no other source:
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

/// Who chooses deduplication ids for messages to FIFO queues.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DeduplicationIds {
    /// The caller, or the queue by content-based deduplication. A message that has neither is refused by the
    /// service, with a text that says so.
    #[default]
    AsGiven,
    /// A message to a queue whose URL ends in `.fifo` gets a random id when it has none, before the first
    /// attempt. Retries then cannot duplicate it; equal bodies are different messages, also on queues with
    /// content-based deduplication.
    Generate,
}

/// The configuration of a [`Client`](crate::Client), made by a [`Builder`]. `Debug` shows no secret.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "four independent switches")]
#[expect(clippy::struct_field_names, reason = "the names of aws-sdk-sqs")]
pub struct Config {
    pub(crate) region: Option<Region>,
    pub(crate) endpoint_url: Option<String>,
    pub(crate) use_fips: bool,
    pub(crate) use_dual_stack: bool,
    /// Shared by all configurations that are derived from this one, as long as the provider is the same.
    pub(crate) credentials: Option<Arc<CredentialsCache>>,
    /// What `build` makes the chain of providers from, when no other provider is set.
    pub(crate) environment: Option<Environment>,
    pub(crate) allow_no_auth: bool,
    pub(crate) protocol: Protocol,
    pub(crate) retry_config: retry::RetryConfig,
    pub(crate) timeout_config: timeout::TimeoutConfig,
    /// Whether a configured timeout of an attempt bounds long polls too, as in aws-sdk-sqs.
    pub(crate) exact_timeouts: bool,
    pub(crate) checksum_policy: ChecksumPolicy,
    pub(crate) deduplication_ids: DeduplicationIds,
    pub(crate) validate_input: bool,
    pub(crate) correct_clock_skew: bool,
    pub(crate) app_name: Option<AppName>,
    pub(crate) time_source: SharedTimeSource,
    pub(crate) transport: Option<Arc<dyn Transport>>,
    pub(crate) pool: PoolConfig,
    pub(crate) tls: TlsConfig,
    /// Made by `build()` from the settings above, and kept by a derived configuration that does not change them.
    pub(crate) default_transport: DefaultTransport,
    pub(crate) observer: Option<Arc<dyn Observe>>,
}

impl Config {
    /// A builder with the defaults.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A builder that starts from this configuration.
    ///
    /// Clients of the configuration that it builds share their connections with the clients of this one, unless the
    /// transport, its pool or TLS settings, or the connect timeout are changed.
    pub fn to_builder(&self) -> Builder {
        Builder::from_config(self.clone())
    }

    /// The region that requests are signed for and, without an endpoint URL, sent to.
    pub fn region(&self) -> Option<&Region> {
        self.region.as_ref()
    }

    /// The endpoint URL, when one is set.
    pub fn endpoint_url(&self) -> Option<&str> {
        self.endpoint_url.as_deref()
    }

    pub(crate) fn endpoint(&self) -> Result<Endpoint, EndpointError> {
        Endpoint::resolve(EndpointParameters {
            region: self.region.as_ref().map(AsRef::as_ref),
            endpoint_url: self.endpoint_url.as_deref(),
            use_fips: self.use_fips,
            use_dual_stack: self.use_dual_stack,
        })
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

    /// The provider of credentials, when one is set.
    pub fn credentials_provider(&self) -> Option<SharedCredentialsProvider> {
        self.credentials.as_ref().map(|cache| cache.provider())
    }

    /// How strictly checksums are verified.
    pub fn checksum_policy(&self) -> ChecksumPolicy {
        self.checksum_policy
    }

    /// The name of the application, when one is set.
    pub fn app_name(&self) -> Option<&AppName> {
        self.app_name.as_ref()
    }

    /// The name of the service in signatures.
    pub fn signing_name(&self) -> &'static str {
        crate::wire::sign::SERVICE
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("region", &self.region)
            .field("endpoint_url", &self.endpoint_url.as_deref().map(crate::endpoint::redacted))
            .field("use_fips", &self.use_fips)
            .field("use_dual_stack", &self.use_dual_stack)
            .field("has_credentials", &(self.credentials.is_some() || self.environment.is_some()))
            .field("protocol", &self.protocol)
            .field("retry_config", &self.retry_config)
            .field("timeout_config", &self.timeout_config)
            .field("checksum_policy", &self.checksum_policy)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}
