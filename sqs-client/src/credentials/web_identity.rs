//! Credentials in exchange for a token of an identity provider, such as IAM roles for service accounts on EKS.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/feature-assume-role-credentials.html>

use std::path::PathBuf;

use aws_credential_types::provider::{ProvideCredentials, future};

use super::Environment;
use super::environment::{Provided, blocking, named};
use super::failure::{invalid, not_configured};
use super::sts::{Proof, Role, Sts};
use crate::settings::{Settings, read_file};

const TOKEN_FILE: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";
const ROLE: &str = "AWS_ROLE_ARN";

/// Exchanges the token in the file `AWS_WEB_IDENTITY_TOKEN_FILE` for credentials of the role `AWS_ROLE_ARN`.
///
/// `AWS_ROLE_SESSION_NAME` sets the session name. The file is read at each call, because the platform replaces the token.
#[derive(Clone, Debug, Default)]
pub struct WebIdentityCredentials(Environment);

/// A role and the file with its token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct WebIdentity {
    pub(super) role: Role,
    pub(super) token_file: PathBuf,
    /// The setting that names the file.
    pub(super) place: String,
}

impl WebIdentityCredentials {
    /// A provider that reads the variables of `environment`.
    pub fn new(environment: Environment) -> Self {
        Self(environment)
    }

    async fn load(&self) -> Provided {
        let read = |name: &str| self.0.variables.text(name);
        let (token_file, arn) = match (read(TOKEN_FILE), read(ROLE)) {
            (Some(file), Some(arn)) => (file, arn),
            (None, _) => return Err(not_configured(format!("{TOKEN_FILE} is not set"))),
            (Some(_), None) => {
                return Err(invalid(format!("{TOKEN_FILE} is set but {ROLE} is not: set both or neither")));
            }
        };
        let role = Role { arn, session_name: read("AWS_ROLE_SESSION_NAME"), ..Role::default() };
        let token_file = self.0.variables.expanded(&token_file);
        let settings = self.0.read_settings().await?;
        let identity = WebIdentity { role, token_file, place: TOKEN_FILE.to_owned() };
        identity.exchange(&self.0, &settings).await
    }
}

impl WebIdentity {
    pub(super) async fn exchange(self, environment: &Environment, settings: &Settings) -> Provided {
        let Self { role, token_file, place } = self;
        let sts = Sts::new(environment, settings, &role)?;
        let token = blocking(move || match read_file(&token_file) {
            Ok(Some(token)) if !token.trim().is_empty() => Ok(token),
            Ok(Some(_)) => Err(invalid(format!("{place}: {} is empty", token_file.display()))),
            Ok(None) => Err(invalid(format!("{place}: {} does not exist", token_file.display()))),
            Err(error) => Err(invalid(format!("{place}: {error}"))),
        });
        sts.assume(&role, Proof::Token(token.await?.trim())).await
    }
}

impl ProvideCredentials for WebIdentityCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async move { named("web identity", self.load().await) })
    }
}
