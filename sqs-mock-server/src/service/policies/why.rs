//! Why a request is denied, as text for logs and recorded requests.

use std::fmt;

/// Why a request is denied. It shows as a sentence with caller, action and reason.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Why {
    /// Such as `account 111122223333`.
    pub(super) principal: String,
    pub(super) action: String,
    pub(super) reason: Reason,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Reason {
    /// The statement denies the request.
    Denies(StatementName),
    /// There is no policy.
    NoPolicy,
    /// No statement allows the request. The statement that comes closest requires something else.
    NoneAllows(Option<(Mismatch, StatementName)>),
}

/// The id of a statement, or its number from 1.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum StatementName {
    Sid(String),
    Number(usize),
}

/// The first part of a statement that does not match a request, in the order of comparison.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Mismatch {
    Principal,
    Action,
    Resource,
    Condition {
        operator: String,
        key: String,
        /// The values in the policy, as JSON.
        values: String,
        /// The value of the request.
        found: Option<String>,
    },
}

impl Why {
    /// Whether a statement denies the request, so that no other statement can allow it.
    pub(crate) fn is_explicit(&self) -> bool {
        matches!(self.reason, Reason::Denies(_))
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} may not call {}: {}", self.principal, self.action, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denies(name) => write!(f, "{name} of the policy denies it"),
            Self::NoPolicy => f.write_str("there is no policy that allows it"),
            Self::NoneAllows(None) => f.write_str("no statement of the policy allows anything"),
            Self::NoneAllows(Some((mismatch, name))) => {
                write!(f, "no statement of the policy allows it; the closest, {name}, {mismatch}")
            }
        }
    }
}

impl fmt::Display for StatementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sid(sid) => write!(f, "statement {sid:?}"),
            Self::Number(number) => write!(f, "statement {number}"),
        }
    }
}

impl fmt::Display for Mismatch {
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
