//! Credentials providers, one per source. [`CredentialsChain`] tries them in AWS's order.
//!
//! ```text
//! CredentialsSource (cache) -> CredentialsChain -> variables | profile | web identity | container | instance metadata
//!                                                                  |          |            |            |
//!                                                                 STS        STS           exchange (HTTP, bounded)
//! ```

mod cache;
mod container;
mod environment;
mod exchange;
mod instance;
mod profile;
mod sts;

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{self, ProvideCredentials, future};

use self::environment::{Provided, named};
use self::exchange::{extended, invalid, not_configured, reason};

pub(crate) use cache::{CredentialsSource, same};
pub use container::ContainerCredentials;
pub use environment::Environment;
pub use instance::InstanceCredentials;
pub use profile::{ProcessCredentials, ProfileCredentials};
pub use sts::WebIdentityCredentials;

/// The default credentials chain: variables, profile, web identity, container, instance metadata.
///
/// The first source that is configured provides the credentials. If it fails, the chain fails with its error. Sources that
/// are not configured are skipped. [`Builder::from_env`](crate::config::Builder::from_env) uses this chain.
///
/// Source: <https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html>
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
