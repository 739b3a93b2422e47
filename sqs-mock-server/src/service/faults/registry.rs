//! The faults of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;

use super::rule::Rule;
use super::{Fault, Plan, Request};
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

    /// The effects of all faults on a request. Builds the request only if there are faults.
    pub(crate) fn plan<'a>(&self, request: impl FnOnce() -> Request<'a>) -> Plan {
        if !self.shared.any.load(Ordering::Acquire) {
            return Plan::default();
        }
        let rules = self.shared.rules.read().clone();
        Plan::of(&rules, &request())
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
