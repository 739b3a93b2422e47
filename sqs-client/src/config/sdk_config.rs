//! Configuration from the `SdkConfig` that `aws-config` loads: credential sources, profiles and endpoints.

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_types::SdkConfig;
use aws_types::service_config::ServiceConfigKey;

use super::timeout::TimeoutConfig;
use super::{AppName, Builder, Config, IntoRegion as _};
use crate::transport::{SmithyTransport, Transport};

impl From<&SdkConfig> for Builder {
    fn from(sdk: &SdkConfig) -> Self {
        let mut builder = Self::default()
            .use_fips(sdk.use_fips().unwrap_or_default())
            .use_dual_stack(sdk.use_dual_stack().unwrap_or_default())
            .disable_clock_skew_correction(sdk.disable_clock_skew_correction());
        builder
            .set_region(sdk.region().cloned().into_region())
            .set_endpoint_url(endpoint_url(sdk))
            .set_credentials_provider(sdk.credentials_provider())
            .set_retry_config(sdk.retry_config().cloned())
            .set_timeout_config(sdk.timeout_config().cloned());
        if let Some(time_source) = sdk.time_source() {
            builder = builder.time_source(time_source);
        }
        if let Some(Ok(name)) = sdk.app_name().map(|name| AppName::new(name.as_ref().to_owned())) {
            builder = builder.app_name(name);
        }
        if let Some(client) = sdk.http_client() {
            builder.set_transport(Some(transport(&client, sdk)));
        }
        builder
    }
}

/// The HTTP client that the program passed to `aws-config`, which sets none by default.
fn transport(client: &SharedHttpClient, sdk: &SdkConfig) -> Arc<dyn Transport> {
    let timeouts = sdk.timeout_config().cloned().unwrap_or_else(|| TimeoutConfig::builder().build());
    // No read timeout: it would cut long polls. The client limits each attempt by it, and adds the wait time.
    SmithyTransport::shared(client, &timeouts, None, sdk.time_source(), sdk.sleep_impl())
}

/// The endpoint URL set in code, else the SQS-specific one of the environment or profile, else their general one.
pub fn endpoint_url(sdk: &SdkConfig) -> Option<String> {
    if sdk.get_origin("endpoint_url").is_client_config() {
        return sdk.endpoint_url().map(str::to_owned);
    }
    let key =
        ServiceConfigKey::builder().service_id("SQS").env("AWS_ENDPOINT_URL").profile("endpoint_url").build();
    let of_service = key.ok().and_then(|key| sdk.service_config()?.load_config(key));
    of_service.or_else(|| sdk.endpoint_url().map(str::to_owned))
}

impl From<&SdkConfig> for Config {
    fn from(sdk: &SdkConfig) -> Self {
        Builder::from(sdk).build()
    }
}

impl Config {
    /// Takes region, endpoint, credentials, HTTP client, retries and timeouts from the AWS SDK's configuration.
    ///
    /// If it has an HTTP client, that client sends every request. To use the transport of this crate instead, call
    /// [`Builder::from`] and [`set_transport(None)`](Builder::set_transport).
    ///
    /// Its identity cache is not used: each client has its own credentials cache and renews credentials before they expire.
    /// Only its HTTP client uses its timer; timeouts and retries use the timer of tokio.
    pub fn new(sdk: &SdkConfig) -> Self {
        sdk.into()
    }
}

#[cfg(test)]
mod tests {
    use aws_smithy_types::retry::RetryConfig;
    use aws_types::region::Region;

    use super::*;

    #[test]
    fn config_has_the_settings_of_the_sdk_config() {
        let credentials = super::super::Credentials::new("AK", "secret", None, None, "test");
        let sdk = SdkConfig::builder()
            .region(Region::new("eu-west-3"))
            .endpoint_url("http://localhost:1")
            .credentials_provider(super::super::SharedCredentialsProvider::new(credentials))
            .retry_config(RetryConfig::standard().with_max_attempts(9))
            .build();
        let config = Config::new(&sdk);
        assert_eq!(config.region().map(AsRef::as_ref), Some("eu-west-3"));
        assert_eq!(config.endpoint_url(), Some("http://localhost:1"));
        assert_eq!(config.retry_config().map(RetryConfig::max_attempts), Some(9));
        assert!(config.credentials_provider().is_some());
    }
}
