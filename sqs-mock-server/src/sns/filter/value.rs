//! Values of a message that rules are compared with, and ranges of numbers.

use serde_json::Value;

/// A scalar of a message. Types are distinguished: `"100"` is not `100`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Leaf<'a> {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(&'a str),
}

impl<'a> Leaf<'a> {
    /// The leaf that a JSON value is; `None` for lists and objects.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Number(value) => Decimal::of(value).map(Self::Number),
            Value::String(value) => Some(Self::Text(value)),
            Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// A number in millionths, rounded: AWS compares 6 decimals. Numbers over 10^32 are equal.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Decimal(i128);

const DECIMALS: i64 = 6;
const MILLION: i128 = 1_000_000;

/// More digits than an `i128` has: any longer number exceeds its range.
const MAX_DIGITS: usize = 40;

impl Decimal {
    /// Parses a number in the notation of JSON, or with a leading `+` or zeros.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, i64::from(exponent.parse::<i32>().ok()?)),
            None => (text, 0),
        };
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        if digits().next().is_none() || !digits().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let kept = i64::try_from(whole.len()).ok()?.saturating_add(exponent).saturating_add(DECIMALS);
        let Ok(kept) = usize::try_from(kept) else { return Some(Self(0)) };
        let mut digits =
            digits().chain(std::iter::repeat_n(b'0', MAX_DIGITS)).map(|digit| i128::from(digit - b'0'));
        let whole = digits.by_ref().take(kept);
        let whole = whole.fold(0_i128, |sum, digit| sum.saturating_mul(10).saturating_add(digit));
        let magnitude = whole.saturating_add(i128::from(digits.next() >= Some(5)));
        Some(Self(if mantissa.starts_with('-') { -magnitude } else { magnitude }))
    }

    /// The value of a JSON number.
    ///
    /// `serde_json` can read a number of 17 or more digits with an error in the last one, which rounding removes.
    pub(super) fn of(number: &serde_json::Number) -> Option<Self> {
        // The text of a floating-point number is the shortest that identifies it: `0.1` stays `0.1`.
        number
            .as_i64()
            .map(|whole| Self(i128::from(whole) * MILLION))
            .or_else(|| Self::parse(&number.to_string()))
    }
}

/// A range of numbers, of the operator `numeric`. Both ends of `["=", 1]` are the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Range {
    lower: Option<Bound>,
    upper: Option<Bound>,
}

/// One end of a range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Bound {
    value: Decimal,
    inclusive: bool,
}

impl Range {
    /// Reads `["=", 1]`, one bound such as `["<", 1]`, or two such as `[">", 0, "<=", 150]`.
    ///
    /// # Errors
    /// Another list.
    pub(super) fn parse(list: &[Value]) -> Result<Self, String> {
        let mut terms = list.iter();
        let operator = match terms.next() {
            Some(Value::String(operator)) => operator.as_str(),
            other => return Err(format!("Invalid member in numeric match: {}", token(other))),
        };
        let (range, excess) = match operator {
            "=" => {
                let bound = Some(Bound { value: number("equals", terms.next())?, inclusive: true });
                (Self { lower: bound, upper: bound }, "Too many elements in numeric expression")
            }
            "<" | "<=" => {
                let upper = Some(Bound::parse(operator, terms.next())?);
                (Self { lower: None, upper }, "Too many elements in numeric expression")
            }
            ">" | ">=" => {
                let lower = Bound::parse(operator, terms.next())?;
                let upper = terms.next().map(|operator| Bound::upper(operator, terms.next())).transpose()?;
                if upper.is_some_and(|upper| lower.value >= upper.value) && terms.len() == 0 {
                    return Err("Bottom must be less than top".into());
                }
                (Self { lower: Some(lower), upper }, "Too many terms in numeric range expression")
            }
            other => return Err(format!("Unrecognized numeric range operator: {other}")),
        };
        if terms.len() > 0 { Err(excess.into()) } else { Ok(range) }
    }

    pub(super) fn contains(self, number: Decimal) -> bool {
        let is_end = |bound: Bound| bound.inclusive && number == bound.value;
        self.lower.is_none_or(|bound| number > bound.value || is_end(bound))
            && self.upper.is_none_or(|bound| number < bound.value || is_end(bound))
    }
}

impl Bound {
    fn parse(operator: &str, value: Option<&Value>) -> Result<Self, String> {
        Ok(Self { value: number(operator, value)?, inclusive: operator.ends_with('=') })
    }

    /// The second bound of a range.
    fn upper(operator: &Value, value: Option<&Value>) -> Result<Self, String> {
        match operator {
            Value::String(operator) if operator == "<" || operator == "<=" => Self::parse(operator, value),
            Value::String(other) => Err(format!("Bad numeric range operator: {other}")),
            other => Err(format!("Bad value in numeric range: {}", token(Some(other)))),
        }
    }
}

fn number(operator: &str, value: Option<&Value>) -> Result<Decimal, String> {
    let number = value.and_then(Value::as_number).and_then(Decimal::of);
    number.ok_or_else(|| format!("Value of {operator} must be numeric"))
}

/// A value as the parser of AWS shows it: of a list or an object, the first character.
fn token(value: Option<&Value>) -> String {
    match value {
        None => "]".to_owned(),
        Some(Value::Array(_)) => "[".to_owned(),
        Some(Value::Object(_)) => "{".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Decimal {
        Decimal::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn numbers_are_equal_by_value() {
        for (left, right) in [
            ("300", "300.0"),
            ("301.5", "3.015e2"),
            ("0.1", "1E-1"),
            ("-0", "0"),
            ("+007", "7"),
            ("1e-9", "0"),
            ("100.123456789", "100.1234567"),
            ("0.799999999999999999", "0.8"),
            ("-0.0000005", "-0.000001"),
            ("4.999999e-7", "0"),
            ("0.000001e6", "1"),
            ("123456789e-2147483648", "0"),
            ("0e2147483647", "0"),
            ("1e2147483647", "1e40"),
        ] {
            assert_eq!(parse(left), parse(right), "{left} {right}");
        }
    }

    #[test]
    fn numbers_have_an_order() {
        let ascending =
            ["-1e50", "-1e9", "-2", "-0.000001", "0", "0.1", "0.100001", "99.12", "1e9", "5e31", "1e50"];
        assert!(ascending.map(parse).is_sorted_by(|left, right| left < right));
    }

    #[test]
    fn json_numbers_keep_their_decimals() {
        for text in
            ["0.1", "0.3", "301.8", "999999999.999999", "-4999999999.999999", "18446744073709551615", "1e300"]
        {
            let number: serde_json::Number = serde_json::from_str(text).unwrap();
            assert_eq!(Decimal::of(&number), Decimal::parse(text), "{text}");
        }
    }

    #[test]
    fn other_text_is_not_a_number() {
        for text in
            ["", "-", ".", "+", "e5", "1e", "1e99999999999", "--1", "1 ", "0x1", "one", "NaN", "1.2.3", "१"]
        {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
