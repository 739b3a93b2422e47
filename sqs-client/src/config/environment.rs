//! Settings from variables and profiles, named as all AWS SDKs name them.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html>

use std::num::NonZeroU32;

use super::retry::{RetryConfig, RetryMode};
use super::{AppName, Builder, ConfigError, Region};
use crate::credentials::{Environment, InstanceCredentials};
use crate::settings::Settings;
use crate::transport::TlsConfig;

impl Builder {
    /// Settings from variables, and from the profile that `AWS_PROFILE` selects in `~/.aws/config` and `~/.aws/credentials`.
    /// A variable wins over the profile.
    ///
    /// | variable | in the profile | setting |
    /// |---|---|---|
    /// | `AWS_REGION`, else `AWS_DEFAULT_REGION` | `region` | region |
    /// | `AWS_ENDPOINT_URL_SQS`, else `AWS_ENDPOINT_URL` | `services` with `sqs` and `endpoint_url`, else `endpoint_url` | endpoint URL |
    /// | `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` | `ignore_configured_endpoint_urls` | `true` ignores all endpoint URLs |
    /// | `AWS_MAX_ATTEMPTS` | `max_attempts` | attempts of one operation, 1 for no retries |
    /// | `AWS_RETRY_MODE` | `retry_mode` | `standard` or `adaptive` |
    /// | `AWS_USE_FIPS_ENDPOINT` | `use_fips_endpoint` | `true` or `false` |
    /// | `AWS_USE_DUALSTACK_ENDPOINT` | `use_dualstack_endpoint` | `true` or `false` |
    /// | `AWS_CA_BUNDLE` | `ca_bundle` | a PEM file of the root certificates to trust instead of the platform's |
    /// | `AWS_SDK_UA_APP_ID` | `sdk_ua_app_id` | name of the application |
    ///
    /// Without a region, requests to an endpoint URL are signed for the region in its host, else for `us-east-1`.
    ///
    /// Credentials come from the [chain of providers](super::credentials::CredentialsChain), which is first asked by the first
    /// call: this method sends no request. Use [`load`](Self::load) to ask an EC2 instance for its region.
    ///
    /// # Errors
    /// A setting has a value that is not allowed, a file cannot be read, or there is no such profile. The error names the
    /// variable, or the file and line, and what is allowed.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_environment(Environment::default())
    }

    /// As [`from_env`](Self::from_env), with the variables from elsewhere. `HOME` is among them: the files are below it.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_lookup(
        lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Result<Self, ConfigError> {
        Self::from_environment(Environment::default().variables(lookup))
    }

    /// As [`from_env`](Self::from_env), with all that the process gives from elsewhere: variables, profile, clock and the
    /// transports of the providers.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_environment(environment: Environment) -> Result<Self, ConfigError> {
        let settings = environment.settings()?;
        let builder = Self::default().credentials_of(environment);
        builder.with_settings(&settings)
    }

    /// As [`from_env`](Self::from_env), and asks the metadata service of an EC2 instance for the region when neither a
    /// setting nor the endpoint URL names one. Elsewhere that takes a second; `AWS_EC2_METADATA_DISABLED=true` avoids it.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env). A region that cannot be found is an error of the first call.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the request.
    pub async fn load() -> Result<Self, ConfigError> {
        Self::load_from(Environment::default()).await
    }

    /// As [`load`](Self::load), with all that the process gives from elsewhere.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub async fn load_from(environment: Environment) -> Result<Self, ConfigError> {
        let instance = InstanceCredentials::new(environment.clone());
        let read = tokio::task::spawn_blocking(|| Self::from_environment(environment)).await;
        let interrupted = |error| ConfigError::new(format!("reading settings was interrupted: {error}"));
        let builder = read.map_err(interrupted)??;
        let config = builder.config();
        if config.region.is_some() || config.endpoint().is_ok_and(|endpoint| endpoint.region().is_some()) {
            return Ok(builder);
        }
        match instance.region().await {
            Ok(region) => Ok(builder.region(region.map(Region::new))),
            Err(error) => {
                tracing::debug!(error = %aws_smithy_types::error::display::DisplayErrorContext(&error), "no region of an instance");
                Ok(builder)
            }
        }
    }

    fn with_settings(mut self, settings: &Settings) -> Result<Self, ConfigError> {
        let mut retry = RetryConfig::standard();
        if let Some(mode) = settings.get("AWS_RETRY_MODE", "retry_mode") {
            retry = retry.with_retry_mode(match mode.value.to_ascii_lowercase().as_str() {
                // What older SDKs call legacy is standard in this one.
                "standard" | "legacy" => RetryMode::Standard,
                "adaptive" => RetryMode::Adaptive,
                _ => return Err(mode.invalid("standard or adaptive")),
            });
        }
        if let Some(attempts) = settings.get("AWS_MAX_ATTEMPTS", "max_attempts") {
            retry = retry.with_max_attempts(attempts.parse::<NonZeroU32>("a whole number from 1")?.get());
        }
        if let Some(name) = settings.get("AWS_SDK_UA_APP_ID", "sdk_ua_app_id") {
            let allowed = "letters, digits and !#$%&'*+-.^_`|~";
            self = self.app_name(AppName::new(name.value.clone()).map_err(|_| name.invalid(allowed))?);
        }
        if let Some(file) = settings.get("AWS_CA_BUNDLE", "ca_bundle") {
            self = self.tls_config(TlsConfig::ca_bundle(&file.value));
        }
        self.set_endpoint_url(settings.endpoint_url("SQS")?).set_region(settings.region().map(Region::new));
        Ok(self
            .retry_config(retry)
            .use_fips(settings.flag("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint")?)
            .use_dual_stack(settings.flag("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint")?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(variables: &'static [(&str, &str)]) -> Result<super::super::Config, ConfigError> {
        let lookup =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        Builder::from_lookup(lookup).map(Builder::build)
    }

    #[test]
    fn more_specific_variable_wins() {
        let config = built(&[
            ("AWS_REGION", "eu-west-1"),
            ("AWS_DEFAULT_REGION", "eu-west-2"),
            ("AWS_ENDPOINT_URL", "http://all"),
            ("AWS_ENDPOINT_URL_SQS", "http://sqs"),
        ])
        .expect("valid");
        assert_eq!(config.region().map(AsRef::as_ref), Some("eu-west-1"));
        assert_eq!(config.endpoint_url(), Some("http://sqs"));
        let config = built(&[("AWS_DEFAULT_REGION", "eu-west-2"), ("AWS_ENDPOINT_URL", "http://all")]);
        let config = config.expect("valid");
        assert_eq!(config.region().map(AsRef::as_ref), Some("eu-west-2"));
        assert_eq!(config.endpoint_url(), Some("http://all"));
    }

    #[test]
    fn endpoint_alone_is_enough_and_can_be_ignored() {
        let config = built(&[("AWS_ENDPOINT_URL_SQS", "http://sqs")]).expect("valid");
        assert_eq!((config.region(), config.endpoint_url()), (None, Some("http://sqs")));
        let config =
            built(&[("AWS_ENDPOINT_URL_SQS", "http://sqs"), ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "True")]);
        let config = config.expect("valid");
        assert_eq!((config.region(), config.endpoint_url()), (None, None));
    }

    #[test]
    fn retries_and_application_name_are_read() {
        let config = built(&[
            ("AWS_MAX_ATTEMPTS", "7"),
            ("AWS_RETRY_MODE", "adaptive"),
            ("AWS_SDK_UA_APP_ID", "orders"),
        ])
        .expect("valid");
        let retry = config.retry_config().expect("set");
        assert_eq!((retry.max_attempts(), retry.mode()), (7, RetryMode::Adaptive));
        assert_eq!(config.app_name().map(AsRef::as_ref), Some("orders"));
    }

    #[test]
    fn bad_values_are_named_with_what_is_allowed() {
        let bad: [(&'static [(&str, &str)], &str); 5] = [
            (&[("AWS_MAX_ATTEMPTS", "0")], "a whole number from 1"),
            (&[("AWS_MAX_ATTEMPTS", "many")], "a whole number from 1"),
            (&[("AWS_RETRY_MODE", "wild")], "standard or adaptive"),
            (&[("AWS_USE_FIPS_ENDPOINT", "yes")], "true or false"),
            (&[("AWS_SDK_UA_APP_ID", "two words")], "letters, digits"),
        ];
        for (variables, allowed) in bad {
            let text = built(variables).expect_err("invalid").to_string();
            let (name, value) = variables[0];
            assert!(text.contains(name) && text.contains(value) && text.contains(allowed), "{text}");
        }
    }
}
