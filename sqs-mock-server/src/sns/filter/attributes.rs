//! Filtering by message attributes.

use std::collections::HashMap;

use serde_json::Value;
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
