//! The faults of a server, and how often they struck.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fastrand::Rng;
use parking_lot::{Mutex, RwLock};

use super::{Fault, Plan, Request};
use crate::service::clock::Timestamp;
use crate::service::seed::Seed;

/// The faults of a server, from [`MockSqs::faults`](crate::MockSqs::faults). Clones share them.
#[derive(Clone, Debug)]
pub struct Faults {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    seed: Seed,
    /// What a request without faults looks at.
    any: AtomicBool,
    injected: AtomicU64,
    /// Never locked by a holder of a rule's lock, nor while conditions of the user run.
    rules: RwLock<Vec<Arc<Rule>>>,
}

/// A fault that was injected.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(super) id: u64,
    pub(super) fault: Fault,
    hits: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// How many it has still to spare.
    spare: u64,
    bucket: Bucket,
    chance: Rng,
}

/// What a fault with a rate may spare now: thousandths of a request, up to a tenth of what it spares in a second.
#[derive(Debug, Default)]
struct Bucket {
    thousandths: u64,
    filled: Option<Timestamp>,
}

impl Bucket {
    /// Takes one, if there is one at that time.
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
    /// Whether it strikes something that its filter lets through, which counts. `now` is for its rate.
    pub(super) fn strikes(&self, now: Option<Timestamp>) -> bool {
        let mut state = self.state.lock();
        if self.is_spent() || state.chance.f64() >= self.fault.probability {
            return false;
        }
        if state.spare > 0 {
            state.spare -= 1;
            return false;
        }
        if let Some((per_second, now)) = self.fault.spared_per_second.zip(now)
            && state.bucket.take(per_second, now)
        {
            return false;
        }
        self.hits.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Uncounts a strike that came to nothing.
    pub(crate) fn take_back(&self) {
        // Each strike was counted before, and is taken back once at most.
        self.hits.fetch_sub(1, Ordering::Relaxed);
    }

    /// A number from 0 to 1, for the effect.
    pub(super) fn draw(&self) -> f64 {
        self.state.lock().chance.f64()
    }

    fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    fn is_spent(&self) -> bool {
        self.fault.times.is_some_and(|times| self.hits() >= times)
    }
}

impl Faults {
    pub(crate) fn new(seed: Seed) -> Self {
        let shared = Shared {
            seed,
            any: AtomicBool::new(false),
            injected: AtomicU64::new(0),
            rules: RwLock::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Adds a fault, which strikes from now on.
    pub fn inject(&self, fault: Fault) -> InjectedFault {
        let id = self.shared.injected.fetch_add(1, Ordering::Relaxed) + 1;
        let chance = self.shared.seed.generator(&format!("fault {id}"));
        let state = Mutex::new(State { spare: fault.skip, bucket: Bucket::default(), chance });
        let rule = Arc::new(Rule { id, fault, hits: AtomicU64::new(0), state });
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

    /// Removes those that struck as often as they may, when there are so many faults.
    pub(crate) fn forget_spent(&self, at_most: usize) {
        let mut rules = self.shared.rules.write();
        if rules.len() >= at_most {
            rules.retain(|rule| !rule.is_spent());
        }
    }

    /// The faults that were injected and not removed, spent ones included, in the order of their injection.
    pub fn list(&self) -> Vec<InjectedFault> {
        let injected = |rule: &Arc<Rule>| InjectedFault { rule: Arc::clone(rule), faults: self.clone() };
        self.shared.rules.read().iter().map(injected).collect()
    }

    /// Whether there is nothing to look at.
    pub(crate) fn is_empty(&self) -> bool {
        !self.shared.any.load(Ordering::Acquire)
    }

    /// What is to happen to a request.
    pub(crate) fn plan(&self, request: &Request<'_>) -> Plan {
        let rules = self.shared.rules.read().clone();
        Plan::of(&rules, request)
    }

    /// The faults there are now.
    #[cfg(feature = "s3")]
    pub(super) fn rules(&self) -> Vec<Arc<Rule>> {
        self.shared.rules.read().clone()
    }

    fn remove(&self, rule: &Arc<Rule>) {
        let mut rules = self.shared.rules.write();
        rules.retain(|other| !Arc::ptr_eq(other, rule));
        self.shared.any.store(!rules.is_empty(), Ordering::Release);
    }
}

/// A fault that was injected. Dropping this does not remove it.
#[derive(Clone, Debug)]
pub struct InjectedFault {
    rule: Arc<Rule>,
    faults: Faults,
}

impl InjectedFault {
    /// Its number, from 1.
    pub fn id(&self) -> u64 {
        self.rule.id
    }

    /// How often it struck.
    pub fn hits(&self) -> u64 {
        self.rule.hits()
    }

    /// Whether it struck as often as it may.
    pub fn is_spent(&self) -> bool {
        self.rule.is_spent()
    }

    /// What it is.
    pub fn fault(&self) -> &Fault {
        &self.rule.fault
    }

    /// Takes it away.
    pub fn remove(&self) {
        self.faults.remove(&self.rule);
    }
}
