//! Values of flags.

use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::{DeserializeOwned, IntoDeserializer, value};
use sqs_mock_server::faults::Fault;
use sqs_mock_server::{ThroughputQuotas, Trigger};
use tracing_subscriber::filter::Targets;

/// The faults of one `--fault`.
#[derive(Clone, Debug)]
pub(super) struct Faults(pub(super) Vec<Fault>);

/// The value of `--throughput-quotas`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotas(pub(super) Option<ThroughputQuotas>);

/// A setting with the values that a config file accepts, each with its help.
pub(super) fn word<T>(words: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    let values = words.iter().map(|(word, help)| PossibleValue::new(word).help(help));
    let deserialize =
        |word: String| T::deserialize(IntoDeserializer::<value::Error>::into_deserializer(word));
    PossibleValuesParser::new(values.collect::<Vec<_>>()).try_map(deserialize)
}

pub(super) const COMPATS: [(&str, &str); 1] =
    [("localstack", "Port 4566, the line `Ready.` on standard output, and GET /_localstack/health")];
pub(super) const STYLES: [(&str, &str); 3] = [
    ("path", "<host>/<account>/<name>"),
    ("subdomain", "sqs.<region>.<host>/<account>/<name>"),
    ("legacy", "<region>.queue.<host>/<account>/<name>"),
];
pub(super) const AUTHS: [(&str, &str); 2] =
    [("none", "Not at all"), ("sigv4", "By a signature (version 4) with one of the keys")];
pub(super) const DELIVERIES: [(&str, &str); 2] = [
    ("ordered", "In order, each message once, and every message that is available"),
    ("aws-like", "As AWS: short polls miss some messages, the order varies slightly, a few are duplicated"),
];
pub(super) const POLICIES: [(&str, &str); 3] = [
    ("off", "They are only stored"),
    ("warn", "What AWS denies succeeds, with a warning in the log and in the recorded request"),
    ("enforce", "They deny requests and deliveries as on AWS"),
];
pub(super) const DURABILITIES: [(&str, &str); 2] = [
    ("process", "The end of the process, also by SIGKILL"),
    ("power", "Also the loss of power; each commit waits for the disk"),
];
pub(super) const FORMATS: [(&str, &str); 2] =
    [("text", "A line of text for each event"), ("json", "A line with a JSON object for each event")];

pub(super) fn truth(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err("allowed is true or false"),
    }
}

pub(super) fn port(text: &str) -> Result<u16, &'static str> {
    text.parse().map_err(|_| "allowed is a whole number from 0 to 65535")
}

pub(super) fn count<T: FromStr>(text: &str) -> Result<T, String> {
    let bits = 8 * size_of::<T>();
    text.parse().map_err(|_| format!("allowed is a whole number of {bits} bits, such as 1000"))
}

/// A decimal or hexadecimal number; GET /_mock shows it in hexadecimal.
pub(super) fn seed(text: &str) -> Result<u64, &'static str> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "allowed is a whole number of 64 bits, such as 7 or 0xbeef")
}

/// `QUEUE=URL`.
pub(super) fn trigger(text: &str) -> Result<Trigger, &'static str> {
    match text.split_once('=') {
        Some((queue, url)) if !queue.is_empty() && !url.is_empty() => Ok(Trigger::new(queue, url)),
        _ => Err("allowed is QUEUE=URL, such as orders=http://localhost:8080/orders"),
    }
}

/// One fault, or an array of them.
pub(super) fn faults(text: &str) -> Result<Faults, String> {
    if !text.trim_start().starts_with('[') {
        return text.parse().map(|fault| Faults(vec![fault])).map_err(|error| format!("{error}"));
    }
    let list: Vec<serde_json::Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let read = |(at, fault): (usize, &serde_json::Value)| {
        fault.to_string().parse().map_err(|error| format!("number {} of the array: {error}", at + 1))
    };
    list.iter().enumerate().map(read).collect::<Result<_, String>>().map(Faults)
}

/// `true` for the quotas of AWS, `false` for none, or an object with some of them.
pub(super) fn quotas(text: &str) -> Result<Quotas, String> {
    match truth(text) {
        Ok(on) => Ok(Quotas(on.then(ThroughputQuotas::default))),
        Err(_) if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).map(|quotas| Quotas(Some(quotas))).map_err(|error| error.to_string())
        }
        Err(_) => Err(r#"allowed is true, false, or JSON such as {"calls":300}"#.to_owned()),
    }
}

pub(super) fn log(text: &str) -> Result<String, tracing_subscriber::filter::ParseError> {
    text.parse::<Targets>().map(|_| text.to_owned())
}

/// A part of a whole.
pub(super) fn part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "allowed is a number from 0 to 1".to_owned())
}

/// A time such as `90s`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| "allowed is a time such as 90s or 5m".to_owned())
}
