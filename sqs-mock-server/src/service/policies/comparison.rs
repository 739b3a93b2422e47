//! Compares a statement with a request.
//!
//! A part of a statement can depend on something that this server cannot know, such as the role or the organization of a
//! caller. It then counts in favour of the request: a statement that allows matches, one that denies does not.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::condition::{Operator, is_like};
use super::context::{Context, KeyValue, Principal};
use super::document::{Conditions, List, Principals, Statement};

/// The first part of a statement that does not match a request, in the order of comparison.
#[derive(Clone, Debug)]
pub(super) enum Mismatch<'a> {
    Principal,
    Action,
    Resource,
    Condition {
        operator: &'a str,
        key: &'a str,
        /// The values in the policy.
        values: &'a Value,
        /// The value of the request.
        found: Option<Cow<'a, str>>,
    },
}

impl Mismatch<'_> {
    /// How many parts match.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Principal => 0,
            Self::Action => 1,
            Self::Resource => 2,
            Self::Condition { .. } => 3,
        }
    }
}

impl fmt::Display for Mismatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Principal => f.write_str("is for another principal"),
            Self::Action => f.write_str("is for another action"),
            Self::Resource => f.write_str("is for another resource"),
            Self::Condition { operator, key, values, found } => {
                write!(f, "requires {operator} {key} {values}, but {key} is ")?;
                match found {
                    Some(found) => write!(f, "{found:?}"),
                    None => f.write_str("absent"),
                }
            }
        }
    }
}

/// Compares parts of a statement with a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison<'a> {
    pub(super) context: &'a Context<'a>,
    /// Whether `${aws:SourceAccount}` is a variable, not text.
    pub(super) has_variables: bool,
    /// Whether a part matches if it depends on something unknown.
    pub(super) doubt: bool,
}

impl<'a> Comparison<'a> {
    /// The first part of a statement that does not match.
    pub(super) fn mismatch(self, statement: &'a Statement) -> Option<Mismatch<'a>> {
        let Statement { principal, not_principal, action, not_action, resource, not_resource, .. } =
            statement;
        if !self.both(principal.as_ref(), not_principal.as_ref(), Self::is_principal) {
            return Some(Mismatch::Principal);
        }
        if !self.both(action.as_ref(), not_action.as_ref(), Self::is_action) {
            return Some(Mismatch::Action);
        }
        if !self.both(resource.as_ref(), not_resource.as_ref(), Self::is_resource) {
            return Some(Mismatch::Resource);
        }
        self.unmet(statement.condition.as_ref()?)
    }

    /// Whether an element matches, if it is present, and its inverse does not.
    fn both<T>(self, element: Option<&T>, inverse: Option<&T>, matches: fn(Self, &T) -> bool) -> bool {
        let opposite = Self { doubt: !self.doubt, ..self };
        element.is_none_or(|element| matches(self, element))
            && inverse.is_none_or(|element| !matches(opposite, element))
    }

    fn is_principal(self, principals: &Principals) -> bool {
        let Principals::Kinds(kinds) = principals else { return true };
        let is_any = |kind: &str, is: &dyn Fn(&str) -> bool| {
            kinds.get(kind).is_some_and(|List(names)| names.iter().any(|name| is(name)))
        };
        // Everybody includes services: statements for SNS and S3 often name `{"AWS":"*"}`.
        is_any("AWS", &|name| name == "*")
            || match self.context.principal {
                Principal::Service { name, .. } => is_any("Service", &|service| service == name),
                Principal::Account(account) => is_any("AWS", &|name| self.is_of_account(name, account)),
            }
    }

    /// Whether a principal is this account, or a user or role of it.
    fn is_of_account(self, name: &str, account: &str) -> bool {
        match name.splitn(6, ':').collect::<Vec<_>>().as_slice() {
            ["arn", _, _, _, of, "root"] => *of == account,
            ["arn", _, _, _, of, _] => *of == account && self.doubt,
            _ => name == account,
        }
    }

    fn is_action(self, List(names): &List) -> bool {
        let action = self.context.action.to_ascii_lowercase();
        names.iter().any(|name| is_like(&name.to_ascii_lowercase(), &action))
    }

    fn is_resource(self, List(names): &List) -> bool {
        names.iter().any(|name| self.matches(name, |name| is_like(name, self.context.resource)))
    }

    /// The first condition that does not hold.
    fn unmet(self, conditions: &'a Conditions) -> Option<Mismatch<'a>> {
        let keys = conditions.iter().flat_map(|(operator, keys)| keys.iter().map(move |key| (operator, key)));
        let mut unmet = keys.filter(|(operator, (key, values))| !self.holds(operator, key, values));
        unmet.next().map(|(operator, (key, values))| Mismatch::Condition {
            operator,
            key,
            values,
            found: match self.context.key(key) {
                KeyValue::Known(value) => Some(value),
                KeyValue::Absent | KeyValue::Unknown => None,
            },
        })
    }

    fn holds(self, operator: &str, key: &str, values: &Value) -> bool {
        let Some(operator) = Operator::parse(operator) else { return false };
        let found = self.context.key(key);
        let values = values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice);
        let any = |matches: &dyn Fn(&str) -> bool| values.iter().any(|value| matches(&text(value)));
        match (operator, found) {
            (_, KeyValue::Unknown) => self.doubt,
            (Operator::Null, KeyValue::Known(_)) => any(&|value| value.eq_ignore_ascii_case("false")),
            (Operator::Null, KeyValue::Absent) => any(&|value| value.eq_ignore_ascii_case("true")),
            (Operator::Compare { without_key, .. }, KeyValue::Absent) => without_key,
            (Operator::Compare { test, negated, .. }, KeyValue::Known(found)) => {
                let comparison = Self { doubt: self.doubt != negated, ..self };
                any(&|value| comparison.matches(value, |value| test.matches(value, &found))) != negated
            }
        }
    }

    /// Whether a text of the policy matches, with its variables replaced.
    fn matches(self, text: &str, matches: impl Fn(&str) -> bool) -> bool {
        let text =
            if self.has_variables { self.context.with_variables(text) } else { KeyValue::Known(text.into()) };
        match text {
            KeyValue::Known(text) => matches(&text),
            KeyValue::Absent => false,
            KeyValue::Unknown => self.doubt,
        }
    }
}

/// A value of a condition; numbers and booleans are compared as text.
fn text(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| value.to_string().into(), Cow::Borrowed)
}
