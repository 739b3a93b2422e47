//! Credentials from an identity cache of the AWS SDK.

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{
    ProvideCredentials, Result as Provided, SharedCredentialsProvider, future,
};
use aws_smithy_async::rt::sleep::SharedAsyncSleep;
use aws_smithy_async::time::SharedTimeSource;
use aws_smithy_runtime_api::client::identity::{
    ResolveCachedIdentity as _, SharedIdentityCache, SharedIdentityResolver,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use sqs_client::transport::smithy::runtime_components;

/// Asks the cache for each request; the cache asks the provider.
#[derive(Debug)]
pub(super) struct CachedCredentials {
    cache: SharedIdentityCache,
    resolver: SharedIdentityResolver,
    components: Option<RuntimeComponents>,
    config: ConfigBag,
}

impl CachedCredentials {
    pub(super) fn new(
        cache: SharedIdentityCache,
        provider: SharedCredentialsProvider,
        clock: SharedTimeSource,
        sleep: Option<SharedAsyncSleep>,
    ) -> Self {
        Self {
            cache,
            resolver: SharedIdentityResolver::new(provider),
            components: runtime_components(clock, sleep).ok(),
            config: ConfigBag::base(),
        }
    }

    async fn load(&self) -> Provided {
        let components = self.components.as_ref().ok_or_else(|| {
            CredentialsError::invalid_configuration(
                "the identity cache requires a newer AWS SDK than this crate supports",
            )
        })?;
        let identity =
            self.cache.resolve_cached_identity(self.resolver.clone(), components, &self.config).await;
        let identity = identity.map_err(|error| match error.downcast::<CredentialsError>() {
            Ok(error) => *error,
            Err(error) => CredentialsError::provider_error(error),
        })?;
        let credentials = identity.data::<Credentials>().ok_or_else(|| {
            CredentialsError::unhandled("the identity cache returned something other than AWS credentials")
        })?;
        Ok(credentials.clone())
    }
}

impl ProvideCredentials for CachedCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.load())
    }
}
