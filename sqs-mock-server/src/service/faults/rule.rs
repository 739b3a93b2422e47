//! An injected fault: how often it applied, and whether it applies now.

use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use parking_lot::Mutex;

use super::Fault;
use crate::service::clock::Timestamp;

#[derive(Debug)]
pub(crate) struct Rule {
    pub(super) id: u64,
    pub(super) fault: Fault,
    hits: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Matching requests or entries that it still has to skip.
    skip: u64,
    bucket: TokenBucket,
    chance: Rng,
}

/// A token bucket for `above`, in thousandths of a request. Its capacity is a tenth of a second's requests, at least
/// one.
#[derive(Debug, Default)]
struct TokenBucket {
    thousandths: u64,
    filled: Option<Timestamp>,
}

impl TokenBucket {
    /// Takes one request from the bucket, if it has one at time `now`.
    fn take(&mut self, per_second: u32, now: Timestamp) -> bool {
        let most = (u64::from(per_second) * 100).max(1_000);
        let since = self.filled.map(|filled| now.saturating_since(filled));
        let added = since.map_or(u128::MAX, |since| since.as_millis().saturating_mul(u128::from(per_second)));
        self.filled = self.filled.max(Some(now));
        self.thousandths =
            u64::try_from(added).unwrap_or(u64::MAX).saturating_add(self.thousandths).min(most);
        let has_one = per_second > 0 && self.thousandths >= 1_000;
        self.thousandths -= if has_one { 1_000 } else { 0 };
        has_one
    }
}

impl Rule {
    pub(super) fn new(id: u64, fault: Fault, chance: Rng) -> Self {
        let state = State { skip: fault.filter.skip.unwrap_or(0), bucket: TokenBucket::default(), chance };
        Self { id, fault, hits: AtomicU64::new(0), state: Mutex::new(state) }
    }

    /// Decides whether the fault affects something that its filter accepts; if so, counts a hit.
    pub(super) fn hit(&self, now: Timestamp) -> bool {
        let mut state = self.state.lock();
        if self.is_spent() || state.chance.f64() >= self.fault.filter.probability.unwrap_or(1.0) {
            return false;
        }
        if state.skip > 0 {
            state.skip -= 1;
            return false;
        }
        if self.fault.filter.above.is_some_and(|per_second| state.bucket.take(per_second, now)) {
            return false;
        }
        self.hits.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Reverts a hit that had no effect.
    pub(crate) fn take_back(&self) {
        // Does not underflow: each hit is counted before, and is reverted at most once.
        self.hits.fetch_sub(1, Ordering::Relaxed);
    }

    /// A random number from 0 to 1, for the effect.
    pub(super) fn draw(&self) -> f64 {
        self.state.lock().chance.f64()
    }

    pub(super) fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    pub(super) fn is_spent(&self) -> bool {
        self.fault.filter.times.is_some_and(|times| self.hits() >= times)
    }
}
