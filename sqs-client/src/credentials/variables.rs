//! Credentials from environment variables.

use aws_credential_types::Credentials;
use aws_credential_types::provider::{self, ProvideCredentials, future};

use super::Environment;
use super::environment::named;
use super::failure::{invalid, not_configured};

const KEY: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";

/// Loads credentials from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, at each call.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentCredentials(Environment);

impl EnvironmentCredentials {
    /// A provider that reads the variables of `environment`.
    pub fn new(environment: Environment) -> Self {
        Self(environment)
    }

    fn load(&self) -> provider::Result {
        let read = |name: &str| self.0.variables.text(name);
        match (read(KEY), read(SECRET)) {
            (Some(key), Some(secret)) => {
                Ok(Credentials::new(key, secret, read("AWS_SESSION_TOKEN"), None, "environment"))
            }
            (None, None) => Err(not_configured(format!("{KEY} is not set"))),
            (Some(_), None) => Err(invalid(format!("{KEY} is set but {SECRET} is not: set both or neither"))),
            (None, Some(_)) => Err(invalid(format!("{SECRET} is set but {KEY} is not: set both or neither"))),
        }
    }
}

impl ProvideCredentials for EnvironmentCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::ready(named("variables", self.load()))
    }
}
