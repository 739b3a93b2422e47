//! The faults of a server, and how often each of them applied.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fastrand::Rng;
use parking_lot::{Mutex, RwLock};

use super::Fault;
use crate::service::clock::Timestamp;
use crate::service::delays::Delays;
use crate::service::seed::Seed;

/// The faults of a server, returned by [`MockSqs::faults`](crate::MockSqs::faults). Clones share them.
#[derive(Clone, Debug)]
pub struct Faults {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    seed: Seed,
    /// Whether there are faults. Requests read nothing else while it is false.
    any: AtomicBool,
    injected: AtomicU64,
    /// Not held while a rule is locked or while user conditions run.
    rules: RwLock<Vec<Arc<Rule>>>,
    delays: Delays,
}

impl Faults {
    pub(crate) fn new(seed: Seed) -> Self {
        let shared = Shared {
            seed,
            any: AtomicBool::new(false),
            injected: AtomicU64::new(0),
            rules: RwLock::default(),
            delays: Delays::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Adds a fault. It applies to all later requests.
    pub fn inject(&self, fault: Fault) -> InjectedFault {
        let id = self.shared.injected.fetch_add(1, Ordering::Relaxed) + 1;
        let chance = self.shared.seed.generator(&format!("fault {id}"));
        let rule = Arc::new(Rule::new(id, fault, chance));
        self.shared.rules.write().push(Arc::clone(&rule));
        self.shared.any.store(true, Ordering::Release);
        InjectedFault { rule, faults: self.clone() }
    }

    /// Removes all faults.
    pub fn clear(&self) {
        let mut rules = self.shared.rules.write();
        rules.clear();
        self.shared.any.store(false, Ordering::Release);
    }

    /// Removes spent faults if there are at least this many faults.
    pub(crate) fn forget_spent(&self, at_most: usize) {
        let mut rules = self.shared.rules.write();
        if rules.len() >= at_most {
            rules.retain(|rule| !rule.is_spent());
        }
    }

    /// All injected faults that were not removed, spent ones included, in the order of their injection.
    pub fn list(&self) -> Vec<InjectedFault> {
        let injected = |rule: &Arc<Rule>| InjectedFault { rule: Arc::clone(rule), faults: self.clone() };
        self.shared.rules.read().iter().map(injected).collect()
    }

    /// The rules of all faults; `None` without faults.
    pub(super) fn rules(&self) -> Option<Vec<Arc<Rule>>> {
        self.shared.any.load(Ordering::Acquire).then(|| self.shared.rules.read().clone())
    }

    /// The requests that wait for their latency.
    pub(crate) fn delays(&self) -> &Delays {
        &self.shared.delays
    }

    fn remove(&self, rule: &Arc<Rule>) {
        let mut rules = self.shared.rules.write();
        rules.retain(|other| !Arc::ptr_eq(other, rule));
        self.shared.any.store(!rules.is_empty(), Ordering::Release);
    }
}

/// An injected fault. Dropping this handle does not remove the fault.
#[derive(Clone, Debug)]
pub struct InjectedFault {
    rule: Arc<Rule>,
    faults: Faults,
}

impl InjectedFault {
    /// The number of the fault, from 1.
    pub fn id(&self) -> u64 {
        self.rule.id
    }

    /// The number of requests, or entries, it affected.
    pub fn hits(&self) -> u64 {
        self.rule.hits()
    }

    /// Whether it reached its limit of [`times`](Fault::times).
    pub fn is_spent(&self) -> bool {
        self.rule.is_spent()
    }

    /// The fault.
    pub fn fault(&self) -> &Fault {
        &self.rule.fault
    }

    /// Removes the fault.
    pub fn remove(&self) {
        self.faults.remove(&self.rule);
    }
}

/// An injected fault: how often it applied, and whether it applies now.
#[derive(Debug)]
pub(crate) struct Rule {
    id: u64,
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
    fn new(id: u64, fault: Fault, chance: Rng) -> Self {
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

    fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    fn is_spent(&self) -> bool {
        self.fault.filter.times.is_some_and(|times| self.hits() >= times)
    }
}
