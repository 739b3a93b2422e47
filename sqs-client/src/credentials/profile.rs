//! Credentials of a profile in the shared config and credentials files.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html>

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};

use super::environment::{Provided, named};
use super::failure::{invalid, not_configured, reason};
use super::role_chain::{Base, RoleChain};
use super::sts::{Proof, Sts};
use super::{
    ContainerCredentials, Environment, EnvironmentCredentials, InstanceCredentials, ProcessCredentials,
};
use crate::settings::{Setting, Settings};

/// Loads credentials from a profile in `~/.aws/config` and `~/.aws/credentials`, which are read at each call.
///
/// The profile is the one that [`Environment::profile`] selects, else `AWS_PROFILE`, else `default`. It may have keys,
/// `credential_process`, `web_identity_token_file`, or `role_arn` with `source_profile` or `credential_source`.
#[derive(Clone, Debug, Default)]
pub struct ProfileCredentials {
    environment: Environment,
    instance: InstanceCredentials,
}

impl ProfileCredentials {
    /// A provider that reads the variables and files of `environment`.
    pub fn new(environment: Environment) -> Self {
        Self { instance: InstanceCredentials::new(environment.clone()), environment }
    }

    async fn load(&self) -> Provided {
        let settings = self.environment.read_settings().await?;
        let (name, profiles) = (settings.selected(), settings.profiles());
        if profiles.get(name).is_none() {
            return Err(not_configured(format!("profile {name:?} is not in {}", profiles.files())));
        }
        let chain = RoleChain::resolve(profiles, name).map_err(invalid)?;
        let none = || not_configured(format!("profile {name:?} has no credentials"));
        let chain = chain.ok_or_else(none)?;
        let mut credentials = self.base(chain.base, &settings).await.map_err(configured)?;
        for role in &chain.roles {
            let sts = Sts::new(&self.environment, &settings, role)?;
            credentials = sts.assume(role, Proof::Credentials(&credentials)).await?;
        }
        Ok(credentials)
    }

    async fn base(&self, base: Base, settings: &Settings) -> Provided {
        let environment = self.environment.clone();
        match base {
            Base::Keys(keys) => Ok(keys),
            Base::Process(Setting { value: command, place }) => {
                named(&place, ProcessCredentials::new(environment, command).load().await)
            }
            Base::WebIdentity(identity) => identity.exchange(&environment, settings).await,
            Base::Environment => EnvironmentCredentials::new(environment).provide_credentials().await,
            Base::Container => ContainerCredentials::new(environment).provide_credentials().await,
            Base::Instance => self.instance.provide_credentials().await,
        }
    }
}

/// The profile refers to this source, so missing credentials are an error.
fn configured(error: CredentialsError) -> CredentialsError {
    match &error {
        CredentialsError::CredentialsNotLoaded(_) => invalid(reason(&error)),
        _ => error,
    }
}

impl ProvideCredentials for ProfileCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async move { named("profile", self.load().await) })
    }
}
