//! All sources in AWS's order.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html>

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};

use super::environment::Provided;
use super::failure::{extended, not_configured, reason};
use super::{
    ContainerCredentials, Environment, EnvironmentCredentials, InstanceCredentials, ProfileCredentials,
    WebIdentityCredentials,
};

/// Asks every source in AWS's order: variables, profile, web identity, container, instance metadata.
///
/// A source that nothing configures is skipped. A source that is configured and does not work ends the chain with its error.
/// [`Builder::from_env`](crate::config::Builder::from_env) uses it.
///
/// # Errors
/// `CredentialsNotLoaded` lists every source with the reason why it has no credentials. `InvalidConfiguration` needs a change of
/// the configuration, which the next call notices. Others may pass.
///
/// # Cancel safety
/// Dropping the future gives up the request or the program that runs.
#[derive(Clone, Debug, Default)]
pub struct CredentialsChain {
    variables: EnvironmentCredentials,
    profile: ProfileCredentials,
    web_identity: WebIdentityCredentials,
    container: ContainerCredentials,
    instance: InstanceCredentials,
}

impl CredentialsChain {
    /// A chain that reads variables and files of `environment`, at each call.
    pub fn new(environment: &Environment) -> Self {
        Self {
            variables: EnvironmentCredentials::new(environment.clone()),
            profile: ProfileCredentials::new(environment.clone()),
            web_identity: WebIdentityCredentials::new(environment.clone()),
            container: ContainerCredentials::new(environment.clone()),
            instance: InstanceCredentials::new(environment.clone()),
        }
    }

    async fn load(&self) -> Provided {
        let sources: [(&str, &dyn ProvideCredentials); 5] = [
            ("variables", &self.variables),
            ("profile", &self.profile),
            ("web identity", &self.web_identity),
            ("container", &self.container),
            ("instance metadata", &self.instance),
        ];
        let mut tried = Vec::new();
        for (name, source) in sources {
            match source.provide_credentials().await {
                Ok(credentials) => {
                    tracing::debug!(source = name, "credentials are loaded");
                    return Ok(credentials);
                }
                Err(error @ CredentialsError::CredentialsNotLoaded(_)) => tried.push(reason(&error)),
                // Nothing has to ask for the last source: perhaps another one was meant.
                Err(error) if tried.len() + 1 == sources.len() => {
                    return Err(extended(&error, &format!(". Skipped before: {}", tried.join("; "))));
                }
                Err(error) => return Err(error),
            }
        }
        Err(not_configured(format!(
            "no source has any. Tried: {}. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for SSO, enable \
             the feature `aws-config` and use Client::new(&aws_config::load_from_env().await)",
            tried.join("; ")
        )))
    }
}

impl ProvideCredentials for CredentialsChain {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.load())
    }
}
