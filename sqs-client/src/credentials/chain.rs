//! The default chain: all sources in AWS's order.
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

/// The default credentials chain: variables, profile, web identity, container, instance metadata.
///
/// The first source that is configured provides the credentials. If it fails, the chain fails with its error. Sources that
/// are not configured are skipped. [`Builder::from_env`](crate::config::Builder::from_env) uses this chain.
///
/// # Errors
/// - `CredentialsNotLoaded`: no source is configured. The text lists each source with the reason.
/// - `InvalidConfiguration`: the configuration is wrong. The next call after it is fixed succeeds.
/// - others: a source failed. A later call may succeed.
///
/// # Cancel safety
/// Dropping the future cancels the request, or kills the `credential_process` that runs.
#[derive(Clone, Debug, Default)]
pub struct CredentialsChain {
    variables: EnvironmentCredentials,
    profile: ProfileCredentials,
    web_identity: WebIdentityCredentials,
    container: ContainerCredentials,
    instance: InstanceCredentials,
}

impl CredentialsChain {
    /// A chain that reads the variables and files of `environment` at each call.
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
                    tracing::debug!(source = name, "loaded credentials");
                    return Ok(credentials);
                }
                Err(error @ CredentialsError::CredentialsNotLoaded(_)) => tried.push(reason(&error)),
                // The last source needs no configuration, so the user may have meant one of the skipped sources.
                Err(error) if tried.len() + 1 == sources.len() => {
                    return Err(extended(&error, &format!(". Sources tried before: {}", tried.join("; "))));
                }
                Err(error) => return Err(error),
            }
        }
        Err(not_configured(format!(
            "no source is configured. Tried: {}. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for SSO, enable \
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
