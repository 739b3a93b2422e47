//! What is to happen to one request.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::wire::service_error::ServiceError;

use super::effect::{Effect, End, Failure};
use super::registry::Rule;
use super::{Ending, Entry, Request};

/// What is to happen to a request, in the order of the fields.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// How long it waits.
    pub(crate) latency: Duration,
    /// How it ends without being applied.
    pub(crate) unapplied: Option<Unapplied>,
    /// Entries that fail.
    pub(crate) failing: Vec<FailedEntry>,
    /// Ids of entries that the answer does not mention.
    pub(crate) omitted: Vec<String>,
    /// Those who have received messages delivered once more; they take it back where nothing is received.
    pub(crate) redeliver: Vec<Arc<Rule>>,
    /// What becomes of the answer.
    pub(crate) ending: Ending,
}

/// How a request ends that is not applied.
#[derive(Debug)]
pub(crate) enum Unapplied {
    Refused(ServiceError),
    Status(u16, String),
    Reset,
}

/// An entry of a batch that fails.
#[derive(Clone, Debug)]
pub(crate) struct FailedEntry {
    /// Its place in the batch.
    pub(crate) index: usize,
    /// Why.
    pub(crate) error: ServiceError,
    /// Whether its sender is told that it is his fault.
    pub(crate) sender_fault: bool,
}

impl Plan {
    pub(super) fn of(rules: &[Arc<Rule>], request: &Request<'_>) -> Self {
        let mut plan = Self::default();
        for rule in rules {
            plan.strike_request(rule, request);
        }
        // What changes the work strikes only where there is some.
        if plan.unapplied.is_none() {
            for rule in rules {
                plan.strike_work(rule, request);
            }
        }
        plan
    }

    fn strike_request(&mut self, rule: &Rule, request: &Request<'_>) {
        let decided = self.unapplied.is_some() || self.ending != Ending::Whole;
        let strikes = || rule.fault.filter.takes(request) && rule.strikes(Some(request.time));
        match &rule.fault.effect {
            Effect::Latency(least, most) if strikes() => {
                let latency = *least + most.saturating_sub(*least).mul_f64(rule.draw());
                self.latency = self.latency.saturating_add(latency);
            }
            Effect::End(end) if !decided && strikes() => self.end(end, request),
            _ => {}
        }
    }

    fn end(&mut self, end: &End, request: &Request<'_>) {
        match end {
            End::Error(failure) => self.unapplied = Some(Unapplied::Refused(failure.error_for(request))),
            End::Status(status, body) => self.unapplied = Some(Unapplied::Status(*status, body.clone())),
            End::ResetBefore => self.unapplied = Some(Unapplied::Reset),
            End::Spoilt(ending) => self.ending = *ending,
        }
    }

    fn strike_work(&mut self, rule: &Arc<Rule>, request: &Request<'_>) {
        let filter = &rule.fault.filter;
        match &rule.fault.effect {
            Effect::Redeliver
                if can_redeliver(request) && filter.takes(request) && rule.strikes(Some(request.time)) =>
            {
                self.redeliver.push(Arc::clone(rule));
            }
            effect @ (Effect::FailEntries(_) | Effect::OmitEntries)
                if is_batch(request.action) && filter.takes_head(request) =>
            {
                self.strike_entries(rule, effect, request);
            }
            _ => {}
        }
    }

    fn strike_entries(&mut self, rule: &Rule, effect: &Effect, request: &Request<'_>) {
        let filter = &rule.fault.filter;
        for entry in &request.entries {
            if self.has_struck(entry) || !filter.entry.takes(entry) || !rule.strikes(Some(request.time)) {
                continue;
            }
            match effect {
                Effect::FailEntries(failure) => self.failing.push(failed(entry.index, failure, request)),
                _ => self.omitted.extend(entry.id.map(str::to_owned)),
            }
        }
    }

    fn has_struck(&self, entry: &Entry<'_>) -> bool {
        let is_omitted = |id| self.omitted.iter().any(|omitted| omitted == id);
        self.failing.iter().any(|failed| failed.index == entry.index) || entry.id.is_some_and(is_omitted)
    }
}

fn failed(index: usize, failure: &Failure, request: &Request<'_>) -> FailedEntry {
    FailedEntry { index, error: failure.error_for(request), sender_fault: failure.is_sender_fault() }
}

/// FIFO queues deliver a message again only when its time is over.
fn can_redeliver(request: &Request<'_>) -> bool {
    request.action == Action::ReceiveMessage && !request.queue.is_some_and(|queue| queue.ends_with(".fifo"))
}

pub(super) fn is_batch(action: Action) -> bool {
    matches!(
        action,
        Action::SendMessageBatch | Action::DeleteMessageBatch | Action::ChangeMessageVisibilityBatch
    )
}
