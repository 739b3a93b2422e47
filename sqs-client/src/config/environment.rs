//! Settings from environment variables, named as all AWS SDKs name them.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html>

use std::fmt;
use std::str::FromStr;

use super::retry::{RetryConfig, RetryMode};
use super::{Builder, Region};
use crate::credentials::EnvironmentCredentials;
use crate::transport::TlsConfig;

/// An environment variable has a value that it cannot have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EnvironmentError {
    name: &'static str,
    value: String,
    allowed: &'static str,
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?} is not valid: {} is allowed", self.name, self.value, self.allowed)
    }
}

impl std::error::Error for EnvironmentError {}

/// Reads variables through `lookup`; empty values count as unset.
struct Environment<L>(L);

impl<L: Fn(&str) -> Option<String>> Environment<L> {
    fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn parse<T: FromStr>(
        &self,
        name: &'static str,
        allowed: &'static str,
    ) -> Result<Option<T>, EnvironmentError> {
        let Some(value) = self.text(name) else {
            return Ok(None);
        };
        value.parse().map(Some).map_err(|_| EnvironmentError { name, value, allowed })
    }

    fn flag(&self, name: &'static str) -> Result<bool, EnvironmentError> {
        let Some(value) = self.text(name) else { return Ok(false) };
        match value.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(EnvironmentError { name, value, allowed: "true or false" }),
        }
    }
}

impl Builder {
    /// Settings from the environment:
    ///
    /// | variable | setting |
    /// |---|---|
    /// | `AWS_REGION`, else `AWS_DEFAULT_REGION` | region |
    /// | `AWS_ENDPOINT_URL_SQS`, else `AWS_ENDPOINT_URL` | endpoint URL; the region is then `us-east-1` if unset |
    /// | `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS` | `true` ignores both of these |
    /// | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN` | credentials, read when needed |
    /// | `AWS_MAX_ATTEMPTS` | attempts of one operation, 1 for no retries |
    /// | `AWS_RETRY_MODE` | `standard` or `adaptive` |
    /// | `AWS_CA_BUNDLE` | a PEM file of the root certificates to trust instead of the platform's |
    /// | `AWS_USE_FIPS_ENDPOINT`, `AWS_USE_DUALSTACK_ENDPOINT` | `true` or `false` |
    ///
    /// # Errors
    /// A variable has a value that it cannot have; the error names it and what is allowed.
    pub fn from_env() -> Result<Self, EnvironmentError> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// As [`from_env`](Self::from_env), with the variables from elsewhere.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, EnvironmentError> {
        let env = Environment(lookup);
        let mut endpoint_url = env.text("AWS_ENDPOINT_URL_SQS").or_else(|| env.text("AWS_ENDPOINT_URL"));
        if env.flag("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")? {
            endpoint_url = None;
        }
        let region = env.text("AWS_REGION").or_else(|| env.text("AWS_DEFAULT_REGION"));
        let region = region.or_else(|| endpoint_url.as_ref().map(|_| "us-east-1".to_owned()));

        let mut retry = RetryConfig::standard();
        if let Some(mode) = env.text("AWS_RETRY_MODE") {
            let mode = match mode.to_ascii_lowercase().as_str() {
                // What older SDKs call legacy is standard in this one.
                "standard" | "legacy" => RetryMode::Standard,
                "adaptive" => RetryMode::Adaptive,
                _ => {
                    let allowed = "standard or adaptive";
                    return Err(EnvironmentError { name: "AWS_RETRY_MODE", value: mode, allowed });
                }
            };
            retry = retry.with_retry_mode(mode);
        }
        if let Some(attempts) =
            env.parse::<std::num::NonZeroU32>("AWS_MAX_ATTEMPTS", "a whole number from 1")?
        {
            retry = retry.with_max_attempts(attempts.get());
        }
        let mut builder = Self::default()
            .retry_config(retry)
            .credentials_provider(EnvironmentCredentials)
            .use_fips(env.flag("AWS_USE_FIPS_ENDPOINT")?)
            .use_dual_stack(env.flag("AWS_USE_DUALSTACK_ENDPOINT")?);
        builder.set_endpoint_url(endpoint_url);
        builder.set_region(region.map(Region::new));
        builder.set_tls_config(env.text("AWS_CA_BUNDLE").map(TlsConfig::ca_bundle));
        Ok(builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(variables: &[(&str, &str)]) -> Result<super::super::Config, EnvironmentError> {
        let lookup =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        Builder::from_lookup(lookup).map(Builder::build)
    }

    #[test]
    fn the_more_specific_variable_wins() {
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
    fn an_endpoint_alone_is_enough_and_can_be_ignored() {
        let config = built(&[("AWS_ENDPOINT_URL_SQS", "http://sqs")]).expect("valid");
        assert_eq!(config.region().map(AsRef::as_ref), Some("us-east-1"));
        let ignored =
            [("AWS_ENDPOINT_URL_SQS", "http://sqs"), ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "True")];
        let config = built(&ignored).expect("valid");
        assert_eq!((config.region(), config.endpoint_url()), (None, None));
    }

    #[test]
    fn retries_are_read() {
        let config = built(&[("AWS_MAX_ATTEMPTS", "7"), ("AWS_RETRY_MODE", "adaptive")]).expect("valid");
        let retry = config.retry_config().expect("set");
        assert_eq!((retry.max_attempts(), retry.mode()), (7, RetryMode::Adaptive));
    }

    #[test]
    fn bad_values_are_named_with_what_is_allowed() {
        for (name, value, allowed) in [
            ("AWS_MAX_ATTEMPTS", "0", "a whole number from 1"),
            ("AWS_MAX_ATTEMPTS", "many", "a whole number from 1"),
            ("AWS_RETRY_MODE", "wild", "standard or adaptive"),
            ("AWS_USE_FIPS_ENDPOINT", "yes", "true or false"),
        ] {
            let text = built(&[(name, value)]).expect_err("invalid").to_string();
            assert!(text.contains(name) && text.contains(value) && text.contains(allowed), "{text}");
        }
    }
}
