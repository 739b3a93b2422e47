//! Single values of a config file: read, or refused with what is allowed.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use sqs_client::wire::validate::permission::is_account;
use toml::de::DeValue;

use super::{Auth, LogFormat, Secret};
use crate::config::is_base_url;
use crate::config::size::ByteSize;
use crate::http::{is_host, is_origin};
use crate::sqs::engine::DeliveryMode;
use crate::sqs::front::{QueueUrlStyle, is_region};

/// A value, or what is wrong with it and what is allowed.
pub(super) type Read<T> = Result<T, String>;

pub(super) fn text(value: &DeValue<'_>) -> Read<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| wrong_type(value, "a string"))
}

pub(super) fn flag(value: &DeValue<'_>) -> Read<bool> {
    value.as_bool().ok_or_else(|| wrong_type(value, "true or false"))
}

/// An account.
pub(super) fn account(value: &DeValue<'_>) -> Read<String> {
    legal(value, is_account, "12 digits in quotes")
}

/// The name of a region.
pub(super) fn region(value: &DeValue<'_>) -> Read<String> {
    legal(value, is_region, "1 to 32 of a-z, 0-9 and -, such as \"eu-west-1\"")
}

/// The base of URLs.
pub(super) fn url(value: &DeValue<'_>) -> Read<String> {
    legal(value, is_base_url, "one such as \"http://host:port\"")
}

/// Names of hosts.
pub(super) fn hosts(value: &DeValue<'_>) -> Read<Vec<String>> {
    list(value, |host| legal(host, is_host, "the name of a host, without a port"))
}

/// Origins of pages.
pub(super) fn origins(value: &DeValue<'_>) -> Read<Vec<String>> {
    list(value, |origin| legal(origin, is_origin, "one such as \"http://localhost:3000\""))
}

/// A list of texts.
pub(super) fn list(value: &DeValue<'_>, read: impl Fn(&DeValue<'_>) -> Read<String>) -> Read<Vec<String>> {
    let elements = value.as_array().ok_or_else(|| wrong_type(value, "a list of texts in quotes"))?;
    elements.iter().map(|element| read(element.get_ref())).collect()
}

fn legal(value: &DeValue<'_>, is_legal: impl Fn(&str) -> bool, allowed: &str) -> Read<String> {
    let given = value.as_str().ok_or_else(|| wrong_type(value, allowed))?;
    if is_legal(given) {
        Ok(given.to_owned())
    } else {
        Err(format!("{given:?} is not allowed; allowed is {allowed}"))
    }
}

/// How callers prove who they are.
pub(super) fn auth(value: &DeValue<'_>) -> Read<Auth> {
    word(value, &["none", "sigv4"]).map(|word| if word == "none" { Auth::None } else { Auth::Sigv4 })
}

/// How standard queues deliver.
pub(super) fn delivery(value: &DeValue<'_>) -> Read<DeliveryMode> {
    word(value, &["ordered", "aws-like"]).map(|word| match word {
        "aws-like" => DeliveryMode::AwsLike,
        _ => DeliveryMode::Ordered,
    })
}

/// How queue URLs name the region.
pub(super) fn queue_url_style(value: &DeValue<'_>) -> Read<QueueUrlStyle> {
    word(value, &["path", "subdomain", "legacy"]).map(|word| match word {
        "subdomain" => QueueUrlStyle::Subdomain,
        "legacy" => QueueUrlStyle::Legacy,
        _ => QueueUrlStyle::Path,
    })
}

/// How a log looks.
pub(super) fn log_format(value: &DeValue<'_>) -> Read<LogFormat> {
    word(value, &["text", "json"]).map(|word| if word == "text" { LogFormat::Text } else { LogFormat::Json })
}

/// What is logged. Only the binary, which has the logger, can tell whether it is legal.
pub(super) fn log(value: &DeValue<'_>) -> Read<String> {
    let text = text(value)?;
    #[cfg(feature = "cli")]
    tracing_subscriber::EnvFilter::try_new(&text).map_err(|error| {
        format!(
            "{text:?} is not allowed: {error}; allowed is error, warn, info, debug, trace, off, or directives such \
             as \"sqs_mock_server=debug\""
        )
    })?;
    Ok(text)
}

/// The secret of a key. The text of a fault does not show it.
pub(super) fn secret(value: &DeValue<'_>) -> Read<Secret> {
    match value.as_str() {
        Some(secret) if !secret.is_empty() => Ok(Secret::from(secret.to_owned())),
        _ => Err("a secret has to be a string that is not empty".to_owned()),
    }
}

/// One of some words.
pub(super) fn word<'w>(value: &DeValue<'_>, words: &[&'w str]) -> Read<&'w str> {
    let allowed = words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or ");
    let given = value.as_str().ok_or_else(|| wrong_type(value, &allowed))?;
    let found = words.iter().find(|word| **word == given);
    found.copied().ok_or_else(|| format!("{given:?} is not known; allowed is {allowed}"))
}

/// A whole number in a range.
pub(super) fn number<T>(value: &DeValue<'_>, range: &RangeInclusive<T>) -> Read<T>
where
    T: TryFrom<i128> + Copy + Display + PartialOrd,
{
    let allowed = format!("a whole number from {} to {}", range.start(), range.end());
    let number = integer(value).ok_or_else(|| wrong_type(value, &allowed))?;
    let legal = T::try_from(number).ok().filter(|number| range.contains(number));
    legal.ok_or_else(|| format!("{number} is out of range; allowed is {allowed}"))
}

/// A duration: a number of seconds, or text with a unit.
pub(super) fn duration(value: &DeValue<'_>) -> Read<Duration> {
    const ALLOWED: &str =
        "a whole number of seconds, or a text with the unit ms, s, m, h or d, such as \"90s\" or \"4d\"";
    let given = match (integer(value), value.as_str()) {
        (Some(seconds), _) => u64::try_from(seconds).ok().map(Duration::from_secs),
        (_, Some(text)) => parse_duration(text),
        _ => return Err(wrong_type(value, ALLOWED)),
    };
    given.ok_or_else(|| format!("{} is no duration; allowed is {ALLOWED}", shown(value)))
}

/// A duration that is not zero: nobody can do anything in no time.
pub(super) fn patience(value: &DeValue<'_>) -> Read<Duration> {
    let given = duration(value)?;
    if given.is_zero() {
        Err("no time at all is too short; allowed is 1ms and more".to_owned())
    } else {
        Ok(given)
    }
}

/// A duration of whole seconds in a range of seconds.
pub(super) fn seconds(value: &DeValue<'_>, range: &RangeInclusive<i32>) -> Read<u64> {
    let given = duration(value)?;
    let legal = |bound: i32| u64::try_from(bound).unwrap_or(0);
    let (least, most) = (legal(*range.start()), legal(*range.end()));
    let whole = given.subsec_nanos() == 0;
    if whole && (least..=most).contains(&given.as_secs()) {
        return Ok(given.as_secs());
    }
    Err(format!("{} is out of range; allowed are {least} to {most} whole seconds", shown(value)))
}

/// A size of at least one byte.
pub(super) fn size(value: &DeValue<'_>) -> Read<usize> {
    const ALLOWED: &str =
        "a whole number of bytes, or a text with the unit B, KiB, MiB or GiB, such as \"512MiB\"";
    let given = match (integer(value), value.as_str()) {
        (Some(bytes), _) => usize::try_from(bytes).ok(),
        (_, Some(text)) => text.parse().ok().map(|ByteSize(bytes)| bytes),
        _ => return Err(wrong_type(value, ALLOWED)),
    };
    let legal = given.filter(|bytes| *bytes > 0);
    legal.ok_or_else(|| format!("{} is no size; allowed is {ALLOWED}", shown(value)))
}

pub(super) fn integer(value: &DeValue<'_>) -> Option<i128> {
    let integer = value.as_integer()?;
    // What has more digits is out of any range.
    Some(i128::from_str_radix(integer.as_str(), integer.radix()).unwrap_or(i128::MAX))
}

fn parse_duration(text: &str) -> Option<Duration> {
    const UNITS: [(&str, u64); 5] =
        [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let (number, millis) =
        UNITS.iter().find_map(|(unit, millis)| Some((text.strip_suffix(unit)?, *millis)))?;
    number.trim_end_matches(' ').parse::<u64>().ok()?.checked_mul(millis).map(Duration::from_millis)
}

fn shown(value: &DeValue<'_>) -> String {
    match (value.as_integer(), value.as_str()) {
        (Some(integer), _) => integer.to_string(),
        (_, Some(text)) => format!("{text:?}"),
        _ => value.type_str().to_owned(),
    }
}

/// The value itself does not show: it could be a secret.
fn wrong_type(value: &DeValue<'_>, allowed: &str) -> String {
    format!("it is of type {}; allowed is {allowed}", value.type_str())
}
