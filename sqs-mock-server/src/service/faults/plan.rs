//! The effects of all faults on one request.

use std::sync::Arc;
use std::time::Duration;

use super::effect::Effect;
use super::registry::Rule;
use super::{Damage, Fault, Faults, Request};

/// The effects of all faults on a request, in the order in which they apply.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The delay.
    pub(crate) latency: Duration,
    /// The response, if the request is not applied.
    pub(crate) rejection: Option<Rejection>,
    /// The throughput limit of the bodies, in bytes per second.
    pub(crate) pace: Option<u64>,
    /// Entries that fail.
    pub(crate) failing: Vec<FailingEntry>,
    /// Ids of entries that the response leaves out.
    pub(crate) omitted: Vec<String>,
    /// Rules that have the received messages delivered again; their hits are reverted if there are no messages.
    pub(crate) redeliver: Vec<Arc<Rule>>,
    /// The damage to the response.
    pub(crate) damage: Option<Damage>,
}

/// The response, or the reset, to a request that is not applied.
#[derive(Clone, Debug)]
pub(crate) enum Rejection {
    Error(Failure),
    Status(u16, String),
    Reset,
}

/// An error of the service.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// `None` for the service's own error code for too many requests.
    pub(crate) code: Option<String>,
    /// `None` for the service's own text.
    pub(crate) message: Option<String>,
}

/// An entry of a batch that fails.
#[derive(Clone, Debug)]
pub(crate) struct FailingEntry {
    /// The position in the batch.
    pub(crate) index: usize,
    pub(crate) failure: Failure,
    /// `None` if the code determines it.
    pub(crate) sender_fault: Option<bool>,
}

impl Faults {
    /// The effects of all faults on a request. Builds the request only if there are faults.
    pub(crate) fn plan<'a>(&self, request: impl FnOnce() -> Request<'a>) -> Plan {
        self.rules().map(|rules| Plan::of(&rules, &request())).unwrap_or_default()
    }
}

impl Plan {
    fn of(rules: &[Arc<Rule>], request: &Request<'_>) -> Self {
        let rules: Vec<_> =
            rules.iter().filter(|rule| rule.fault.filter.accepts(&rule.fault.effect, request)).collect();
        let mut plan = Self::default();
        for rule in &rules {
            plan.add_to_request(rule, request);
        }
        // All other effects need a request that is applied.
        if plan.rejection.is_none() {
            for rule in rules {
                plan.add_to_entries(rule, request);
            }
        }
        plan
    }

    /// Effects on the request as a whole. It is rejected or damaged at most once; latencies and paces apply anyway.
    fn add_to_request(&mut self, rule: &Rule, request: &Request<'_>) {
        let Fault { filter, effect } = &rule.fault;
        let is_decided = self.rejection.is_some() || self.damage.is_some();
        let is_possible = match effect {
            Effect::FailEntries { .. } | Effect::OmitEntries {} | Effect::Redeliver {} => false,
            Effect::Latency { .. } | Effect::Pace { .. } => true,
            _ => !is_decided,
        };
        if !(is_possible && filter.accepts_any(&request.entries) && rule.hit(request.time)) {
            return;
        }
        let error = |code: Option<&String>, message: &Option<String>| {
            Some(Rejection::Error(Failure { code: code.cloned(), message: message.clone() }))
        };
        match effect {
            Effect::Latency { least, most } => {
                let (least, most) = (least.0, most.unwrap_or(*least).0);
                let latency = least + most.saturating_sub(least).mul_f64(rule.draw());
                self.latency = self.latency.saturating_add(latency);
            }
            Effect::Pace { bytes_per_second: pace } => {
                self.pace = Some(self.pace.map_or(*pace, |slower| slower.min(*pace)));
            }
            Effect::Error { code, message } => self.rejection = error(Some(code), message),
            Effect::Throttle { message } => self.rejection = error(None, message),
            Effect::Status { status, body } => {
                self.rejection = Some(Rejection::Status(*status, body.clone()));
            }
            Effect::ResetBefore {} => self.rejection = Some(Rejection::Reset),
            Effect::ResetAfter {} => self.damage = Some(Damage::Lost),
            Effect::Truncate {} => self.damage = Some(Damage::Truncated),
            Effect::Corrupt {} => self.damage = Some(Damage::Corrupted),
            Effect::FailEntries { .. } | Effect::OmitEntries {} | Effect::Redeliver {} => {}
        }
    }

    /// Effects on entries and messages.
    fn add_to_entries(&mut self, rule: &Arc<Rule>, request: &Request<'_>) {
        let filter = &rule.fault.filter;
        if matches!(rule.fault.effect, Effect::Redeliver {}) {
            if request.can_redeliver && filter.accepts_any(&request.entries) && rule.hit(request.time) {
                self.redeliver.push(Arc::clone(rule));
            }
            return;
        }
        for (entry, id) in request.entries.iter().filter_map(|entry| Some((entry, entry.id?))) {
            let is_affected = self.failing.iter().any(|failing| failing.index == entry.index)
                || self.omitted.iter().any(|omitted| omitted == id);
            let hits = || !is_affected && filter.accepts_entry(entry) && rule.hit(request.time);
            match &rule.fault.effect {
                Effect::OmitEntries {} if hits() => self.omitted.push(id.to_owned()),
                Effect::FailEntries { code, message, sender_fault } if hits() => {
                    let failure = Failure { code: Some(code.clone()), message: message.clone() };
                    self.failing.push(FailingEntry {
                        index: entry.index,
                        failure,
                        sender_fault: *sender_fault,
                    });
                }
                _ => {}
            }
        }
    }
}
