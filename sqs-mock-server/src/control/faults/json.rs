//! Faults as JSON, for `/_mock/faults`, the command line and the config file.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use crate::control::faults::fault::{Effect, Fault, name_of};
use crate::control::operation::{Operation, ServiceName};

/// The fields of every effect, in addition to its own.
pub(crate) const COMMON_FIELDS: [&str; 13] = [
    "service",
    "actions",
    "queue",
    "group",
    "body_contains",
    "entries",
    "bucket",
    "key_prefix",
    "topic",
    "skip",
    "times",
    "probability",
    "above",
];

/// Faults stay in memory, so their size is bounded.
const MAX_LENGTHS: [(&str, usize, &str); 11] = [
    ("body", 64 << 10, "bytes"),
    ("message", 1 << 10, "bytes"),
    ("queue", 1 << 10, "bytes"),
    ("group", 128, "bytes"),
    ("body_contains", 1 << 10, "bytes"),
    ("bucket", 63, "bytes"),
    ("key_prefix", 1 << 10, "bytes"),
    ("topic", 1 << 10, "bytes"),
    ("code", 256, "bytes"),
    ("entries", 10, "positions"),
    ("actions", Action::ALL.len(), "names"),
];

/// The error for text that does not describe a fault. `Display` includes the reason.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidFault(String);

impl fmt::Display for InvalidFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a fault: {}", self.0)
    }
}

impl std::error::Error for InvalidFault {}

/// Reads a JSON object, such as
/// `{"effect":"fail_entries","code":"InternalError","queue":"orders","probability":0.05}`.
///
/// | `effect` | Its fields |
/// |---|---|
/// | `error` | `code`, by its shape or query name; optional `message` |
/// | `throttle` | optional `message` |
/// | `fail_entries` | as `error`; optional `sender_fault` |
/// | `status` | `status`; optional `body` |
/// | `latency` | `latency_ms`; optional `max_latency_ms` |
/// | `pace` | `bytes_per_second` |
/// | `omit_entries`, `reset_before`, `reset_after`, `truncate`, `corrupt`, `redeliver` | none |
///
/// All other fields are optional and correspond to methods of [`Fault`]: `actions` (a list), `queue`, `group`,
/// `body_contains`, `entries` (a list of positions), `bucket`, `key_prefix`, `topic`, `skip`, `times`, `probability`,
/// and `above` (a rate per second). `service` (`sqs`, `s3`, `sns` or `sts`) is needed only if no other field implies it.
///
/// ```
/// use sqs_mock_server::faults::Fault;
///
/// assert!(r#"{"effect":"reset_after","actions":["SendMessage"],"times":1}"#.parse::<Fault>().is_ok());
/// let error = r#"{"effect":"latency"}"#.parse::<Fault>().unwrap_err();
/// assert_eq!(error.to_string(), "not a fault: missing field `latency_ms`");
/// ```
impl FromStr for Fault {
    type Err = InvalidFault;

    fn from_str(text: &str) -> Result<Self, InvalidFault> {
        match serde_json::from_str(text).map_err(|error| InvalidFault(error.to_string()))? {
            Value::Object(fields) => Self::from_json(&fields).map_err(InvalidFault),
            _ => Err(InvalidFault("it must be a JSON object".to_owned())),
        }
    }
}

/// Accepts the same fields as the JSON form, in any format.
impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Self::from_json(&Map::deserialize(deserializer)?).map_err(InvalidFault);
        read.map_err(D::Error::custom)
    }
}

/// Omits closures, and fields that are not set.
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = Self::serialize(self, serde_json::value::Serializer).map_err(S::Error::custom)?;
        if let Some(fields) = value.as_object_mut() {
            fields
                .retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
        }
        value.serialize(serializer)
    }
}

impl Fault {
    fn from_json(fields: &Map<String, Value>) -> Result<Self, String> {
        let mut fault = Self::read(fields.clone()).map_err(|error| explain(fields, error))?;
        fault.set_service()?;
        check_lengths(fields)?;
        fault.check()?;
        if matches!(fault.effect, Effect::Redeliver {}) && fault.filter.actions.is_empty() {
            fault.filter.actions.push(Action::ReceiveMessage.into());
        }
        for name in [&mut fault.filter.queue, &mut fault.filter.topic].into_iter().flatten() {
            *name = name_of(name).to_owned();
        }
        Ok(fault)
    }

    fn read(fields: Map<String, Value>) -> Result<Self, String> {
        // The inherent function that serde derives, not the trait's.
        Self::deserialize(Value::Object(fields)).map_err(|error| error.to_string())
    }

    /// Sets the service from its field, or from the other fields.
    fn set_service(&mut self) -> Result<(), String> {
        let implied = self
            .filter
            .services(&self.effect)
            .map(|(_, service)| service)
            .find(|service| *service != ServiceName::Sqs);
        self.filter.service = self.filter.service.or(implied);
        let service = self.filter.service.unwrap_or(ServiceName::Sqs);
        for action in &mut self.filter.actions {
            // SQS and SNS share names.
            *action = Operation::find(Some(service), action.name).unwrap_or(*action);
        }
        if let Some(action) = self.filter.actions.iter().find(|action| action.service != service) {
            return Err(format!("`actions`: {} is not an operation of {service}", action.name));
        }
        match self.filter.services(&self.effect).find(|(_, other)| *other != service) {
            Some(("effect", _)) => Err(format!("this `effect` does not apply to {service}")),
            Some((field, _)) => Err(format!("`{field}` does not belong to a fault of {service}")),
            None if service == ServiceName::S3 && !cfg!(feature = "s3") => {
                Err("this build has no S3; it requires the cargo feature `s3`".to_owned())
            }
            None => Ok(()),
        }
    }

    fn check(&self) -> Result<(), String> {
        let Self { filter, effect } = self;
        if let Some(probability) = filter.probability.filter(|given| !(0.0..=1.0).contains(given)) {
            return Err(format!("`probability` must be between 0 and 1, not {probability}"));
        }
        if filter.times == Some(0) {
            return Err("`times` must be at least 1".to_owned());
        }
        if let Some(action) = filter.actions.iter().find(|action| !effect.applies_to(**action)) {
            return Err(format!("`actions`: this effect does not apply to {}", action.name));
        }
        let service = filter.service.unwrap_or(ServiceName::Sqs);
        match effect {
            Effect::Status { status, .. } if !(200..=599).contains(status) || [204, 304].contains(status) => {
                Err(format!("`status` must be from 200 to 599, except 204 and 304, not {status}"))
            }
            Effect::Latency { least, most: Some(most) } if most.0 < least.0 => {
                Err(format!("`max_latency_ms` must be at least `latency_ms`, {}", least.0.as_millis()))
            }
            Effect::Pace { bytes_per_second: 0 } => Err("`bytes_per_second` must be at least 1".to_owned()),
            Effect::Error { code, .. } | Effect::FailEntries { code, .. } if !is_code_of(service, code) => {
                Err(format!("`code`: {code:?} is not an error code of {service}"))
            }
            _ => Ok(()),
        }
    }
}

fn check_lengths(fields: &Map<String, Value>) -> Result<(), String> {
    for (field, most, unit) in MAX_LENGTHS {
        let length = match fields.get(field) {
            Some(Value::String(text)) => text.len(),
            Some(Value::Array(list)) => list.len(),
            _ => continue,
        };
        if length == 0 && matches!(field, "queue" | "topic") {
            return Err(format!("`{field}` must not be empty"));
        }
        if length > most {
            return Err(format!("`{field}` must have at most {most} {unit}"));
        }
    }
    Ok(())
}

/// Whether a service has this error code. The codes of SNS and STS have no table here.
fn is_code_of(service: ServiceName, code: &str) -> bool {
    match service {
        ServiceName::Sqs => !matches!(ErrorCode::from_name(code), ErrorCode::Other(_)),
        ServiceName::S3 => is_code_of_s3(code),
        ServiceName::Sns | ServiceName::Sts => true,
    }
}

#[cfg(feature = "s3")]
fn is_code_of_s3(code: &str) -> bool {
    use s3s::S3ErrorCode;
    S3ErrorCode::from_bytes(code.as_bytes()).is_some_and(|code| !matches!(code, S3ErrorCode::Custom(_)))
}

#[cfg(not(feature = "s3"))]
fn is_code_of_s3(_: &str) -> bool {
    false
}

/// Adds context to an error of serde: the fields that every effect has, or the name of the invalid field.
fn explain(fields: &Map<String, Value>, error: String) -> String {
    if error.starts_with("unknown field") {
        return format!("{error}; every effect also has {}", COMMON_FIELDS.join(", "));
    }
    let is_wrong = |field: &&String| {
        let others = fields.iter().filter(|(other, _)| other != field);
        let others = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        Fault::read(others).err().is_none_or(|other| other != error)
    };
    if error.starts_with("missing field") {
        return error;
    }
    // Without `effect`, the error always differs.
    let field = fields.keys().filter(|field| *field != "effect").find(is_wrong);
    format!("`{}`: {error}", field.map_or("effect", String::as_str))
}
