//! The credentials of a client: of a provider, cached until shortly before they expire.
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
use tokio::sync::SetOnce;
use tokio::time::{Instant, timeout};

use super::exchange::{reason, shared, transient};
use super::{CredentialsChain, Environment};

/// Credentials are renewed this long before they expire, or in the last fifth of their lifetime if that is shorter.
const RENEW_BEFORE: Duration = Duration::from_secs(300);
/// The pause after a failed renewal, during which the cached credentials stay in use.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);
/// How long a call of a provider of the user may take.
const PROVIDER_TIMEOUT: Duration = Duration::from_secs(30);
/// A renewal that takes this much longer than its timeout is on a stopped runtime. Callers on other runtimes then start
/// another one.
const STALLED_AFTER: Duration = Duration::from_secs(1);

/// A property of credentials that a source returns again because it failed: to the cache, that is a failed renewal.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastKnown;

/// The credentials of a client.
#[derive(Clone, Debug)]
pub(crate) enum CredentialsSource {
    Cached(Arc<CredentialsCache>),
    /// The client calls the provider for each request: the provider has a cache, with its own rules.
    #[cfg(feature = "aws-config")]
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
            #[cfg(feature = "aws-config")]
            Self::Uncached(provider) => provider.clone(),
        }
    }

    /// Credentials for a request that is signed at `now`.
    pub(crate) async fn get(&self, now: SystemTime) -> provider::Result {
        match self {
            Self::Cached(cache) => cache.get(now).await,
            #[cfg(feature = "aws-config")]
            // The identity cache has a timeout of its own.
            Self::Uncached(provider) => provider.provide_credentials().await,
        }
    }

    /// Removes credentials that SQS rejected as expired from the cache.
    pub(crate) fn forget(&self, expired: &Credentials) {
        match self {
            Self::Cached(cache) => cache.forget(expired),
            #[cfg(feature = "aws-config")]
            Self::Uncached(_) => {}
        }
    }
}

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
    /// `None` if the task has died. Those who wait are woken in their order, so that runs of tests repeat.
    outcome: Arc<SetOnce<Option<Outcome>>>,
}

/// Tells those who wait for a renewal when its task dies.
struct Dying(Arc<SetOnce<Option<Outcome>>>);

impl Drop for Dying {
    fn drop(&mut self) {
        // It may have an outcome.
        let _ = self.0.set(None);
    }
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
    fn new(provider: SharedCredentialsProvider, timeout: Duration) -> Self {
        Self { provider, timeout, state: RwLock::default() }
    }

    pub(crate) fn provider(&self) -> SharedCredentialsProvider {
        self.provider.clone()
    }

    /// Credentials that have not expired at `now`.
    async fn get(self: &Arc<Self>, now: SystemTime) -> provider::Result {
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
            let Some((renewal, is_own)) = self.join(now) else { continue };
            // `timeout` accepts any duration; a sum of an instant and a long one panics.
            let left = self.stalls_after().saturating_sub(renewal.begun.elapsed());
            match timeout(left, renewal.outcome.wait()).await {
                Ok(Some(outcome)) => return outcome.clone().map_err(|error| shared(&error)),
                Ok(None) if is_own => {
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
        let renewal = Renewal { begun: Instant::now(), outcome: Arc::default() };
        state.renewal = Some(renewal.clone());
        let (cache, own) = (Arc::clone(self), renewal.clone());
        let dying = Dying(Arc::clone(&renewal.outcome));
        tokio::spawn(async move {
            let outcome = call(&cache.provider, cache.timeout).await.map_err(Arc::new);
            cache.keep(&own, &outcome, now);
            // Nobody else sets it.
            let _ = dying.0.set(Some(outcome));
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
        // The pause starts at the end of a renewal, so that slow failures do not follow each other at once.
        let ended_at = asked_at.checked_add(renewal.begun.elapsed());
        let after_pause = ended_at.and_then(|at| at.checked_add(PAUSE_AFTER_FAILURE));
        match outcome {
            Ok(credentials) => {
                let of_expiry = || credentials.expiry().and_then(|expiry| renewal_before(expiry, asked_at));
                let is_last_known = credentials.get_property::<LastKnown>().is_some();
                let renew_at = if is_last_known { after_pause } else { of_expiry() };
                state.kept = Some(Cached { credentials: credentials.clone(), renew_at });
            }
            Err(error) => {
                let error = reason(error);
                if let Some(kept) = state.kept.as_mut() {
                    kept.renew_at = after_pause;
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
        self.renewal.as_ref().is_some_and(|latest| Arc::ptr_eq(&latest.outcome, &renewal.outcome))
    }
}

/// Calls the provider, with a timeout.
async fn call(provider: &SharedCredentialsProvider, limit: Duration) -> provider::Result {
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
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use aws_credential_types::provider::{ProvideCredentials, future};

    use super::*;

    /// Provides credentials that expire at the end of the hour and contain the number of the call, or fails.
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
        (Arc::new(CredentialsCache::new(SharedCredentialsProvider::new(provider), PROVIDER_TIMEOUT)), calls)
    }

    #[tokio::test(start_paused = true)]
    async fn credentials_are_cached_until_shortly_before_they_expire() {
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
    async fn concurrent_requests_renew_once_and_use_valid_credentials_meanwhile() {
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
    async fn failed_renewal_keeps_valid_credentials_and_is_not_retried_at_once() {
        let (cache, calls) = cache(1);
        cache.get(at(0)).await.expect("given");
        // The pause counts from the end of the renewal, which takes 100 ms.
        for now in [3_400, 3_401, 3_410] {
            assert!(cache.get(at(now)).await.is_ok());
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(calls.load(Ordering::SeqCst), 2);
        assert!(cache.get(at(3_700)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn only_rejected_credentials_are_removed() {
        let (cache, calls) = cache(u32::MAX);
        let old = cache.get(at(0)).await.expect("given");
        cache.forget(&old);
        let new = cache.get(at(0)).await.expect("given");
        assert_ne!(old.access_key_id(), new.access_key_id());
        cache.forget(&old);
        assert_eq!(cache.get(at(0)).await.expect("given").access_key_id(), new.access_key_id());
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    /// Call number `stalls` never ends, like a call on a runtime that is no longer driven.
    #[derive(Debug)]
    struct Stalled {
        calls: AtomicU32,
        stalls: u32,
    }

    impl ProvideCredentials for Stalled {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            let call = self.calls.fetch_add(1, Ordering::SeqCst);
            let (stalls, expiry) = (call == self.stalls, at(u64::from(call + 1) * 3_600));
            future::ProvideCredentials::new(async move {
                if stalls {
                    std::future::pending::<()>().await;
                }
                Ok(Credentials::new(format!("AK{call}"), "secret", None, Some(expiry), "stalled"))
            })
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        let builder = &mut tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().expect("a runtime")
    }

    fn stalling(stalls: u32) -> Arc<CredentialsCache> {
        let provider = Stalled { calls: AtomicU32::new(0), stalls };
        Arc::new(CredentialsCache::new(SharedCredentialsProvider::new(provider), PROVIDER_TIMEOUT))
    }

    /// Checks that two callers on a second runtime get credentials, within the timeout of a renewal.
    fn assert_is_given(cache: &Arc<CredentialsCache>, now: u64) {
        let (given, waited) = runtime().block_on(async {
            let begun = tokio::time::Instant::now();
            let (a, b) = tokio::join!(cache.get(at(now)), cache.get(at(now)));
            (a.is_ok() && b.is_ok(), begun.elapsed())
        });
        assert!(given && waited <= cache.stalls_after() + Duration::from_millis(10), "waited {waited:?}");
    }

    #[test]
    fn first_request_on_a_stopped_runtime_does_not_block_another_runtime() {
        let (stuck, cache) = (runtime(), stalling(0));
        let caller = Arc::clone(&cache);
        stuck.spawn(async move { caller.get(at(0)).await.is_ok() });
        stuck.block_on(tokio::task::yield_now());
        assert_is_given(&cache, 0);
    }

    #[test]
    fn renewal_on_a_stopped_runtime_does_not_block_another_runtime() {
        let (stuck, cache) = (runtime(), stalling(1));
        stuck.block_on(async {
            cache.get(at(0)).await.expect("given");
            cache.get(at(3_400)).await.expect("still good");
            tokio::task::yield_now().await;
        });
        assert_is_given(&cache, 3_401);
        assert_is_given(&cache, 3_700);
    }

    #[tokio::test(start_paused = true)]
    async fn callers_that_wait_share_the_error_of_one_failed_renewal() {
        let (cache, calls) = cache(0);
        let (a, b, c) = tokio::join!(cache.get(at(0)), cache.get(at(0)), cache.get(at(0)));
        for result in [a, b, c] {
            let error = result.expect_err("fails");
            assert!(matches!(error, CredentialsError::CredentialsNotLoaded(_)));
            assert_eq!(crate::credentials::exchange::reason(&error), "gone");
        }
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        assert!(cache.get(at(0)).await.is_err());
        assert_eq!(calls.load(Ordering::SeqCst), 2, "a later call asks again");
    }

    #[test]
    fn short_lived_credentials_are_not_renewed_on_every_request() {
        assert_eq!(renewal_before(at(100), at(0)), Some(at(80)));
        assert_eq!(renewal_before(at(36_000), at(0)), Some(at(35_700)));
    }

    /// Provides credentials after a delay.
    #[derive(Debug)]
    struct Slow {
        calls: Arc<AtomicU32>,
        seconds: u64,
    }

    impl ProvideCredentials for Slow {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            self.calls.fetch_add(1, Ordering::SeqCst);
            future::ProvideCredentials::new(async move {
                tokio::time::sleep(Duration::from_secs(self.seconds)).await;
                Ok(Credentials::new("AK", "secret", None, Some(at(3_600)), "slow"))
            })
        }
    }

    fn slow(seconds: u64) -> (Arc<CredentialsCache>, Arc<AtomicU32>) {
        let calls = Arc::default();
        let provider = Slow { calls: Arc::clone(&calls), seconds };
        (Arc::new(CredentialsCache::new(SharedCredentialsProvider::new(provider), PROVIDER_TIMEOUT)), calls)
    }

    #[tokio::test(start_paused = true)]
    async fn slow_provider_is_called_once_for_all_waiting_callers() {
        for seconds in [12, 29] {
            let (cache, calls) = slow(seconds);
            let (a, b) = tokio::join!(cache.get(at(0)), cache.get(at(0)));
            assert!(a.is_ok() && b.is_ok());
            assert_eq!(calls.load(Ordering::SeqCst), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn provider_timeout_is_an_error_of_all_waiting_callers_after_one_call() {
        let (cache, calls) = slow(1_000);
        let (a, b) = tokio::join!(cache.get(at(0)), cache.get(at(0)));
        for result in [a, b] {
            assert!(matches!(result, Err(CredentialsError::ProviderTimedOut(_))));
        }
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn dropped_caller_does_not_cancel_the_renewal() {
        let (cache, calls) = slow(3);
        let limit = Duration::from_secs(2);
        assert!(timeout(limit, cache.get(at(0))).await.is_err(), "the provider needs longer");
        assert!(timeout(limit, cache.get(at(2))).await.expect("in time").is_ok());
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn outcome_of_an_older_renewal_does_not_replace_newer_credentials() {
        let gate = Arc::new(tokio::sync::Notify::new());
        for succeeds in [true, false] {
            let provider = Gated { calls: AtomicU32::new(0), gate: Arc::clone(&gate), succeeds };
            let cache =
                Arc::new(CredentialsCache::new(SharedCredentialsProvider::new(provider), PROVIDER_TIMEOUT));
            let (stuck, caller) = (runtime(), Arc::clone(&cache));
            let stuck_call = stuck.spawn(async move { caller.get(at(0)).await.is_ok() });
            stuck.block_on(async {
                tokio::task::yield_now().await;
                tokio::task::yield_now().await;
            });
            let newer = runtime().block_on(cache.get(at(0))).expect("taken over");
            assert_eq!(newer.access_key_id(), "AK1");
            gate.notify_one();
            assert_eq!(stuck.block_on(stuck_call).expect("ends"), succeeds);
            let state = cache.read();
            let kept = state.kept.as_ref().expect("kept");
            assert_eq!(kept.credentials.access_key_id(), "AK1");
            assert_eq!(kept.renew_at, Some(at(6_900)), "the older failure does not postpone the renewal");
        }
    }

    /// The first call waits for the gate.
    #[derive(Debug)]
    struct Gated {
        calls: AtomicU32,
        gate: Arc<tokio::sync::Notify>,
        succeeds: bool,
    }

    impl ProvideCredentials for Gated {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            let call = self.calls.fetch_add(1, Ordering::SeqCst);
            future::ProvideCredentials::new(async move {
                if call == 0 {
                    self.gate.notified().await;
                    if !self.succeeds {
                        return Err(CredentialsError::not_loaded("gone"));
                    }
                }
                let expiry = at(u64::from(call + 1) * 3_600);
                Ok(Credentials::new(format!("AK{call}"), "secret", None, Some(expiry), "gated"))
            })
        }
    }

    #[derive(Debug)]
    struct Panicking;

    impl ProvideCredentials for Panicking {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            future::ProvideCredentials::new(async { panic!("a provider with a bug") })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn provider_that_panics_is_an_error_of_each_call() {
        let cache =
            Arc::new(CredentialsCache::new(SharedCredentialsProvider::new(Panicking), PROVIDER_TIMEOUT));
        let (a, b) = tokio::join!(cache.get(at(0)), cache.get(at(0)));
        assert!(a.is_err() && b.is_err());
        assert!(cache.get(at(0)).await.is_err());
    }
}
