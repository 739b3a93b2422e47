//! The notification configuration of a bucket: its checks, and the rules that match a change.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::events::{SELECTABLE, overlap, selects};
use super::fault::{Fault, UnusableTarget};
use super::key_filter::KeyFilter;
use super::target::{Target, TargetKind};

/// The documented maximum number of rules. The text of its error is not recorded.
const MAX_RULES: usize = 100;
/// The maximum length of an id in bytes. Each event has the id of its rule. The text of the error is not recorded.
const MAX_ID: usize = 255;

/// A rule as a request sends it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RequestedRule {
    pub(crate) id: Option<String>,
    pub(crate) kind: TargetKind,
    pub(crate) arn: String,
    pub(crate) events: Vec<String>,
    /// Names and values of the filter rules.
    pub(crate) filter: Vec<(Option<String>, Option<String>)>,
}

/// A valid configuration.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(crate) rules: Vec<Rule>,
    /// Whether the bucket also sends its events to `EventBridge`.
    pub(crate) event_bridge: bool,
}

/// A rule: some events of some keys go to a target.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) target: Target,
    /// Such as `s3:ObjectCreated:*`.
    pub(crate) events: Vec<String>,
    pub(crate) filter: KeyFilter,
}

impl Configuration {
    /// Checks rules in the order of their document, except for their targets. `new_id` creates the ids of rules without
    /// one.
    ///
    /// # Errors
    /// The first fault.
    pub(crate) fn check(
        rules: Vec<RequestedRule>,
        event_bridge: bool,
        region: &str,
        mut new_id: impl FnMut() -> String,
    ) -> Result<Self, Fault> {
        if !rules.iter().all(RequestedRule::is_well_formed) {
            return Err(Fault::malformed());
        }
        if rules.len() > MAX_RULES {
            return Err(Fault::plain("A bucket can have at most 100 notification configurations."));
        }
        for rule in &rules {
            rule.kind.parse_arn(&rule.arn)?;
        }
        check_ids(&rules)?;
        let rules = rules.into_iter().map(|rule| rule.checked(region, &mut new_id));
        let rules = rules.collect::<Result<Vec<_>, _>>()?;
        check_overlaps(&rules)?;
        Ok(Self { rules, event_bridge })
    }

    /// Checks the targets; `problem` says whether one cannot be used.
    ///
    /// # Errors
    /// One fault for all unusable targets.
    pub(crate) fn check_targets(
        &self,
        problem: impl Fn(&Target) -> Option<UnusableTarget>,
    ) -> Result<(), Fault> {
        let unusable = self.rules.iter().filter_map(|Rule { target, .. }| {
            problem(target).map(|problem| (target.kind.resource(), target.arn.as_str(), problem))
        });
        Fault::targets(unusable).map_or(Ok(()), Err)
    }

    /// The rule that selects an event, by its name in messages, of the object with this key. No two rules do.
    pub(crate) fn rule_for(&self, event: &str, key: &str) -> Option<&Rule> {
        let selects = |rule: &&Rule| {
            rule.filter.matches(key) && rule.events.iter().any(|selector| selects(selector, event))
        };
        self.rules.iter().find(selects)
    }
}

impl RequestedRule {
    fn is_well_formed(&self) -> bool {
        let is_complete = |(name, value): &(Option<_>, Option<_>)| name.is_some() && value.is_some();
        (1..=SELECTABLE.len()).contains(&self.events.len()) && self.filter.iter().all(is_complete)
    }

    fn checked(self, region: &str, new_id: impl FnOnce() -> String) -> Result<Rule, Fault> {
        if self.id.as_ref().is_some_and(|id| id.len() > MAX_ID) {
            return Err(Fault::plain("The ID of a notification configuration can have at most 255 bytes."));
        }
        let filter = KeyFilter::of(self.filter)?;
        let unknown = self.events.iter().find(|event| !SELECTABLE.contains(&event.as_str()));
        if let Some(event) = unknown {
            return Err(Fault::argument("The event is not supported for notifications", "Event", event));
        }
        if self.arn.ends_with(".fifo") {
            return Err(Fault::plain(self.kind.no_fifo()));
        }
        if self.kind.parse_arn(&self.arn)? != region {
            let text =
                "The notification destination service region is not valid for the bucket location constraint";
            return Err(Fault::plain(text));
        }
        let target = Target { kind: self.kind, arn: self.arn };
        Ok(Rule { id: self.id.unwrap_or_else(new_id), target, events: self.events, filter })
    }
}

/// No two rules may have the same id. The text is not recorded.
fn check_ids(rules: &[RequestedRule]) -> Result<(), Fault> {
    let mut ids = BTreeSet::new();
    let are_unique = rules.iter().filter_map(|rule| rule.id.as_deref()).all(|id| ids.insert(id));
    let text = "Same ID used for multiple configurations. IDs must be unique";
    if are_unique { Ok(()) } else { Err(Fault::plain(text)) }
}

/// No two rules may select the same event of the same key, whatever their targets.
fn check_overlaps(rules: &[Rule]) -> Result<(), Fault> {
    let share_event =
        |one: &Rule, other: &Rule| one.events.iter().any(|a| other.events.iter().any(|b| overlap(a, b)));
    let mut rest = rules;
    while let [first, others @ ..] = rest {
        if others.iter().any(|other| first.filter.overlaps(&other.filter) && share_event(first, other)) {
            return Err(Fault::plain(
                "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes \
                 are overlapping for the same event type.",
            ));
        }
        rest = others;
    }
    Ok(())
}
