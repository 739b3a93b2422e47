//! Keeps what a provider gave until shortly before it expires.
//!
//! ```text
//! none, or expired:    caller -> waits for its turn -> asks the provider -> all who waited get the same answer
//! due for renewal:     caller -> gets the kept ones at once; one task asks the provider
//! ```

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{self, ProvideCredentials as _, SharedCredentialsProvider};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::failure::shared;

/// Credentials are renewed this long before they expire, or in the last fifth of their life if that is shorter.
const RENEW_BEFORE: Duration = Duration::from_secs(300);
/// After a renewal that failed, the kept credentials are used for this long before the next try.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);
/// What a provider may take.
const PROVIDER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a caller waits for another one's renewal. A runtime that is not driven any more never ends the renewal that
/// it began, and callers on other runtimes must not wait for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Credentials and when to ask for new ones.
#[derive(Debug)]
struct Kept {
    credentials: Credentials,
    renew_at: Option<SystemTime>,
}

/// The failure of the latest renewal, with its number.
#[derive(Debug, Default)]
struct Failed {
    count: u64,
    error: Option<Arc<CredentialsError>>,
}

#[derive(Debug)]
pub(crate) struct CredentialsCache {
    provider: SharedCredentialsProvider,
    /// Read by every request; written once per renewal. Nobody waits while holding it.
    kept: RwLock<Option<Kept>>,
    /// Read by callers that have no credentials; written once per failed renewal. Nobody waits while holding it.
    failed: RwLock<Failed>,
    /// Held by whoever renews. As long as the kept credentials are good, that is a task of its own, and no request
    /// waits for it. Replaced when a caller's patience ends: the outer lock is held for a comparison and a copy.
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
        match (self.good_at(now), self.is_due(now)) {
            (Some(good), false) => Ok(good),
            (Some(good), true) => {
                if let Ok(turn) = self.renewal().try_lock_owned() {
                    let cache = Arc::clone(self);
                    // Fails only until the good ones expire; then a request asks, and gets the error.
                    tokio::spawn(async move { cache.renew(now, turn).await.err() });
                }
                Ok(good)
            }
            (None, _) => self.wait(now).await,
        }
    }

    /// Waits for its turn, and asks unless somebody else has asked meanwhile: a hundred callers that wait for a service
    /// that fails slowly get its error once, not one after the other.
    async fn wait(&self, now: SystemTime) -> provider::Result {
        let before = read(&self.failed).count;
        let turn = self.turn().await;
        if let Some(good) = self.good_at(now) {
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

    async fn turn(&self) -> OwnedMutexGuard<()> {
        loop {
            let renewal = self.renewal();
            if let Ok(turn) = tokio::time::timeout(PATIENCE, Arc::clone(&renewal).lock_owned()).await {
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
                tracing::debug!(error = %super::failure::reason(&error), "getting credentials failed");
                let error = Arc::new(error);
                let mut failed = self.failed.write().unwrap_or_else(PoisonError::into_inner);
                *failed = Failed { count: failed.count.wrapping_add(1), error: Some(Arc::clone(&error)) };
                Err(shared(&error))
            }
        }
    }

    fn good_at(&self, now: SystemTime) -> Option<Credentials> {
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
