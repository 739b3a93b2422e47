//! Filtering by message attributes and by message body.
//!
//! In a body, lists are transparent: a path continues into each element. The values that satisfy the conditions of one
//! alternative must come from the same element of each list, so the search collects, from the leaves to the root, which
//! conditions can be satisfied *together*:
//!
//! ```text
//! {"people": [{"first": "Anna", "last": "Smith"}, {"first": "Peter", "last": "Jones"}]}
//! first is Anna, last is Jones:   {first} from the first element, or {last} from the second, never both
//! ```

use std::collections::HashMap;
use std::net::IpAddr;

use serde_json::{Map, Value};
use sqs_client::types::MessageAttributeValue;

use crate::sns::filter::{Alternative, Condition};

/// The attributes of a message that take part in filtering, by name.
#[derive(Debug)]
pub(crate) struct Attributes<'a>(HashMap<&'a str, Attribute<'a>>);

#[derive(Debug)]
enum Attribute<'a> {
    One(Leaf<'a>),
    /// The JSON of a `String.Array`.
    Array(Value),
    /// A number or an array that is not valid: exists, but matches no rule.
    Invalid,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(attributes: &'a HashMap<String, MessageAttributeValue>) -> Self {
        let read = |(name, value): (&'a String, _)| Some((name.as_str(), Attribute::new(value)?));
        Self(attributes.iter().filter_map(read).collect())
    }

    /// Whether all conditions hold.
    pub(crate) fn satisfy(&self, alternative: &Alternative) -> bool {
        alternative.iter().all(|condition| match self.0.get(condition.path.as_str()) {
            // AWS documents that `exists: false` requires another attribute.
            None => condition.or_absent && !self.0.is_empty(),
            Some(attribute) => attribute.satisfies(condition),
        })
    }
}

impl<'a> Attribute<'a> {
    /// `None` for binary values.
    fn new(value: &'a MessageAttributeValue) -> Option<Self> {
        let text = value.string_value()?;
        let kind = value.data_type();
        Some(match kind.split_once('.').map_or(kind, |(kind, _label)| kind) {
            _ if kind == "String.Array" => serde_json::from_str(text).map_or(Self::Invalid, Self::Array),
            "String" => Self::One(Leaf::Text(text)),
            "Number" => Decimal::parse(text).map_or(Self::Invalid, |number| Self::One(Leaf::Number(number))),
            _ => return None,
        })
    }

    fn satisfies(&self, condition: &Condition) -> bool {
        let matches = |leaf| condition.rules.iter().any(|rule| rule.matches(leaf));
        match self {
            Self::One(leaf) => matches(*leaf),
            Self::Array(Value::Array(list)) if list.is_empty() => condition.or_absent,
            Self::Array(Value::Array(list)) => {
                let leaves: Vec<_> = list.iter().filter_map(Leaf::of).collect();
                condition.rules.iter().any(|rule| rule.matches_any(&leaves))
            }
            Self::Array(one) => Leaf::of(one).is_some_and(matches),
            Self::Invalid => false,
        }
    }
}

/// Conditions of an alternative, one bit each. The limits of keys and combinations allow 12 at most.
type Conditions = u64;

/// A condition, and the part of its path that is below the current value; `None` if the value is at the path.
#[derive(Clone, Copy)]
struct Wanted<'p> {
    bit: Conditions,
    condition: &'p Condition,
    rest: Option<&'p str>,
}

/// What one choice of list elements yields.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Choice {
    satisfied: Conditions,
    /// Conditions with `exists: false` that have a value in the chosen elements.
    present: Conditions,
}

/// What all choices in a value yield.
struct Found {
    /// No choice of them covers another.
    choices: Vec<Choice>,
    /// Conditions with `exists: false` that have a value in any element.
    present: Conditions,
}

/// Whether all conditions hold in a body.
pub(crate) fn body_satisfies(body: &Map<String, Value>, alternative: &Alternative) -> bool {
    let bits = (0..Conditions::BITS).map(|bit| 1 << bit);
    let wanted: Vec<_> = alternative
        .iter()
        .zip(bits)
        .map(|(condition, bit)| Wanted { bit, condition, rest: Some(&condition.path) })
        .collect();
    let all = union(wanted.iter());
    let optional = union(wanted.iter().filter(|wanted| wanted.condition.or_absent));
    let holds = |choice: &Choice| choice.satisfied | (optional & !choice.present) == all;
    in_object(&wanted, body).choices.iter().any(holds)
}

fn union<'w>(wanted: impl Iterator<Item = &'w Wanted<'w>>) -> Conditions {
    wanted.fold(0, |union, wanted| union | wanted.bit)
}

fn in_value(wanted: &[Wanted<'_>], value: &Value) -> Found {
    match value {
        Value::Object(object) => in_object(wanted, object),
        Value::Array(list) => in_list(wanted, list),
        scalar => {
            let here = wanted.iter().filter(|wanted| wanted.rest.is_none());
            let choice =
                Leaf::of(scalar).map(|leaf| here.fold(Choice::default(), |sum, at| sum.and(at.test(leaf))));
            Found::one(choice.unwrap_or_default())
        }
    }
}

fn in_object(wanted: &[Wanted<'_>], object: &Map<String, Value>) -> Found {
    let mut found = Found::one(Choice::default());
    for (key, value) in object {
        let below: Vec<_> = wanted.iter().filter_map(|wanted| wanted.below(key)).collect();
        if !below.is_empty() {
            found = found.and(&in_value(&below, value));
        }
    }
    found
}

fn in_list(wanted: &[Wanted<'_>], list: &[Value]) -> Found {
    let mut found = Found { choices: Vec::new(), present: 0 };
    for element in list {
        let inner = in_value(wanted, element);
        found.present |= inner.present;
        inner.choices.into_iter().filter(|choice| choice.satisfied != 0).for_each(|choice| found.add(choice));
    }
    // If no condition takes a value from this list, `exists: false` refers to all elements.
    found.add(Choice { satisfied: 0, present: found.present });
    found
}

impl<'p> Wanted<'p> {
    /// The same condition below a key, which can itself contain dots.
    fn below(&self, key: &str) -> Option<Self> {
        let rest: &'p str = self.rest?.strip_prefix(key)?;
        let rest = if rest.is_empty() { None } else { Some(rest.strip_prefix('.')?) };
        Some(Self { rest, ..*self })
    }

    fn test(&self, leaf: Leaf<'_>) -> Choice {
        let bit_if = |condition: bool| if condition { self.bit } else { 0 };
        Choice {
            satisfied: bit_if(self.condition.rules.iter().any(|rule| rule.matches(leaf))),
            present: bit_if(self.condition.or_absent),
        }
    }
}

impl Found {
    fn one(choice: Choice) -> Self {
        Self { choices: vec![choice], present: choice.present }
    }

    /// What this and another part of the same object yield.
    fn and(&self, other: &Self) -> Self {
        let mut found = Self { choices: Vec::new(), present: self.present | other.present };
        for left in &self.choices {
            other.choices.iter().for_each(|right| found.add(left.and(*right)));
        }
        found
    }

    fn add(&mut self, choice: Choice) {
        if !self.choices.iter().any(|known| known.covers(choice)) {
            self.choices.retain(|known| !choice.covers(*known));
            self.choices.push(choice);
        }
    }
}

impl Choice {
    fn and(self, other: Self) -> Self {
        Self { satisfied: self.satisfied | other.satisfied, present: self.present | other.present }
    }

    /// Whether every policy that matches with `other` matches with this.
    fn covers(self, other: Self) -> bool {
        other.satisfied & !self.satisfied == 0 && self.present & !other.present == 0
    }
}

/// Patterns without regard to case hold lower-case text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Pattern {
    Equal(String),
    Prefix(String),
    Suffix(String),
    EqualIgnoringCase(String),
    PrefixIgnoringCase(String),
    SuffixIgnoringCase(String),
    Wildcard(Wildcard),
    Block(Block),
}

impl Pattern {
    /// The pattern of an operator that takes a text.
    ///
    /// # Errors
    /// The operator does not take this text.
    pub(crate) fn parse(operator: &str, text: &str) -> Result<Self, String> {
        match operator {
            "prefix" => Ok(Self::Prefix(text.to_owned())),
            "suffix" => Ok(Self::Suffix(text.to_owned())),
            "equals-ignore-case" => Ok(Self::EqualIgnoringCase(lower_case(text))),
            "wildcard" => Wildcard::parse(text).map(Self::Wildcard),
            "cidr" => Block::parse(text).map(Self::Block),
            unknown => Err(format!("Unrecognized match type {unknown}")),
        }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let lower = || text.chars().flat_map(char::to_lowercase);
        match self {
            Self::Equal(whole) => text == whole,
            Self::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Self::Suffix(suffix) => text.ends_with(suffix.as_str()),
            Self::EqualIgnoringCase(whole) => lower().eq(whole.chars()),
            Self::PrefixIgnoringCase(prefix) => starts_with(lower(), prefix.chars()),
            Self::SuffixIgnoringCase(suffix) => starts_with(lower().rev(), suffix.chars().rev()),
            Self::Wildcard(wildcard) => wildcard.matches(text),
            Self::Block(block) => block.contains(text),
        }
    }
}

/// Text in the form that patterns without regard to case compare.
pub(crate) fn lower_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn starts_with(mut whole: impl Iterator<Item = char>, mut part: impl Iterator<Item = char>) -> bool {
    part.all(|character| whole.next() == Some(character))
}

/// More `*` than this in one pattern are rejected.
const MAX_STARS: usize = 3;

/// The fault of patterns that alone or together have too many `*`.
pub(crate) const TOO_COMPLEX: &str = "Rule is too complex - try using fewer wildcard characters or fewer repeating character \
                                      sequences after a wildcard character";

/// A pattern with `*` for any run of characters; `\*` and `\\` in its text are literal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Wildcard {
    first: String,
    /// The texts that follow each `*`.
    rest: Vec<String>,
}

impl Wildcard {
    /// # Errors
    /// Consecutive or too many `*`, or another escape.
    fn parse(text: &str) -> Result<Self, String> {
        let mut pattern = Self { first: String::new(), rest: Vec::new() };
        let mut characters = text.chars().enumerate();
        let mut after_star = false;
        while let Some((position, character)) = characters.next() {
            let literal = match character {
                '*' if after_star => {
                    return Err(format!("Consecutive wildcard characters at pos {position}"));
                }
                '*' => None,
                '\\' => match characters.next() {
                    Some((_, escaped @ ('*' | '\\'))) => Some(escaped),
                    _ => return Err(format!("Invalid escape character at pos {position}")),
                },
                other => Some(other),
            };
            after_star = literal.is_none();
            match literal {
                Some(literal) => pattern.rest.last_mut().unwrap_or(&mut pattern.first).push(literal),
                None => pattern.rest.push(String::new()),
            }
        }
        if pattern.rest.len() > MAX_STARS { Err(TOO_COMPLEX.into()) } else { Ok(pattern) }
    }

    /// What the pattern counts in the limit of a policy.
    pub(crate) fn points(&self) -> usize {
        match self.rest.len() {
            0 => 0,
            1 => 1,
            _ => 3,
        }
    }

    /// Whether the pattern matches the whole text. Takes the earliest occurrence of each part: no backtracking.
    fn matches(&self, text: &str) -> bool {
        let Some((last, middle)) = self.rest.split_last() else { return text == self.first };
        let Some(text) = text.strip_prefix(self.first.as_str()) else { return false };
        let Some(text) = text.strip_suffix(last.as_str()) else { return false };
        let mut left = text;
        for part in middle {
            let Some((_, after)) = left.split_once(part.as_str()) else { return false };
            left = after;
        }
        true
    }
}

/// A block of addresses of one version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Block {
    base: IpAddr,
    mask_bits: u32,
}

impl Block {
    /// # Errors
    /// No block in CIDR notation.
    fn parse(text: &str) -> Result<Self, String> {
        let slash = || "Malformed CIDR, one '/' required".to_owned();
        let (address, mask_bits) = text.split_once('/').ok_or_else(slash)?;
        if mask_bits.is_empty() || mask_bits.contains('/') {
            return Err(slash());
        }
        let mask_bits: i32 = mask_bits.parse().map_err(|_| "Malformed CIDR, mask bits must be an integer")?;
        let base: IpAddr = address.parse().map_err(|_| format!("Nonstandard IP address: {address}"))?;
        let (_, width) = bits(base);
        let range = || format!("Malformed CIDR, mask bits must be from 0 to {width}");
        let mask_bits = u32::try_from(mask_bits).ok().filter(|bits| *bits <= width).ok_or_else(range)?;
        Ok(Self { base, mask_bits })
    }

    /// Whether the text is an address of the block.
    fn contains(self, text: &str) -> bool {
        let Ok(address) = text.parse::<IpAddr>() else { return false };
        let ((base, width), (address, other_width)) = (bits(self.base), bits(address));
        // A shift by the whole width leaves nothing to compare.
        let differing = (base ^ address).checked_shr(width - self.mask_bits).unwrap_or_default();
        width == other_width && differing == 0
    }
}

/// The address as a number, and its width.
fn bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

/// A scalar of a message. Types are distinguished: `"100"` is not `100`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Leaf<'a> {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(&'a str),
}

impl<'a> Leaf<'a> {
    /// The leaf that a JSON value is; `None` for lists and objects.
    pub(crate) fn of(value: &'a Value) -> Option<Self> {
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
pub(crate) struct Decimal(i128);

const DECIMALS: i64 = 6;

const MILLION: i128 = 1_000_000;

/// More digits than an `i128` has: any longer number exceeds its range.
const MAX_DIGITS: usize = 40;

impl Decimal {
    /// Parses a number in the notation of JSON, or with a leading `+` or zeros.
    pub(crate) fn parse(text: &str) -> Option<Self> {
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
    pub(crate) fn of(number: &serde_json::Number) -> Option<Self> {
        // The text of a floating-point number is the shortest that identifies it: `0.1` stays `0.1`.
        number
            .as_i64()
            .map(|whole| Self(i128::from(whole) * MILLION))
            .or_else(|| Self::parse(&number.to_string()))
    }
}

/// A range of numbers, of the operator `numeric`. Both ends of `["=", 1]` are the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Range {
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
    pub(crate) fn parse(list: &[Value]) -> Result<Self, String> {
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

    pub(crate) fn contains(self, number: Decimal) -> bool {
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
mod pattern_tests {
    use super::*;

    #[test]
    fn pattern_matches_the_whole_text() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*ab*ab", "ab", false),
            ("*ab*ab", "abab", true),
            ("a*b*c", "a-b-b-c-c", true),
            ("a*b*c", "a-c-b", false),
            (r"\*a\\*", r"*a\b", true),
            (r"\*a", "ba", false),
            ("*é*", "caféine", true),
        ] {
            assert_eq!(Wildcard::parse(pattern).unwrap().matches(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn escapes_other_than_star_and_backslash_are_rejected() {
        for (pattern, position) in [(r"ab\c", 2), (r"a\", 1)] {
            let expected = format!("Invalid escape character at pos {position}");
            assert_eq!(Wildcard::parse(pattern), Err(expected), "{pattern}");
        }
    }
}

#[cfg(test)]
mod value_tests {
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
