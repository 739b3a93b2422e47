//! Errors with the messages of SQS, for servers and for layers that validate input; and the checks of characters and numbers.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::wire::limits::{MAX_NUMBER_DIGITS, NUMBER_EXPONENTS};
use crate::wire::service_error::{ErrorCode, ServiceError};

const MISSING: &str = "The request must contain the parameter ";

/// The queue does not exist, or the request has no queue URL.
pub fn queue_does_not_exist() -> ServiceError {
    ServiceError::new(ErrorCode::QueueDoesNotExist, "The specified queue does not exist.")
}

/// Requires a queue URL. Does not check that the queue exists.
///
/// # Errors
/// `QueueDoesNotExist` if the URL is absent or empty.
pub fn require_queue_url(url: Option<&str>) -> Result<(), ServiceError> {
    match url {
        None | Some("") => Err(queue_does_not_exist()),
        Some(_) => Ok(()),
    }
}

/// A required parameter is missing.
pub fn missing_parameter(parameter: &str) -> ServiceError {
    let message = format!("{MISSING}{parameter}.");
    ServiceError::new(ErrorCode::MissingParameter, message)
}

/// The error of a batch entry. The name of a missing parameter gets the shape and the number of the entry, from 1:
/// `ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout`.
pub(super) fn missing_in_entry(error: ServiceError, shape: &str, number: usize) -> ServiceError {
    match error.message.as_deref().and_then(|message| message.strip_prefix(MISSING)) {
        Some(parameter) if error.code == ErrorCode::MissingParameter => {
            ServiceError::new(error.code.clone(), format!("{MISSING}{shape}.{number}.{parameter}"))
        }
        _ => error,
    }
}

/// The value of a parameter is invalid, with the standard message of SQS.
pub fn invalid_value(parameter: &str, value: impl Display, reason: impl Display) -> ServiceError {
    invalid_parameter(format!("Value {value} for parameter {parameter} is invalid. Reason: {reason}"))
}

/// A parameter is invalid, with a specific message.
pub fn invalid_parameter(message: impl Into<String>) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidParameterValue, message)
}

/// The queue attribute is unknown.
pub fn unknown_attribute(name: &str) -> ServiceError {
    ServiceError::new(ErrorCode::InvalidAttributeName, format!("Unknown Attribute {name}."))
}

/// The receipt handle is invalid.
pub fn invalid_receipt_handle(handle: &str) -> ServiceError {
    let message = format!("The input receipt handle \"{handle}\" is not a valid receipt handle.");
    ServiceError::new(ErrorCode::ReceiptHandleIsInvalid, message)
}

/// Requires a parameter that is not empty.
pub(super) fn required<'a>(parameter: &str, value: Option<&'a str>) -> Result<&'a str, ServiceError> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| missing_parameter(parameter))
}

/// Requires an optional number to be in a range.
pub(super) fn within(
    parameter: &str,
    value: Option<i32>,
    range: &RangeInclusive<i32>,
    reason: impl FnOnce(i32, i32) -> String,
) -> Result<(), ServiceError> {
    match value {
        Some(value) if !range.contains(&value) => {
            Err(invalid_value(parameter, value, reason(*range.start(), *range.end())))
        }
        _ => Ok(()),
    }
}

/// The message of SQS for text that violates [`is_text`].
pub(super) const NOT_TEXT: &str = "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | \
     #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF";

/// Whether XML 1.0 allows all characters. Applies to bodies, `String` attributes and tags.
pub(crate) fn is_text(text: &str) -> bool {
    // Bodies are long and nearly always valid. Only control characters and sequences that start with EF, such as U+FFFE and
    // U+FFFF, need a check by character. A scan without an early end finds them, which compiles to vector instructions.
    let suspicious = |byte: u8| (byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0xEF;
    !text.bytes().fold(false, |found, byte| found | suspicious(byte)) || text.chars().all(is_text_char)
}

/// Whether XML 1.0 allows a character.
pub(crate) fn is_text_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Whether a text has 1 to `max` characters of `A-Za-z0-9_-`. Applies to queue names, batch entry ids and labels.
pub(super) fn is_name(text: &str, max: usize) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=max).contains(&text.len()) && text.bytes().all(legal)
}

/// Whether a text has 1 to `max` printable ASCII characters except the space. Applies to group ids, deduplication ids and
/// receive request attempt ids.
pub(super) fn is_token(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a text is a decimal number: an optional sign, digits with at most one point, an optional exponent.
///
/// It has at most 38 significant digits, without leading and trailing zeros. Its magnitude is zero or from 1e-128 to 1e+126.
pub(super) fn is_number(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let Ok(exponent) = exponent.parse::<i64>() else {
        return false;
    };
    match Digits::of(mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa)) {
        None => false,
        Some(Digits::Zero) => true,
        Some(Digits::From { first, count }) => {
            count <= MAX_NUMBER_DIGITS && NUMBER_EXPONENTS.contains(&first.saturating_add(exponent))
        }
    }
}

/// The significant digits of a number, without leading and trailing zeros.
#[derive(Debug, PartialEq)]
enum Digits {
    Zero,
    /// The power of ten of the first digit, and the number of digits.
    From {
        first: i64,
        count: usize,
    },
}

impl Digits {
    fn of(unsigned: &str) -> Option<Self> {
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        if whole.len() + fraction.len() == 0 || !digits().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let mut significant =
            digits().enumerate().filter(|(_, digit)| *digit != b'0').map(|(position, _)| position);
        let Some(first) = significant.next() else {
            return Some(Self::Zero);
        };
        let last = significant.last().unwrap_or(first);
        let before_point = i64::try_from(whole.len()).ok()?;
        Some(Self::From { first: before_point - 1 - i64::try_from(first).ok()?, count: last - first + 1 })
    }
}

#[cfg(test)]
mod characters_tests {
    use super::*;

    #[test]
    fn text_allows_the_characters_of_xml() {
        for good in
            ["a", "\t\n\r", " ", "\u{7F}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{10000}", "\u{1FFFE}", "ﬁ"]
        {
            assert!(is_text(good), "{good:?}");
        }
        for bad in ["\0", "\u{8}", "\u{B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"] {
            assert!(!is_text(bad), "{bad:?}");
            let long = format!("{}{bad}", "x".repeat(1_000));
            assert!(!is_text(&long), "{bad:?} after 1,000 bytes");
        }
    }

    #[test]
    fn tokens_allow_printable_ascii_without_space() {
        assert!(is_token("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~aZ09", 128));
        assert!(is_token(&"x".repeat(128), 128));
        for bad in ["", " ", "a b", "ü", "\t", &"x".repeat(129)] {
            assert!(!is_token(bad, 128), "{bad:?}");
        }
    }
}

#[cfg(test)]
mod number_tests {
    use super::*;

    #[test]
    fn decimal_numbers_with_or_without_exponent_are_valid() {
        for good in
            ["0", "-0", "3", "+3", "-3.25", ".5", "5.", "1e5", "1E-5", "1.5e+10", "007", "0.000", "0e999"]
        {
            assert!(is_number(good), "{good}");
        }
        for bad in [
            "", " 1", "1 ", "x", ".", "-", "+-1", "1e", "e5", "1e5.0", "1e+-5", "1.2.3", "0x10", "1_000",
            "NaN", "Infinity", "１",
        ] {
            assert!(!is_number(bad), "{bad:?}");
        }
    }

    #[test]
    fn precision_is_38_digits_without_leading_and_trailing_zeros() {
        let digits = "1".repeat(38);
        assert!(is_number(&digits));
        assert!(is_number(&format!("000{digits}000")));
        assert!(is_number(&format!("0.000{digits}000")));
        assert!(!is_number(&format!("{digits}1")));
        assert!(!is_number(&format!("1{}1", "0".repeat(37))));
    }

    #[test]
    fn magnitude_is_1e_minus_128_to_1e_126() {
        assert!(is_number("1e126"));
        assert!(is_number("-1e-128"));
        assert!(is_number(&format!("1{}", "0".repeat(126))));
        assert!(is_number("0.1e127"));
        for bad in
            ["1e127", "1e-129", "10e126", "0.1e-128", "1e99999999999999999999", "1e9223372036854775807"]
        {
            assert!(!is_number(bad), "{bad}");
        }
        assert!(!is_number(&format!("1{}", "0".repeat(127))));
    }
}
