//! Sizes and durations with units.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

const SIZES: [(&str, u64); 5] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1), ("", 1)];

const SIZE: &str = "a whole number of bytes, or a text with the unit B, KiB, MiB or GiB, such as \"512MiB\"";

const PERIOD: &str =
    "a whole number of seconds, or a text with units, such as \"250ms\", \"90s\", \"1h 30m\" or \"4d\"";

const WHOLE_PERIOD: &str =
    "a whole number of seconds, or a text with units, such as \"90s\", \"1h 30m\" or \"4d\"";

/// A number of bytes, parsed from and displayed as `512MiB`, `2GiB`, `64KiB` or a plain number.
///
/// ```
/// use sqs_mock_server::ByteSize;
///
/// assert_eq!("512MiB".parse(), Ok(ByteSize(512 * 1024 * 1024)));
/// assert_eq!("1000".parse(), Ok(ByteSize(1000)));
/// assert_eq!(ByteSize(2 << 30).to_string(), "2GiB");
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
pub struct ByteSize(#[serde(deserialize_with = "bytes")] pub usize);

/// The error of a text that is not a [`ByteSize`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct NotASize;

impl fmt::Display for NotASize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a size; allowed is {SIZE}")
    }
}

impl std::error::Error for NotASize {}

impl FromStr for ByteSize {
    type Err = NotASize;

    fn from_str(text: &str) -> Result<Self, NotASize> {
        parse(text).map(Self).ok_or(NotASize)
    }
}

impl fmt::Display for ByteSize {
    /// Uses the largest unit that divides the size.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as u64;
        let fits = |factor: u64| bytes > 0 && bytes.is_multiple_of(factor);
        let (unit, factor) = SIZES.into_iter().find(|(_, factor)| fits(*factor)).unwrap_or(("B", 1));
        write!(f, "{}{unit}", bytes / factor)
    }
}

fn parse(text: &str) -> Option<usize> {
    let with_unit = |(unit, factor)| Some((text.strip_suffix(unit)?, factor));
    let (number, factor) = SIZES.into_iter().find_map(with_unit)?;
    number.trim_end_matches(' ').parse::<u64>().ok()?.checked_mul(factor)?.try_into().ok()
}

/// Deserializes a number in the base unit, or a text with a unit.
fn quantity<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    allowed: &'static str,
    of_number: fn(u64) -> Option<T>,
    of_text: fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let given = Value::deserialize(deserializer)?;
    let read = match &given {
        Value::Number(number) if !number.is_f64() => number.as_u64().and_then(of_number),
        Value::String(text) => of_text(text),
        Value::Object(_) => return Err(D::Error::invalid_type(Unexpected::Map, &allowed)),
        _ => return Err(D::Error::invalid_type(Unexpected::Other("another type"), &allowed)),
    };
    read.ok_or_else(|| D::Error::invalid_value(Unexpected::Other(&given.to_string()), &allowed))
}

/// Deserializes a size in bytes.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let of_text = |text: &str| text.parse().ok().map(|ByteSize(bytes)| bytes);
    quantity(deserializer, SIZE, |bytes| bytes.try_into().ok(), of_text)
}

/// Deserializes a duration. Texts have the syntax of `/_mock/clock`.
pub(crate) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    quantity(deserializer, PERIOD, |seconds| Some(Duration::from_secs(seconds)), period)
}

/// Like [`duration`], for settings of whole seconds, whose ranges are checked elsewhere.
pub(crate) fn whole_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    quantity(deserializer, WHOLE_PERIOD, |seconds| Some(Duration::from_secs(seconds)), period)
}

/// A duration with units, such as `1h 30m`.
pub(crate) fn period(text: &str) -> Option<Duration> {
    let (mut rest, mut total) = (text.trim(), Duration::ZERO);
    // Term by term, since humantime panics if the sum is too large.
    loop {
        let unit = rest.find(char::is_alphabetic)?;
        let end = rest[unit..].find(|char: char| !char.is_alphabetic()).map_or(rest.len(), |end| unit + end);
        let (term, behind) = rest.split_at(end);
        total = total.checked_add(humantime::parse_duration(term).ok()?)?;
        rest = behind.trim_start();
        if rest.is_empty() {
            return Some(total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_sums_and_too_large_ones_are_refused() {
        let millis = |text| period(text).map(|period| period.as_millis());
        assert_eq!(
            (millis("1h 30m"), millis("1h30m"), millis(" 250ms")),
            (Some(5_400_000), Some(5_400_000), Some(250))
        );
        for text in
            ["", "7", "m", "1h 30", "-1s", "18446744073709551615s 1000000000ns", "99999999999999999999s"]
        {
            assert_eq!(period(text), None, "{text}");
        }
    }

    #[test]
    fn size_survives_a_round_trip() {
        for bytes in [0, 1, 1023, 1024, 1 << 20, 3 << 30, (3 << 30) + 1] {
            assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)));
        }
    }

    #[test]
    fn text_that_is_not_a_size_is_rejected() {
        for text in ["", "MiB", "-1", "1.5GiB", "1 giraffe", "1MB", "99999999999GiB", "1KiB "] {
            assert_eq!(text.parse::<ByteSize>(), Err(NotASize), "{text}");
        }
    }
}
