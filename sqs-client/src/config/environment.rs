//! Settings from environment variables and profiles, with the names that all AWS SDKs use.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html>

use std::num::NonZeroU32;
use std::pin::Pin;

use super::retry::{RetryConfig, RetryMode};
use super::{AppName, Builder, CommonSettings, ConfigError, Region};
use crate::credentials::{Environment, InstanceCredentials};
use crate::settings::Settings;

impl Builder {
    /// Reads environment variables, and the profile that `AWS_PROFILE` selects in `~/.aws/config` and `~/.aws/credentials`.
    /// A variable overrides the profile.
    ///
    /// | Variable | Profile key | Setting |
    /// |---|---|---|
    /// | `AWS_REGION`, else `AWS_DEFAULT_REGION` | `region` | region |
    /// | `AWS_ENDPOINT_URL_SQS`, else `AWS_ENDPOINT_URL` | `endpoint_url` below `sqs` in the `services` section, else `endpoint_url` | endpoint URL |
    /// | `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` | `ignore_configured_endpoint_urls` | `true`: ignore endpoint URLs |
    /// | `AWS_MAX_ATTEMPTS` | `max_attempts` | attempts per operation; 1 disables retries |
    /// | `AWS_RETRY_MODE` | `retry_mode` | `standard`; `adaptive` is treated as `standard` |
    /// | `AWS_USE_FIPS_ENDPOINT` | `use_fips_endpoint` | `true` or `false` |
    /// | `AWS_USE_DUALSTACK_ENDPOINT` | `use_dualstack_endpoint` | `true` or `false` |
    /// | `AWS_CA_BUNDLE` | `ca_bundle` | PEM file of trusted root certificates; replaces the platform's |
    /// | `AWS_SDK_UA_APP_ID` | `sdk_ua_app_id` | application name |
    ///
    /// A leading `~/` of a path is the home directory.
    ///
    /// Without a region, requests to an endpoint URL are signed for the region in its host name, else for `us-east-1`.
    ///
    /// This method sends no request. The first call loads credentials from the
    /// [default chain](super::credentials::CredentialsChain). To query EC2 for the region, use [`load`](Self::load).
    ///
    /// # Errors
    /// A setting is invalid, a file cannot be read, or the selected profile does not exist. The error names the variable,
    /// or the file and line, and what is allowed.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_environment(Environment::default())
    }

    /// Like [`from_env`](Self::from_env), but takes variables, profile, clock and the providers' transports from
    /// `environment` instead of the process.
    ///
    /// # Errors
    /// The same as [`from_env`](Self::from_env).
    pub fn from_environment(environment: Environment) -> Result<Self, ConfigError> {
        let settings = environment.settings()?;
        let read = CommonSettings::read(&settings)?;
        // A region of the environment is that of STS.
        let given = CommonSettings { region: None, ..environment.common.clone() };
        Self::default().credentials_of(environment, given.or(&read)).with_settings(&settings)
    }

    /// Like [`from_env`](Self::from_env). If neither a setting nor the endpoint URL has a region, it also queries the EC2
    /// metadata service. Outside EC2, that query takes a second; `AWS_EC2_METADATA_DISABLED=true` disables it.
    ///
    /// # Errors
    /// The same as [`from_env`](Self::from_env). If no region is found, the first call fails, unless an endpoint URL is set.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the query.
    pub async fn load() -> Result<Self, ConfigError> {
        Self::load_from(Environment::default()).await
    }

    /// Like [`load`](Self::load), but uses `environment` instead of the process.
    ///
    /// # Errors
    /// The same as [`load`](Self::load).
    ///
    /// # Cancel safety
    /// Dropping the future cancels the query.
    pub async fn load_from(environment: Environment) -> Result<Self, ConfigError> {
        Self::loaded(environment).await
    }

    /// Boxed, so that programs do not compile the future again.
    fn loaded(environment: Environment) -> Pin<Box<dyn Future<Output = Result<Self, ConfigError>> + Send>> {
        Box::pin(async move {
            let instance = InstanceCredentials::new(environment.clone());
            let read = tokio::task::spawn_blocking(|| Self::from_environment(environment)).await;
            let interrupted = |error| ConfigError::new(format!("reading settings was interrupted: {error}"));
            let builder = read.map_err(interrupted)??;
            let config = builder.config();
            if config.region().is_some()
                || config.endpoint().is_ok_and(|endpoint| endpoint.region().is_some())
            {
                return Ok(builder);
            }
            match instance.region().await {
                Ok(region) => Ok(builder.region(region.map(Region::new))),
                Err(error) => {
                    tracing::debug!(error = %aws_smithy_types::error::display::DisplayErrorContext(&error), "the EC2 metadata service returned no region");
                    Ok(builder)
                }
            }
        })
    }

    fn with_settings(mut self, settings: &Settings) -> Result<Self, ConfigError> {
        let mut retry = RetryConfig::standard();
        if let Some(mode) = settings.get("AWS_RETRY_MODE", "retry_mode") {
            retry = retry.with_retry_mode(match mode.value.to_ascii_lowercase().as_str() {
                // `legacy` is a mode of older AWS SDKs; `standard` replaces it.
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
        self.set_endpoint_url(settings.endpoint_url("SQS")?);
        Ok(self.retry_config(retry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(variables: &'static [(&str, &str)]) -> Result<super::super::Config, ConfigError> {
        let lookup =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        Builder::from_environment(Environment::default().variables(lookup)).map(Builder::build)
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
    fn endpoint_url_needs_no_region_and_can_be_ignored() {
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
    fn error_of_invalid_value_names_what_is_allowed() {
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

    #[test]
    fn endpoint_variants_of_the_environment_are_taken_over() {
        let lookup = |name: &str| (name == "AWS_USE_FIPS_ENDPOINT").then(|| "true".to_owned());
        let given = Environment::default().variables(lookup).use_fips(false).use_dual_stack(true);
        let config = Builder::from_environment(given).expect("valid").build();
        assert_eq!((config.common.use_fips, config.common.use_dual_stack), (Some(false), Some(true)));
    }

    #[test]
    fn clock_and_tls_of_the_environment_are_taken_over() {
        #[derive(Debug)]
        struct Epoch;

        impl crate::time::TimeSource for Epoch {
            fn now(&self) -> std::time::SystemTime {
                std::time::UNIX_EPOCH
            }
        }

        let lookup = |name: &str| (name == "AWS_CA_BUNDLE").then(|| "/of/the/variable.pem".to_owned());
        let given = Environment::default()
            .variables(lookup)
            .time_source(Epoch)
            .tls(crate::transport::TlsConfig::ca_bundle("/of/the/environment.pem"));
        let config = Builder::from_environment(given).expect("valid").build();
        assert_eq!(config.common.now(), std::time::UNIX_EPOCH);
        let shown = format!("{:?}", config.common.tls);
        assert!(shown.contains("/of/the/environment.pem"), "{shown}");
    }
}
