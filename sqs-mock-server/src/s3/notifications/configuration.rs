//! The notification configuration of a bucket: its checks, and the rules that match a change.

use std::collections::BTreeSet;

use s3s::S3ErrorCode;
use serde::{Deserialize, Serialize};

use super::rule::{RequestedRule, Rule, Target};
use super::{Fault, MALFORMED_XML};

/// The documented maximum number of rules. The text of its error is not recorded.
const MAX_RULES: usize = 100;

/// A valid configuration.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(crate) rules: Vec<Rule>,
    /// Whether the bucket also sends its events to `EventBridge`.
    pub(crate) event_bridge: bool,
}

/// Why S3 cannot send notifications to a target.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum UnusableTarget {
    /// It does not exist.
    Missing,
    /// Its policy does not allow S3 to send notifications of the bucket.
    Denied,
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
            return Err(Fault { code: S3ErrorCode::MalformedXML, ..Fault::plain(MALFORMED_XML) });
        }
        if rules.len() > MAX_RULES {
            return Err(Fault::plain("A bucket can have at most 100 notification configurations."));
        }
        for rule in &rules {
            rule.kind.parse_arn(&rule.arn)?;
        }
        let mut ids = BTreeSet::new();
        if !rules.iter().filter_map(|rule| rule.id.clone()).all(|id| ids.insert(id)) {
            // The text is not recorded.
            return Err(Fault::plain("Same ID used for multiple configurations. IDs must be unique"));
        }
        let rules = rules.into_iter().map(|rule| rule.checked(region, &mut new_id));
        let rules = rules.collect::<Result<Vec<_>, _>>()?;
        let overlaps = |(at, rule): (usize, &Rule)| rules.iter().skip(at + 1).any(|next| rule.overlaps(next));
        if rules.iter().enumerate().any(overlaps) {
            return Err(Fault::plain(
                "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes \
                 are overlapping for the same event type.",
            ));
        }
        Ok(Self { rules, event_bridge })
    }

    /// Checks the targets; `problem` says whether one cannot be used.
    ///
    /// # Errors
    /// One fault for all unusable targets. Its texts about topics and permissions are not recorded.
    pub(crate) fn check_targets(
        &self,
        problem: impl Fn(&Target) -> Option<UnusableTarget>,
    ) -> Result<(), Fault> {
        let unusable = self.rules.iter().filter_map(|Rule { target, .. }| Some((target, problem(target)?)));
        let mut elements = Vec::new();
        for (number, (Target { kind, arn }, problem)) in (1..).zip(unusable) {
            let [_, _, resource, _] = kind.names();
            let text = match problem {
                UnusableTarget::Missing => format!("The destination {resource} does not exist"),
                UnusableTarget::Denied => format!(
                    "Permissions on the destination {resource} do not allow S3 to publish notifications from this bucket"
                ),
            };
            elements.push((format!("ArgumentName{number}"), arn.clone()));
            elements.push((format!("ArgumentValue{number}"), text));
        }
        if elements.is_empty() {
            return Ok(());
        }
        Err(Fault { elements, ..Fault::plain("Unable to validate the following destination configurations") })
    }

    /// The rule that selects an event, by its name in messages, of the object with this key. No two rules do.
    pub(crate) fn rule_for(&self, event: &str, key: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.selects(event, key))
    }
}
