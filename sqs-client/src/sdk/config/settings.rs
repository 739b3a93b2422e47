//! The settings of a configuration. Settings without a value do not override those of another configuration.

use std::sync::Arc;

use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_async::rt::sleep::SharedAsyncSleep;
use aws_smithy_async::time::SharedTimeSource;
use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_runtime_api::client::identity::SharedIdentityCache;
use aws_smithy_runtime_api::client::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::app_name::AppName;
use aws_types::region::Region;

use super::identity::CachedCredentials;
use crate::config::{AppName as PlainAppName, Builder as PlainBuilder, Config as PlainConfig};
use crate::time::SystemClock;
use crate::transport::{SmithyTransport, Transport};

#[derive(Clone, Default)]
pub(crate) struct Settings {
    /// The plain configuration that this one was converted from. It has the settings without a field here.
    pub(super) plain: Option<Box<PlainConfig>>,
    pub(super) region: Option<Region>,
    pub(super) endpoint_url: Option<String>,
    pub(super) use_fips: Option<bool>,
    pub(super) use_dual_stack: Option<bool>,
    pub(super) credentials_provider: Option<SharedCredentialsProvider>,
    pub(super) identity_cache: Option<SharedIdentityCache>,
    pub(super) allow_no_auth: bool,
    pub(super) retry_config: Option<RetryConfig>,
    pub(super) timeout_config: Option<TimeoutConfig>,
    pub(super) app_name: Option<AppName>,
    pub(super) time_source: Option<SharedTimeSource>,
    pub(super) disable_clock_skew_correction: Option<bool>,
    pub(super) http_client: Option<SharedHttpClient>,
    pub(super) sleep_impl: Option<SharedAsyncSleep>,
    pub(super) stalled_stream_protection: Option<StalledStreamProtectionConfig>,
    pub(super) behavior_version: Option<BehaviorVersion>,
}

impl Settings {
    /// The equivalent configuration of the plain client.
    pub(crate) fn to_plain(&self) -> PlainConfig {
        let plain = self.plain.as_ref().map_or_else(PlainConfig::builder, |plain| plain.to_builder());
        PlainConfig { exact_timeouts: true, ..self.apply_to(plain, self.transport()) }
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
            } };
        }
        merge! {
            plain region endpoint_url use_fips use_dual_stack credentials_provider identity_cache retry_config app_name
            time_source disable_clock_skew_correction http_client sleep_impl stalled_stream_protection behavior_version
        }
    }

    /// Whether an override with these settings keeps the credentials.
    pub(crate) fn keeps_credentials(&self) -> bool {
        self.credentials_provider.is_none() && self.identity_cache.is_none()
    }

    /// Whether an override with these settings keeps the HTTP client and its settings.
    pub(crate) fn keeps_http_client(&self) -> bool {
        let has_timeouts = |set: &TimeoutConfig| set.connect_timeout().or(set.read_timeout()).is_some();
        self.http_client.is_none() && !self.timeout_config.as_ref().is_some_and(has_timeouts)
    }

    /// The HTTP client as a transport.
    pub(crate) fn transport(&self) -> Option<Arc<dyn Transport>> {
        let client = self.http_client.as_ref()?;
        let timeouts = self.timeout_config.clone().unwrap_or_else(|| TimeoutConfig::builder().build());
        let (clock, sleep) = (self.time_source.clone(), self.sleep_impl.clone());
        Some(SmithyTransport::shared(client, &timeouts, timeouts.read_timeout(), clock, sleep))
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
