//! Ranges of numbers: the operator `numeric`.

use serde_json::Value;

use super::fault::Fault;
use super::value::Decimal;

/// A comparison of numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Range {
    Equal(Decimal),
    Between { lower: Option<Bound>, upper: Option<Bound> },
}

/// One end of a range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Bound {
    value: Decimal,
    inclusive: bool,
}

impl Range {
    /// Reads `["=", 1]`, one bound such as `["<", 1]`, or two such as `[">", 0, "<=", 150]`.
    ///
    /// # Errors
    /// Another list.
    pub(super) fn parse(list: &[Value]) -> Result<Self, Fault> {
        let mut terms = list.iter();
        let operator = match terms.next() {
            Some(Value::String(operator)) => operator.as_str(),
            other => return Err(fault("Invalid member in numeric match", &token(other))),
        };
        let (range, excess) = match operator {
            "=" => (Self::Equal(number("equals", terms.next())?), "Too many elements in numeric expression"),
            "<" | "<=" => {
                let upper = Some(Bound::parse(operator, terms.next())?);
                (Self::Between { lower: None, upper }, "Too many elements in numeric expression")
            }
            ">" | ">=" => {
                let lower = Bound::parse(operator, terms.next())?;
                let upper = terms.next().map(|operator| upper(operator, terms.next())).transpose()?;
                let lower = Some(lower);
                (Self::Between { lower, upper }, "Too many terms in numeric range expression")
            }
            other => return Err(fault("Unrecognized numeric range operator", other)),
        };
        match range {
            _ if terms.next().is_some() => Err(Fault::policy(excess)),
            Self::Between { lower: Some(lower), upper: Some(upper) } if lower.value >= upper.value => {
                Err(Fault::policy("Bottom must be less than top"))
            }
            range => Ok(range),
        }
    }

    pub(super) fn contains(self, number: Decimal) -> bool {
        match self {
            Self::Equal(value) => number == value,
            Self::Between { lower, upper } => {
                lower.is_none_or(|Bound { value, inclusive }| number > value || inclusive && number == value)
                    && upper.is_none_or(|Bound { value, inclusive }| {
                        number < value || inclusive && number == value
                    })
            }
        }
    }
}

impl Bound {
    fn parse(operator: &str, value: Option<&Value>) -> Result<Self, Fault> {
        Ok(Self { value: number(operator, value)?, inclusive: operator.ends_with('=') })
    }
}

/// The second bound of a range.
fn upper(operator: &Value, value: Option<&Value>) -> Result<Bound, Fault> {
    match operator {
        Value::String(operator) if operator == "<" || operator == "<=" => Bound::parse(operator, value),
        Value::String(other) => Err(fault("Bad numeric range operator", other)),
        other => Err(fault("Bad value in numeric range", &token(Some(other)))),
    }
}

fn number(operator: &str, value: Option<&Value>) -> Result<Decimal, Fault> {
    let number = value.and_then(Value::as_number).and_then(Decimal::of);
    number.ok_or_else(|| Fault::policy(format_args!("Value of {operator} must be numeric")))
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

fn fault(what: &str, value: &str) -> Fault {
    Fault::policy(format_args!("{what}: {value}"))
}
