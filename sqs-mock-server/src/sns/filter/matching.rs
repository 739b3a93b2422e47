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

use serde_json::{Map, Value};
use sqs_client::types::MessageAttributeValue;

use super::grammar::{Alternative, Condition};
use super::value::{Decimal, Leaf};

/// The attributes of a message that take part in filtering, by name.
#[derive(Debug)]
pub(super) struct Attributes<'a>(HashMap<&'a str, Attribute<'a>>);

#[derive(Debug)]
enum Attribute<'a> {
    One(Leaf<'a>),
    /// The JSON of a `String.Array`.
    Array(Value),
    /// A number or an array that is not valid: exists, but matches no rule.
    Invalid,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(attributes: &'a HashMap<String, MessageAttributeValue>) -> Self {
        let read = |(name, value): (&'a String, _)| Some((name.as_str(), Attribute::new(value)?));
        Self(attributes.iter().filter_map(read).collect())
    }

    /// Whether all conditions hold.
    pub(super) fn satisfy(&self, alternative: &Alternative) -> bool {
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
            Self::Array(Value::Array(list)) => list.iter().filter_map(Leaf::of).any(matches),
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
pub(super) fn body_satisfies(body: &Map<String, Value>, alternative: &Alternative) -> bool {
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
