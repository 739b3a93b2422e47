//! Client configuration: region, endpoint, credentials, retries, timeouts, transport.
//!
//! Create a [`Builder`] in one of three ways, then change its settings:
//!
//! - from environment variables and profiles: [`Builder::from_env`] or [`Builder::load`]
//! - in code: [`Config::builder`]
//! - from an `aws_types::SdkConfig`: `Builder::from(&sdk_config)`, with the feature `aws-config`
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
//! `build()` never fails. If a setting is missing, such as the region, calls fail with an error that names it.

mod app_name;
mod builder;
mod environment;
mod region;
#[cfg(feature = "aws-config")]
mod sdk_config;

use std::fmt;
use std::sync::Arc;

use crate::credentials::{CredentialsSource, Environment};
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

/// Retry settings: the types of the AWS SDK.
///
/// The client retries a failed attempt if the error is retryable and the retry budget is not exhausted. The budget has
/// 500 tokens: a retry costs 5, or 10 after a timeout. A success returns 1, or what its last retry took. So retries do not multiply the
/// load during an outage.
///
/// `standard` makes 3 attempts. The first pause is random: up to 1 s after throttling, up to 50 ms otherwise. A
/// configured `initial_backoff` other than 1 s (its default) replaces both limits. The limit doubles per attempt up to
/// `max_backoff` (20 s). If the service requests a longer pause (`x-amz-retry-after`), the client waits up to 5 s
/// longer. If the budget is exhausted, a receive still pauses before it fails, so that a loop of receives does not
/// spin.
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
    pub(crate) region: Option<Region>,
    pub(crate) endpoint_url: Option<String>,
    pub(crate) use_fips: bool,
    pub(crate) use_dual_stack: bool,
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
    pub(crate) time_source: SharedTimeSource,
    pub(crate) transport: Option<Arc<dyn Transport>>,
    pub(crate) pool: PoolConfig,
    pub(crate) tls: TlsConfig,
    /// Created by `build()` from the settings above. A derived configuration that does not change them shares it.
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
    /// Clients with the new configuration share connections with clients of this one, unless you change the transport,
    /// the pool, the TLS settings or the connect timeout.
    pub fn to_builder(&self) -> Builder {
        Builder::from_config(self.clone())
    }

    /// The region for signatures and, without an endpoint URL, for the endpoint.
    pub fn region(&self) -> Option<&Region> {
        self.region.as_ref()
    }

    /// The endpoint URL, if set.
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

    /// The credentials provider, if set.
    pub fn credentials_provider(&self) -> Option<SharedCredentialsProvider> {
        self.credentials.as_ref().map(CredentialsSource::provider)
    }

    /// How strictly checksums are verified.
    pub fn checksum_policy(&self) -> ChecksumPolicy {
        self.checksum_policy
    }

    /// The application name, if set.
    pub fn app_name(&self) -> Option<&AppName> {
        self.app_name.as_ref()
    }

    /// The service name in signatures: `sqs`.
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
