//! Gets credentials for requests, with or without a cache.

use std::sync::Arc;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_credential_types::provider::{self, SharedCredentialsProvider};

use super::cache::CredentialsCache;
#[cfg(feature = "sdk")]
use super::cache::call;

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
        Self::Cached(Arc::new(CredentialsCache::new(provider)))
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
            Self::Uncached(provider) => call(provider).await,
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
