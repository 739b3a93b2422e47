//! Gets credentials for requests, with or without a cache.

use std::sync::Arc;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_credential_types::provider::{self, SharedCredentialsProvider};

#[cfg(feature = "sdk")]
use super::cache::call;
use super::cache::{CredentialsCache, PROVIDER_TIMEOUT};
use super::{CredentialsChain, Environment};

/// The credentials of a client.
#[derive(Clone, Debug)]
pub(crate) enum CredentialsSource {
    Cached(Arc<CredentialsCache>),
    /// The client calls the provider for each request: the provider has a cache, with its own rules.
    #[cfg(feature = "sdk")]
    Uncached(SharedCredentialsProvider),
}

impl CredentialsSource {
    pub(crate) fn cached(provider: SharedCredentialsProvider) -> Self {
        Self::Cached(Arc::new(CredentialsCache::new(provider, PROVIDER_TIMEOUT)))
    }

    /// The default chain. Its sources have timeouts, so that errors name the source: this one is longer.
    pub(crate) fn chain(environment: &Environment) -> Self {
        let provider = SharedCredentialsProvider::new(CredentialsChain::new(environment));
        Self::Cached(Arc::new(CredentialsCache::new(provider, environment.longest_call())))
    }

    pub(crate) fn provider(&self) -> SharedCredentialsProvider {
        match self {
            Self::Cached(cache) => cache.provider(),
            #[cfg(feature = "sdk")]
            Self::Uncached(provider) => provider.clone(),
        }
    }

    /// Credentials for a request that is signed at `now`.
    pub(crate) async fn get(&self, now: SystemTime) -> provider::Result {
        match self {
            Self::Cached(cache) => cache.get(now).await,
            #[cfg(feature = "sdk")]
            Self::Uncached(provider) => call(provider, PROVIDER_TIMEOUT).await,
        }
    }

    /// Removes credentials that SQS rejected as expired from the cache.
    pub(crate) fn forget(&self, expired: &Credentials) {
        match self {
            Self::Cached(cache) => cache.forget(expired),
            #[cfg(feature = "sdk")]
            Self::Uncached(_) => {}
        }
    }
}
