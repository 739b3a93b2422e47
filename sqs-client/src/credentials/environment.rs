//! Credentials from environment variables.

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{self, ProvideCredentials, future};

/// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` at each call.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnvironmentCredentials;

impl EnvironmentCredentials {
    fn load() -> provider::Result {
        let read = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let missing = |name: &str| CredentialsError::not_loaded(format!("{name} is not set"));
        let key = read("AWS_ACCESS_KEY_ID").ok_or_else(|| missing("AWS_ACCESS_KEY_ID"))?;
        let secret = read("AWS_SECRET_ACCESS_KEY").ok_or_else(|| missing("AWS_SECRET_ACCESS_KEY"))?;
        Ok(Credentials::new(key, secret, read("AWS_SESSION_TOKEN"), None, "environment"))
    }
}

impl ProvideCredentials for EnvironmentCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::ready(Self::load())
    }
}
