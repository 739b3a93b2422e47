//! Credentials: from the environment, from code, or from any provider of the AWS SDK; kept until they expire.

use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{self, ProvideCredentials, SharedCredentialsProvider, future};

/// Credentials are renewed this long before they expire.
const RENEW_BEFORE: Duration = Duration::from_secs(300);

/// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` at each call.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnvironmentCredentials;

impl EnvironmentCredentials {
    fn load() -> provider::Result {
        let read = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let missing = |name: &str| CredentialsError::not_loaded(format!("{name} is not set"));
        let key = read("AWS_ACCESS_KEY_ID").ok_or_else(|| missing("AWS_ACCESS_KEY_ID"))?;
        let secret = read("AWS_SECRET_ACCESS_KEY").ok_or_else(|| missing("AWS_SECRET_ACCESS_KEY"))?;
        Ok(Credentials::new(
            key,
            secret,
            read("AWS_SESSION_TOKEN"),
            None,
            "environment",
        ))
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

/// Keeps what a provider gave until shortly before it expires.
#[derive(Debug)]
pub(crate) struct CredentialsCache {
    provider: SharedCredentialsProvider,
    /// Read by every request; written once per renewal. Nobody waits while holding it.
    kept: RwLock<Option<Credentials>>,
    /// Held by the one request that renews; the others wait for it and then find fresh credentials.
    renewal: tokio::sync::Mutex<()>,
}

impl CredentialsCache {
    pub(crate) fn new(provider: SharedCredentialsProvider) -> Self {
        Self {
            provider,
            kept: RwLock::new(None),
            renewal: tokio::sync::Mutex::new(()),
        }
    }

    /// Credentials that are good for some minutes from `now`.
    ///
    /// When the provider fails and the kept ones have not expired yet, those are used.
    pub(crate) async fn get(&self, now: SystemTime) -> Result<Credentials, CredentialsError> {
        if let Some(kept) = self.good_until(now + RENEW_BEFORE) {
            return Ok(kept);
        }
        let _renewal = self.renewal.lock().await;
        if let Some(kept) = self.good_until(now + RENEW_BEFORE) {
            return Ok(kept);
        }
        match self.provider.provide_credentials().await {
            Ok(fresh) => {
                *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Some(fresh.clone());
                Ok(fresh)
            }
            Err(error) => self.good_until(now).ok_or(error),
        }
    }

    /// Forgets what is kept, because the service says that it has expired.
    pub(crate) fn invalidate(&self) {
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn good_until(&self, time: SystemTime) -> Option<Credentials> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref()
            .filter(|kept| kept.expiry().is_none_or(|expiry| expiry > time))
            .cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Gives credentials that last an hour from each call, or fails.
    #[derive(Debug, Default)]
    struct Hourly {
        calls: Arc<AtomicU32>,
        fails_from: u32,
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    impl ProvideCredentials for Hourly {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            let call = self.calls.fetch_add(1, Ordering::SeqCst);
            let expiry = at(u64::from(call + 1) * 3_600);
            future::ProvideCredentials::new(async move {
                tokio::task::yield_now().await;
                if call >= self.fails_from {
                    return Err(CredentialsError::not_loaded("gone"));
                }
                Ok(Credentials::new(
                    "AK",
                    format!("secret {call}"),
                    None,
                    Some(expiry),
                    "hourly",
                ))
            })
        }
    }

    fn cache(fails_from: u32) -> (CredentialsCache, Arc<AtomicU32>) {
        let provider = Hourly {
            calls: Arc::default(),
            fails_from,
        };
        let calls = Arc::clone(&provider.calls);
        (
            CredentialsCache::new(SharedCredentialsProvider::new(provider)),
            calls,
        )
    }

    #[tokio::test]
    async fn credentials_are_kept_until_shortly_before_they_expire() {
        let (cache, calls) = cache(u32::MAX);
        for now in [0, 1_000, 3_299] {
            assert_eq!(
                cache.get(at(now)).await.expect("given").secret_access_key(),
                "secret 0"
            );
        }
        assert_eq!(
            cache.get(at(3_300)).await.expect("given").secret_access_key(),
            "secret 1"
        );
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn many_requests_renew_once() {
        let (cache, calls) = cache(u32::MAX);
        let (a, b, c) = tokio::join!(cache.get(at(0)), cache.get(at(0)), cache.get(at(0)));
        assert!(a.is_ok() && b.is_ok() && c.is_ok());
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_failed_renewal_falls_back_to_what_has_not_expired() {
        let (cache, _) = cache(1);
        cache.get(at(0)).await.expect("given");
        assert!(cache.get(at(3_400)).await.is_ok());
        assert!(cache.get(at(3_700)).await.is_err());
    }

    #[tokio::test]
    async fn invalidated_credentials_are_asked_for_anew() {
        let (cache, calls) = cache(u32::MAX);
        cache.get(at(0)).await.expect("given");
        cache.invalidate();
        cache.get(at(0)).await.expect("given");
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }
}
