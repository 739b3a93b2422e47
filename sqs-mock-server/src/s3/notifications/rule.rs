//! A rule: some events of some keys go to a target.

use serde::{Deserialize, Serialize};

use super::Fault;
use super::event::{SELECTABLE, covers};

/// The maximum length of an id in bytes. Each event has the id of its rule. The text of the error is not recorded.
const MAX_ID: usize = 255;
/// The maximum length of an ARN in bytes, which is the longest that AWS documents for any resource.
const MAX_ARN: usize = 2048;
/// The maximum length of a prefix or suffix in bytes, which is that of a key.
const MAX_VALUE: usize = 1024;

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

/// A valid rule.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) target: Target,
    /// Such as `s3:ObjectCreated:*`.
    pub(crate) events: Vec<String>,
    pub(crate) filter: KeyFilter,
}

/// A target of notifications.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    pub(crate) arn: String,
}

/// The kind of a target.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub(crate) enum TargetKind {
    Queue,
    Topic,
    Function,
}

/// The keys of a rule. An empty text differs from an absent one only in the configuration that is returned.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct KeyFilter {
    pub(crate) prefix: Option<String>,
    pub(crate) suffix: Option<String>,
}

impl RequestedRule {
    pub(super) fn is_well_formed(&self) -> bool {
        let is_complete = |(name, value): &(Option<_>, Option<_>)| name.is_some() && value.is_some();
        (1..=SELECTABLE.len()).contains(&self.events.len()) && self.filter.iter().all(is_complete)
    }

    pub(super) fn checked(self, region: &str, new_id: impl FnOnce() -> String) -> Result<Rule, Fault> {
        if self.id.as_ref().is_some_and(|id| id.len() > MAX_ID) {
            return Err(Fault::plain("The ID of a notification configuration can have at most 255 bytes."));
        }
        let filter = KeyFilter::of(self.filter)?;
        let unknown = self.events.iter().find(|event| !SELECTABLE.contains(&event.as_str()));
        if let Some(event) = unknown {
            return Err(Fault::argument("The event is not supported for notifications", "Event", event));
        }
        if self.arn.ends_with(".fifo") {
            let [.., no_fifo] = self.kind.names();
            return Err(Fault::plain(no_fifo));
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

impl Rule {
    /// Whether the rule selects an event, by its name in messages, of the object with this key.
    pub(super) fn selects(&self, event: &str, key: &str) -> bool {
        let (prefix, suffix) = self.filter.sides();
        let mut selectors = self.events.iter().filter_map(|selector| selector.strip_prefix("s3:"));
        // Prefix and suffix may share characters of the key.
        key.starts_with(prefix) && key.ends_with(suffix) && selectors.any(|selector| covers(selector, event))
    }

    /// Whether both rules can select the same event of the same key, whatever their targets.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let ((prefix, suffix), (other_prefix, other_suffix)) = (self.filter.sides(), other.filter.sides());
        let is_common =
            |one: &String| other.events.iter().any(|other| covers(one, other) || covers(other, one));
        (prefix.starts_with(other_prefix) || other_prefix.starts_with(prefix))
            && (suffix.ends_with(other_suffix) || other_suffix.ends_with(suffix))
            && self.events.iter().any(is_common)
    }
}

impl TargetKind {
    /// The element of the ARN in requests, the service, the kind of resource in texts, and the text about FIFO
    /// resources, of which that about topics is inferred.
    pub(super) fn names(self) -> [&'static str; 4] {
        match self {
            Self::Queue => ["Queue", "sqs", "queue", "FIFO SQS queues are not supported."],
            Self::Topic => ["Topic", "sns", "topic", "FIFO SNS topics are not supported."],
            Self::Function => ["CloudFunction", "lambda", "function", "FIFO SQS queues are not supported."],
        }
    }

    /// The region of a target, from its ARN.
    pub(super) fn parse_arn(self, arn: &str) -> Result<&str, Fault> {
        let [element, service, ..] = self.names();
        let mut parts = arn.splitn(6, ':');
        match [(); 6].map(|()| parts.next().unwrap_or_default()) {
            ["arn", partition, found, region, account, name]
                if arn.len() <= MAX_ARN
                    && found == service
                    && ![partition, region, account, name].contains(&"") =>
            {
                Ok(region)
            }
            _ => Err(Fault::argument("The ARN could not be parsed", element, arn)),
        }
    }
}

impl KeyFilter {
    /// The filter of complete filter rules, whose names have any case.
    fn of(rules: Vec<(Option<String>, Option<String>)>) -> Result<Self, Fault> {
        let mut filter = Self::default();
        for (name, value) in rules {
            let name = name.unwrap_or_default();
            let (side, repeated) = match name.to_ascii_lowercase().as_str() {
                "prefix" => (&mut filter.prefix, "Cannot specify more than one prefix rule in a filter."),
                "suffix" => (&mut filter.suffix, "Cannot specify more than one suffix rule in a filter."),
                _ => {
                    let text = "filter rule name must be either prefix or suffix";
                    return Err(Fault::argument(text, "FilterRule.Name", &name));
                }
            };
            if side.is_some() {
                return Err(Fault::argument(repeated, "FilterRule.Name", &name));
            }
            if let Some(value) = value.as_deref().filter(|value| value.len() > MAX_VALUE) {
                let text = "Size of filter rule value cannot exceed 1024 bytes in UTF-8 representation";
                return Err(Fault::argument(text, "FilterRule.Value", value));
            }
            *side = value;
        }
        Ok(filter)
    }

    fn sides(&self) -> (&str, &str) {
        (self.prefix.as_deref().unwrap_or_default(), self.suffix.as_deref().unwrap_or_default())
    }
}
