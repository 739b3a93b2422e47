//! Caches credentials and renews them shortly before they expire.
//!
//! ```text
//! none, or expired:    caller -> waits for the renewal lock -> calls the provider -> all waiting callers get the result
//! due for renewal:     caller -> gets the cached credentials at once; one task calls the provider
//! ```

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{self, ProvideCredentials as _, SharedCredentialsProvider};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::failure::shared;

/// Credentials are renewed this long before they expire, or in the last fifth of their lifetime if that is shorter.
const RENEW_BEFORE: Duration = Duration::from_secs(300);
/// The pause after a failed renewal, while the cached credentials are still valid.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);
/// The timeout of one provider call.
const PROVIDER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a caller waits for another caller's renewal. If that renewal runs on a runtime that is no longer polled, it
/// never ends, and callers on other runtimes must not wait for it forever.
const MAX_RENEWAL_WAIT: Duration = Duration::from_secs(5);

/// Credentials, and the time to renew them.
#[derive(Debug)]
struct Cached {
    credentials: Credentials,
    renew_at: Option<SystemTime>,
}

/// The latest failed renewal, and the number of failures so far.
#[derive(Debug, Default)]
struct Failed {
    count: u64,
    error: Option<Arc<CredentialsError>>,
}

#[derive(Debug)]
pub(crate) struct CredentialsCache {
    provider: SharedCredentialsProvider,
    /// Read by every request, written once per renewal. Never held across an await.
    kept: RwLock<Option<Cached>>,
    /// Read by callers without credentials, written once per failed renewal. Never held across an await.
    failed: RwLock<Failed>,
    /// The inner lock is held during a renewal. While the cached credentials are valid, a background task renews them and
    /// no request waits. A caller that waits too long replaces the inner lock; it holds the outer lock only briefly.
    renewal: RwLock<Arc<Mutex<()>>>,
}

impl CredentialsCache {
    pub(crate) fn new(provider: SharedCredentialsProvider) -> Self {
        Self { provider, kept: RwLock::default(), failed: RwLock::default(), renewal: RwLock::default() }
    }

    pub(crate) fn provider(&self) -> SharedCredentialsProvider {
        self.provider.clone()
    }

    /// Credentials that have not expired at `now`.
    pub(crate) async fn get(self: &Arc<Self>, now: SystemTime) -> provider::Result {
        match (self.valid_at(now), self.is_due(now)) {
            (Some(good), false) => Ok(good),
            (Some(good), true) => {
                if let Ok(turn) = self.renewal().try_lock_owned() {
                    let cache = Arc::clone(self);
                    // The error is ignored: once the credentials expire, a request renews them and reports the error.
                    tokio::spawn(async move { cache.renew(now, turn).await.err() });
                }
                Ok(good)
            }
            (None, _) => self.wait_or_renew(now).await,
        }
    }

    /// Waits for the renewal lock, and renews unless another caller did so meanwhile. If a slow service fails, all waiting
    /// callers get the same error at once, instead of one timeout after the other.
    async fn wait_or_renew(&self, now: SystemTime) -> provider::Result {
        let before = read(&self.failed).count;
        let turn = self.lock_renewal().await;
        if let Some(good) = self.valid_at(now) {
            return Ok(good);
        }
        let failed = match &*read(&self.failed) {
            Failed { count, error: Some(error) } if *count != before => Some(shared(error)),
            _ => None,
        };
        match failed {
            Some(error) => Err(error),
            None => self.renew(now, turn).await,
        }
    }

    async fn lock_renewal(&self) -> OwnedMutexGuard<()> {
        loop {
            let renewal = self.renewal();
            if let Ok(turn) = tokio::time::timeout(MAX_RENEWAL_WAIT, Arc::clone(&renewal).lock_owned()).await
            {
                return turn;
            }
            let mut current = self.renewal.write().unwrap_or_else(PoisonError::into_inner);
            if Arc::ptr_eq(&current, &renewal) {
                *current = Arc::default();
            }
        }
    }

    fn renewal(&self) -> Arc<Mutex<()>> {
        Arc::clone(&read(&self.renewal))
    }

    /// Drops `expired` from the cache, because the service rejected it as expired. Newer credentials stay.
    pub(crate) fn forget(&self, expired: &Credentials) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_some_and(|kept| same(&kept.credentials, expired)) {
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
                *kept = Some(Cached { credentials: credentials.clone(), renew_at });
                Ok(credentials)
            }
            Err(error) => {
                if let Some(kept) = kept.as_mut() {
                    kept.renew_at = now.checked_add(PAUSE_AFTER_FAILURE);
                }
                tracing::debug!(error = %super::failure::reason(&error), "loading credentials failed");
                let error = Arc::new(error);
                let mut failed = self.failed.write().unwrap_or_else(PoisonError::into_inner);
                *failed = Failed { count: failed.count.wrapping_add(1), error: Some(Arc::clone(&error)) };
                Err(shared(&error))
            }
        }
    }

    fn valid_at(&self, now: SystemTime) -> Option<Credentials> {
        let kept = read(&self.kept);
        let credentials = &kept.as_ref()?.credentials;
        credentials.expiry().is_none_or(|expiry| expiry > now).then(|| credentials.clone())
    }

    fn is_due(&self, now: SystemTime) -> bool {
        read(&self.kept).as_ref().and_then(|kept| kept.renew_at).is_some_and(|renew_at| renew_at <= now)
    }
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn same(a: &Credentials, b: &Credentials) -> bool {
    a.access_key_id() == b.access_key_id() && a.session_token() == b.session_token()
}

fn renewal_before(expiry: SystemTime, now: SystemTime) -> Option<SystemTime> {
    let life = expiry.duration_since(now).unwrap_or_default();
    expiry.checked_sub(RENEW_BEFORE.min(life / 5))
}

#[cfg(test)]
mod tests;
