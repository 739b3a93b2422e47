//! Caches the credentials of a provider until shortly before they expire.
//!
//! ```text
//! none, or expired:    caller -> waits for the task that calls the provider -> all waiting callers share its outcome
//! due for renewal:     caller -> gets the cached credentials at once; one task calls the provider
//! ```

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{self, ProvideCredentials as _, SharedCredentialsProvider};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::failure::{reason, shared, transient};

/// Credentials are renewed this long before they expire, or in the last fifth of their lifetime if that is shorter.
const RENEW_BEFORE: Duration = Duration::from_secs(300);
/// The pause after a failed renewal, during which the cached credentials stay in use.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);
/// How long a call of a provider of the user may take.
pub(super) const PROVIDER_TIMEOUT: Duration = Duration::from_secs(30);
/// A renewal that takes this much longer than its timeout is on a stopped runtime. Callers on other runtimes then start
/// another one.
const STALLED_AFTER: Duration = Duration::from_secs(1);

/// Cached credentials and the time of their renewal.
#[derive(Debug)]
struct Cached {
    credentials: Credentials,
    renew_at: Option<SystemTime>,
}

type Outcome = Result<Credentials, Arc<CredentialsError>>;

/// A task that calls the provider. It is not part of the caller's future, so a caller's timeout does not cancel it.
#[derive(Clone, Debug)]
struct Renewal {
    begun: Instant,
    outcome: watch::Receiver<Option<Outcome>>,
}

#[derive(Debug, Default)]
struct State {
    kept: Option<Cached>,
    /// The latest renewal, until it ends.
    renewal: Option<Renewal>,
}

#[derive(Debug)]
pub(crate) struct CredentialsCache {
    provider: SharedCredentialsProvider,
    /// How long one call of the provider may take.
    timeout: Duration,
    /// Every request reads it; a renewal writes it twice. No code awaits while holding the lock.
    state: RwLock<State>,
}

impl CredentialsCache {
    pub(crate) fn new(provider: SharedCredentialsProvider, timeout: Duration) -> Self {
        Self { provider, timeout, state: RwLock::default() }
    }

    pub(crate) fn provider(&self) -> SharedCredentialsProvider {
        self.provider.clone()
    }

    /// Credentials that have not expired at `now`.
    pub(crate) async fn get(self: &Arc<Self>, now: SystemTime) -> provider::Result {
        loop {
            let (valid, is_due) = {
                let state = self.read();
                (state.valid_at(now).cloned(), state.is_due(now) && self.running(&state).is_none())
            };
            if let Some(valid) = valid {
                if is_due {
                    // A failed renewal is logged. After the expiry, requests wait and get the error.
                    self.join(now);
                }
                return Ok(valid);
            }
            let Some((mut renewal, is_own)) = self.join(now) else { continue };
            // `timeout` accepts any duration; a sum of an instant and a long one panics.
            let left = self.stalls_after().saturating_sub(renewal.begun.elapsed());
            let ended = timeout(left, renewal.outcome.wait_for(Option::is_some));
            match ended.await.map(|outcome| outcome.map(|outcome| outcome.clone())) {
                Ok(Ok(Some(outcome))) => return outcome.map_err(|error| shared(&error)),
                Ok(_) if is_own => {
                    self.end(&renewal);
                    return Err(transient("the provider panicked, or its runtime was shut down"));
                }
                // The runtime of the caller that started it has stopped or was shut down.
                _ => self.end(&renewal),
            }
        }
    }

    /// The running renewal, or a new one (`true`). `None` if a renewal has just ended.
    fn join(self: &Arc<Self>, now: SystemTime) -> Option<(Renewal, bool)> {
        let mut state = self.write();
        if !state.is_due(now) {
            return None;
        }
        if let Some(running) = self.running(&state) {
            return Some((running.clone(), false));
        }
        let (sender, outcome) = watch::channel(None);
        let renewal = Renewal { begun: Instant::now(), outcome };
        state.renewal = Some(renewal.clone());
        let (cache, own) = (Arc::clone(self), renewal.clone());
        tokio::spawn(async move {
            let outcome = call(&cache.provider, cache.timeout).await.map_err(Arc::new);
            cache.keep(&own, &outcome, now);
            sender.send_replace(Some(outcome));
        });
        Some((renewal, true))
    }

    /// Stores the outcome of a renewal, unless a later renewal has started: its outcome is newer.
    fn keep(&self, renewal: &Renewal, outcome: &Outcome, asked_at: SystemTime) {
        let mut state = self.write();
        if !state.is_latest(renewal) {
            return;
        }
        state.renewal = None;
        match outcome {
            Ok(credentials) => {
                let renew_at = credentials.expiry().and_then(|expiry| renewal_before(expiry, asked_at));
                state.kept = Some(Cached { credentials: credentials.clone(), renew_at });
            }
            Err(error) => {
                let error = reason(error);
                // The pause starts at the end of a renewal, so that slow failures do not follow each other at once.
                let ended_at = asked_at.checked_add(renewal.begun.elapsed());
                if let Some(kept) = state.kept.as_mut() {
                    kept.renew_at = ended_at.and_then(|at| at.checked_add(PAUSE_AFTER_FAILURE));
                }
                if ended_at.is_some_and(|at| state.valid_at(at).is_some()) {
                    tracing::warn!(%error, "renewing credentials failed: the current ones are used until they expire");
                } else {
                    tracing::debug!(%error, "loading credentials failed");
                }
            }
        }
    }

    /// Allows the next caller to start another renewal.
    fn end(&self, renewal: &Renewal) {
        let mut state = self.write();
        if state.is_latest(renewal) {
            state.renewal = None;
        }
    }

    /// Removes credentials that SQS rejected as expired. Newer credentials stay.
    pub(crate) fn forget(&self, expired: &Credentials) {
        let mut state = self.write();
        if state.kept.as_ref().is_some_and(|kept| same(&kept.credentials, expired)) {
            state.kept = None;
        }
    }

    fn running<'s>(&self, state: &'s State) -> Option<&'s Renewal> {
        state.renewal.as_ref().filter(|renewal| renewal.begun.elapsed() < self.stalls_after())
    }

    fn stalls_after(&self) -> Duration {
        self.timeout.saturating_add(STALLED_AFTER)
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn valid_at(&self, now: SystemTime) -> Option<&Credentials> {
        let credentials = &self.kept.as_ref()?.credentials;
        credentials.expiry().is_none_or(|expiry| expiry > now).then_some(credentials)
    }

    fn is_due(&self, now: SystemTime) -> bool {
        let renew_at = self.kept.as_ref().and_then(|kept| kept.renew_at);
        self.valid_at(now).is_none() || renew_at.is_some_and(|renew_at| renew_at <= now)
    }

    fn is_latest(&self, renewal: &Renewal) -> bool {
        self.renewal.as_ref().is_some_and(|latest| latest.outcome.same_channel(&renewal.outcome))
    }
}

/// Calls the provider, with a timeout.
pub(super) async fn call(provider: &SharedCredentialsProvider, limit: Duration) -> provider::Result {
    let provided = timeout(limit, provider.provide_credentials()).await;
    provided.unwrap_or_else(|_| Err(CredentialsError::provider_timed_out(limit)))
}

/// Whether both have the same access key and session token.
pub(crate) fn same(a: &Credentials, b: &Credentials) -> bool {
    a.access_key_id() == b.access_key_id() && a.session_token() == b.session_token()
}

fn renewal_before(expiry: SystemTime, now: SystemTime) -> Option<SystemTime> {
    let life = expiry.duration_since(now).unwrap_or_default();
    expiry.checked_sub(RENEW_BEFORE.min(life / 5))
}

#[cfg(test)]
mod tests;
