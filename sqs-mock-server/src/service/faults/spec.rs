//! Faults as JSON, for `/_mock/faults`, the command line and the config file.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use super::Fault;
use super::plan::is_batch;

/// A fault as one flat object: an effect, what belongs to it, and whom it strikes how often.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    pub(super) effect: EffectName,
    /// Of `error` and `fail_entries`: the name of a shape or a query code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sender_fault: Option<bool>,
    /// Of `status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<String>,
    /// Of `latency`: the time, or the least of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) latency_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max_latency_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) actions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) queue: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body_contains: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) entries: Vec<usize>,
    /// What the fault strikes when nothing else tells.
    #[cfg(feature = "s3")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) service: Option<super::spec_s3::ServiceName>,
    #[cfg(feature = "s3")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bucket: Option<String>,
    #[cfg(feature = "s3")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key_prefix: Option<String>,
    /// Of `pace`.
    #[cfg(feature = "s3")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bytes_per_second: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) skip: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) probability: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) above: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EffectName {
    #[default]
    Error,
    Throttle,
    Status,
    FailEntries,
    OmitEntries,
    Latency,
    ResetBefore,
    ResetAfter,
    Truncate,
    Corrupt,
    Redeliver,
    #[cfg(feature = "s3")]
    Pace,
}

impl EffectName {
    /// Whether a request for this action can be struck.
    fn can_strike(self, action: Action) -> bool {
        match self {
            Self::Redeliver => action == Action::ReceiveMessage,
            Self::FailEntries | Self::OmitEntries => is_batch(action),
            _ => true,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A text that describes no fault, with the reason.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidFault(String);

impl fmt::Display for InvalidFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a fault: {}", self.0)
    }
}

impl std::error::Error for InvalidFault {}

/// Reads one JSON object, such as
/// `{"effect":"fail_entries","code":"InternalError","queue":"orders","probability":0.05}`.
///
/// `effect` is one of `error`, `throttle`, `status`, `fail_entries`, `omit_entries`, `latency`, `reset_before`,
/// `reset_after`, `truncate`, `corrupt` and `redeliver`. To `error` and `fail_entries` belongs a `code`, by its shape or
/// query name, and optionally a `message`; to the latter also `sender_fault`. To `status` belong `status` and `body`, to
/// `latency` belong `latency_ms` and optionally `max_latency_ms`. All else is optional and as the methods of [`Fault`]
/// say: `actions` (a list), `queue`, `group`, `body_contains`, `entries` (a list of places), `skip`, `times`,
/// `probability`, `above` (a rate per second).
///
/// ```
/// use sqs_mock_server::faults::Fault;
///
/// assert!(r#"{"effect":"reset_after","actions":["SendMessage"],"times":1}"#.parse::<Fault>().is_ok());
/// let error = r#"{"effect":"latency"}"#.parse::<Fault>().unwrap_err();
/// assert_eq!(error.to_string(), "not a fault: `latency_ms` is missing");
/// ```
impl FromStr for Fault {
    type Err = InvalidFault;

    fn from_str(text: &str) -> Result<Self, InvalidFault> {
        if !text.trim_start().starts_with('{') {
            return Err(InvalidFault("it has to be a JSON object".to_owned()));
        }
        let spec: Spec = serde_json::from_str(text).map_err(|error| InvalidFault(error.to_string()))?;
        Self::try_from(spec).map_err(InvalidFault)
    }
}

/// As [`from_str`](Fault::from_str), from any format.
impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spec = Spec::deserialize(deserializer)?;
        Self::try_from(spec).map_err(|text| serde::de::Error::custom(InvalidFault(text)))
    }
}

/// Conditions in Rust do not show.
impl Serialize for Fault {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Spec::from(self).serialize(serializer)
    }
}

impl TryFrom<Spec> for Fault {
    type Error = String;

    fn try_from(mut spec: Spec) -> Result<Self, String> {
        spec.refuse_what_does_not_belong()?;
        spec.refuse_what_is_too_long()?;
        let mut fault = spec.bare()?;
        if let Some(probability) = spec.probability {
            if !(0.0..=1.0).contains(&probability) {
                return Err(format!("`probability` must be between 0 and 1, not {probability}"));
            }
            fault = fault.probability(probability);
        }
        if spec.times == Some(0) {
            return Err("`times` must be at least 1".to_owned());
        }
        fault = Self { skip: spec.skip, times: spec.times, spared_per_second: spec.above, ..fault };
        if let Some(text) = spec.message.take() {
            fault = fault.message(text);
        }
        if let Some(sender_fault) = spec.sender_fault {
            fault = fault.sender_fault(sender_fault);
        }
        #[cfg(feature = "s3")]
        if spec.is_of_s3() {
            return spec.with_s3(fault);
        }
        for name in &spec.actions {
            let action = Action::from_name(name).ok_or_else(|| format!("`actions`: there is no {name:?}"))?;
            if !spec.effect.can_strike(action) {
                return Err(format!("`actions`: this effect cannot strike {action}"));
            }
            fault = fault.on(action);
        }
        if let Some(queue) = spec.queue {
            fault = fault.queue(queue);
        }
        fault.filter.entry.group = spec.group;
        fault.filter.entry.body = spec.body_contains;
        fault.filter.entry.indices = spec.entries;
        Ok(fault)
    }
}

impl Spec {
    /// The fault by its effect alone.
    fn bare(&self) -> Result<Fault, String> {
        Ok(match self.effect {
            EffectName::Error => Fault::error(self.code()?),
            EffectName::Throttle => Fault::throttle(),
            EffectName::FailEntries => Fault::fail_entries(self.code()?),
            EffectName::OmitEntries => Fault::omit_entries(),
            EffectName::Status => {
                let status =
                    self.status.filter(|status| (200..=599).contains(status) && ![204, 304].contains(status));
                let status = status.ok_or("`status` must be there, between 200 and 599, and have a body")?;
                Fault::status(status, self.body.as_deref().unwrap_or_default())
            }
            EffectName::Latency => {
                let least = self.latency_ms.ok_or("`latency_ms` is missing")?;
                let most = self.max_latency_ms.unwrap_or(least);
                if most < least {
                    return Err(format!("`max_latency_ms` must be at least `latency_ms`, {least}"));
                }
                Fault::latency_between(Duration::from_millis(least), Duration::from_millis(most))
            }
            EffectName::ResetBefore => Fault::reset_before(),
            EffectName::ResetAfter => Fault::reset_after(),
            EffectName::Truncate => Fault::truncate(),
            EffectName::Corrupt => Fault::corrupt(),
            EffectName::Redeliver => Fault::redeliver(),
            #[cfg(feature = "s3")]
            EffectName::Pace => {
                let pace = self.bytes_per_second.filter(|pace| *pace > 0);
                Fault::s3_pace(pace.ok_or("`bytes_per_second` must be there, and at least 1")?)
            }
        })
    }

    fn code(&self) -> Result<ErrorCode, String> {
        let code = self.code.as_deref().ok_or("`code` is missing")?;
        #[cfg(feature = "s3")]
        if self.is_of_s3() {
            return super::spec_s3::code(code);
        }
        match ErrorCode::from_name(code) {
            ErrorCode::Other(code) => Err(format!("`code`: {code:?} is no code of SQS")),
            code => Ok(code),
        }
    }

    /// Faults stay in memory, and are shown on request.
    fn refuse_what_is_too_long(&self) -> Result<(), String> {
        #[cfg(feature = "s3")]
        self.refuse_what_is_too_long_for_s3()?;
        let table = [
            ("body", &self.body, 64 << 10),
            ("message", &self.message, 1 << 10),
            ("queue", &self.queue, 1 << 10),
            ("group", &self.group, 128),
            ("body_contains", &self.body_contains, 1 << 10),
        ];
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match table.iter().find(|(_, text, most)| length(text) > *most) {
            Some((field, _, most)) => Err(format!("`{field}` must have at most {most} bytes")),
            None if self.queue.as_deref() == Some("") => Err("`queue` must not be empty".to_owned()),
            None if self.entries.len() > 10 || self.actions.len() > 23 => {
                Err("`entries` can be 10 at most, and `actions` 23".to_owned())
            }
            None => Ok(()),
        }
    }

    /// A field that the effect does not read is a mistake of who wrote it.
    fn refuse_what_does_not_belong(&self) -> Result<(), String> {
        use EffectName::{Error, FailEntries, Latency, Status, Throttle};
        let table: [(&str, bool, &[EffectName]); 7] = [
            ("code", self.code.is_some(), &[Error, FailEntries]),
            ("message", self.message.is_some(), &[Error, Throttle, FailEntries]),
            ("sender_fault", self.sender_fault.is_some(), &[FailEntries]),
            ("status", self.status.is_some(), &[Status]),
            ("body", self.body.is_some(), &[Status]),
            ("latency_ms", self.latency_ms.is_some(), &[Latency]),
            ("max_latency_ms", self.max_latency_ms.is_some(), &[Latency]),
        ];
        #[cfg(feature = "s3")]
        self.refuse_what_does_not_belong_to_s3()?;
        match table.iter().find(|(_, given, effects)| *given && !effects.contains(&self.effect)) {
            Some((field, ..)) => Err(format!("`{field}` does not belong to this effect")),
            None => Ok(()),
        }
    }
}
