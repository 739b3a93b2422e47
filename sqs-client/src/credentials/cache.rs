//! Keeps what a provider gave until shortly before it expires.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{self, ProvideCredentials as _, SharedCredentialsProvider};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Credentials are renewed this long before they expire, or in the last fifth of their life if that is shorter.
const RENEW_BEFORE: Duration = Duration::from_secs(300);
/// After a renewal that failed, the kept credentials are used for this long before the next try.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);
/// What a provider may take.
const PROVIDER_TIMEOUT: Duration = Duration::from_secs(30);

/// Credentials and when to ask for new ones.
#[derive(Debug)]
struct Kept {
    credentials: Credentials,
    renew_at: Option<SystemTime>,
}

#[derive(Debug)]
pub(crate) struct CredentialsCache {
    provider: SharedCredentialsProvider,
    /// Read by every request; written once per renewal. Nobody waits while holding it.
    kept: RwLock<Option<Kept>>,
    /// Held by whoever renews. As long as the kept credentials are good, that is a task of its own, and no request
    /// waits for it.
    renewal: Arc<Mutex<()>>,
}

impl CredentialsCache {
    pub(crate) fn new(provider: SharedCredentialsProvider) -> Self {
        Self { provider, kept: RwLock::new(None), renewal: Arc::default() }
    }

    /// Credentials that have not expired at `now`.
    pub(crate) async fn get(self: &Arc<Self>, now: SystemTime) -> provider::Result {
        match (self.good_at(now), self.is_due(now)) {
            (Some(good), false) => Ok(good),
            (Some(good), true) => {
                if let Ok(renewal) = Arc::clone(&self.renewal).try_lock_owned() {
                    let cache = Arc::clone(self);
                    // Fails only until the good ones expire; then a request asks, and gets the error.
                    tokio::spawn(async move { cache.renew(now, renewal).await.err() });
                }
                Ok(good)
            }
            (None, _) => {
                let renewal = Arc::clone(&self.renewal).lock_owned().await;
                match self.good_at(now) {
                    Some(good) => Ok(good),
                    None => self.renew(now, renewal).await,
                }
            }
        }
    }

    /// Forgets `refused`, because the service says that it has expired; newer credentials stay.
    pub(crate) fn forget(&self, refused: &Credentials) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_some_and(|kept| same(&kept.credentials, refused)) {
            *kept = None;
        }
    }

    async fn renew(&self, now: SystemTime, _: OwnedMutexGuard<()>) -> provider::Result {
        let provided = tokio::time::timeout(PROVIDER_TIMEOUT, self.provider.provide_credentials()).await;
        let provided =
            provided.unwrap_or_else(|_| Err(CredentialsError::provider_timed_out(PROVIDER_TIMEOUT)));
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        match provided {
            Ok(credentials) => {
                let renew_at = credentials.expiry().and_then(|expiry| renewal_before(expiry, now));
                *kept = Some(Kept { credentials: credentials.clone(), renew_at });
                Ok(credentials)
            }
            Err(error) => {
                if let Some(kept) = kept.as_mut() {
                    kept.renew_at = now.checked_add(PAUSE_AFTER_FAILURE);
                }
                Err(error)
            }
        }
    }

    fn good_at(&self, now: SystemTime) -> Option<Credentials> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let credentials = &kept.as_ref()?.credentials;
        credentials.expiry().is_none_or(|expiry| expiry > now).then(|| credentials.clone())
    }

    fn is_due(&self, now: SystemTime) -> bool {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().and_then(|kept| kept.renew_at).is_some_and(|renew_at| renew_at <= now)
    }
}

fn same(a: &Credentials, b: &Credentials) -> bool {
    a.access_key_id() == b.access_key_id() && a.session_token() == b.session_token()
}

fn renewal_before(expiry: SystemTime, now: SystemTime) -> Option<SystemTime> {
    let life = expiry.duration_since(now).unwrap_or_default();
    expiry.checked_sub(RENEW_BEFORE.min(life / 5))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use aws_credential_types::provider::{ProvideCredentials, future};

    use super::*;

    /// Gives credentials that last until the end of the hour with the number of the call, or fails.
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
                tokio::time::sleep(Duration::from_millis(100)).await;
                if call >= self.fails_from {
                    return Err(CredentialsError::not_loaded("gone"));
                }
                Ok(Credentials::new(format!("AK{call}"), "secret", None, Some(expiry), "hourly"))
            })
        }
    }

    fn cache(fails_from: u32) -> (Arc<CredentialsCache>, Arc<AtomicU32>) {
        let provider = Hourly { calls: Arc::default(), fails_from };
        let calls = Arc::clone(&provider.calls);
        (Arc::new(CredentialsCache::new(SharedCredentialsProvider::new(provider))), calls)
    }

    #[tokio::test(start_paused = true)]
    async fn credentials_are_kept_until_shortly_before_they_expire() {
        let (cache, calls) = cache(u32::MAX);
        for now in [0, 1_000, 3_299] {
            assert_eq!(cache.get(at(now)).await.expect("given").access_key_id(), "AK0");
        }
        assert_eq!(
            cache.get(at(3_300)).await.expect("given").access_key_id(),
            "AK0",
            "good for five minutes"
        );
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(cache.get(at(3_300)).await.expect("given").access_key_id(), "AK1", "renewed meanwhile");
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn many_requests_renew_once_and_nobody_waits_while_there_are_good_ones() {
        let (cache, calls) = cache(u32::MAX);
        let (a, b, c) = tokio::join!(cache.get(at(0)), cache.get(at(0)), cache.get(at(0)));
        assert!(a.is_ok() && b.is_ok() && c.is_ok());
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        let started = tokio::time::Instant::now();
        let (a, b) = tokio::join!(cache.get(at(3_500)), cache.get(at(3_500)));
        assert_eq!((a.expect("given").access_key_id(), b.expect("given").access_key_id()), ("AK0", "AK0"));
        assert!(started.elapsed().is_zero());
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_renewal_falls_back_to_what_has_not_expired_and_is_not_repeated_at_once() {
        let (cache, calls) = cache(1);
        cache.get(at(0)).await.expect("given");
        for now in [3_400, 3_401, 3_409] {
            assert!(cache.get(at(now)).await.is_ok());
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(calls.load(Ordering::SeqCst), 2);
        assert!(cache.get(at(3_700)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_refused_credentials_are_forgotten() {
        let (cache, calls) = cache(u32::MAX);
        let old = cache.get(at(0)).await.expect("given");
        cache.forget(&old);
        let new = cache.get(at(0)).await.expect("given");
        assert_ne!(old.access_key_id(), new.access_key_id());
        cache.forget(&old);
        assert_eq!(cache.get(at(0)).await.expect("given").access_key_id(), new.access_key_id());
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn short_lived_credentials_are_not_renewed_on_every_request() {
        assert_eq!(renewal_before(at(100), at(0)), Some(at(80)));
        assert_eq!(renewal_before(at(36_000), at(0)), Some(at(35_700)));
    }
}
