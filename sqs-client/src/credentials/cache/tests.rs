//! Tests of the credentials cache, on one runtime and on two.

use std::sync::atomic::{AtomicU32, Ordering};

use aws_credential_types::provider::{ProvideCredentials, future};

use super::*;

/// Call number N returns credentials that expire at the end of hour N, or fails.
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
async fn credentials_are_cached_until_shortly_before_they_expire() {
    let (cache, calls) = cache(u32::MAX);
    for now in [0, 1_000, 3_299] {
        assert_eq!(cache.get(at(now)).await.expect("given").access_key_id(), "AK0");
    }
    assert_eq!(
        cache.get(at(3_300)).await.expect("given").access_key_id(),
        "AK0",
        "valid for five more minutes"
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(cache.get(at(3_300)).await.expect("given").access_key_id(), "AK1", "renewed meanwhile");
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn concurrent_requests_renew_once_and_do_not_wait_while_credentials_are_valid() {
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
async fn failed_renewal_keeps_valid_credentials_and_pauses_before_the_next_one() {
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
async fn forget_drops_only_the_expired_credentials() {
    let (cache, calls) = cache(u32::MAX);
    let old = cache.get(at(0)).await.expect("given");
    cache.forget(&old);
    let new = cache.get(at(0)).await.expect("given");
    assert_ne!(old.access_key_id(), new.access_key_id());
    cache.forget(&old);
    assert_eq!(cache.get(at(0)).await.expect("given").access_key_id(), new.access_key_id());
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

/// One call never ends, as on a runtime that is no longer polled.
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
    Arc::new(CredentialsCache::new(SharedCredentialsProvider::new(provider)))
}

/// Two callers on a second runtime get credentials within the maximum wait.
fn assert_credentials(cache: &Arc<CredentialsCache>, now: u64) {
    let (given, waited) = runtime().block_on(async {
        let begun = tokio::time::Instant::now();
        let (a, b) = tokio::join!(cache.get(at(now)), cache.get(at(now)));
        (a.is_ok() && b.is_ok(), begun.elapsed())
    });
    assert!(given && waited <= MAX_RENEWAL_WAIT + Duration::from_millis(10), "waited {waited:?}");
}

#[test]
fn first_request_on_a_stopped_runtime_does_not_block_another_runtime() {
    let (stuck, cache) = (runtime(), stalling(0));
    let caller = Arc::clone(&cache);
    stuck.spawn(async move { caller.get(at(0)).await.is_ok() });
    stuck.block_on(tokio::task::yield_now());
    assert_credentials(&cache, 0);
}

#[test]
fn renewal_on_a_stopped_runtime_does_not_block_another_runtime() {
    let (stuck, cache) = (runtime(), stalling(1));
    stuck.block_on(async {
        cache.get(at(0)).await.expect("given");
        cache.get(at(3_400)).await.expect("still valid");
        tokio::task::yield_now().await;
    });
    assert_credentials(&cache, 3_401);
    assert_credentials(&cache, 3_700);
}

#[tokio::test(start_paused = true)]
async fn waiting_callers_share_the_error_of_one_failed_renewal() {
    let (cache, calls) = cache(0);
    let (a, b, c) = tokio::join!(cache.get(at(0)), cache.get(at(0)), cache.get(at(0)));
    for result in [a, b, c] {
        let error = result.expect_err("fails");
        assert!(matches!(error, CredentialsError::CredentialsNotLoaded(_)));
        assert_eq!(crate::credentials::failure::reason(&error), "gone");
    }
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert!(cache.get(at(0)).await.is_err());
    assert_eq!(calls.load(Ordering::SeqCst), 2, "a later call renews again");
}

#[test]
fn short_lived_credentials_are_not_renewed_on_every_request() {
    assert_eq!(renewal_before(at(100), at(0)), Some(at(80)));
    assert_eq!(renewal_before(at(36_000), at(0)), Some(at(35_700)));
}
