//! The credentials cache, on one runtime and on two.

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
    assert_eq!(cache.get(at(3_300)).await.expect("given").access_key_id(), "AK0", "good for five minutes");
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
        assert_eq!(crate::credentials::failure::reason(&error), "gone");
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
    let cache = Arc::new(CredentialsCache::new(SharedCredentialsProvider::new(Panicking), PROVIDER_TIMEOUT));
    let (a, b) = tokio::join!(cache.get(at(0)), cache.get(at(0)));
    assert!(a.is_err() && b.is_err());
    assert!(cache.get(at(0)).await.is_err());
}
