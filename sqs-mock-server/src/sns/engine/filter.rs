//! Filter policies of subscriptions. They are stored, not evaluated yet.

use std::collections::HashMap;
use std::fmt;

use sqs_client::types::MessageAttributeValue;

use super::json;

/// The part of a message that a filter policy reads.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum FilterScope {
    #[default]
    MessageAttributes,
    MessageBody,
}

/// Why a policy or a scope is rejected, in the words of AWS.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fault(String);

/// A filter policy.
#[derive(Debug)]
pub(crate) struct FilterPolicy {
    text: Box<str>,
    scope: FilterScope,
}

/// The parts of a message that policies read.
#[derive(Debug)]
pub(crate) struct FilterInput<'a> {
    _text: &'a str,
    _attributes: &'a HashMap<String, MessageAttributeValue>,
}

impl FilterScope {
    /// Finds a scope by its name on the wire.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let mut all = [Self::MessageAttributes, Self::MessageBody].into_iter();
        all.find(|scope| scope.as_str() == text).ok_or_else(|| {
            Fault(format!(
                "FilterPolicyScope: Invalid value [{text}]. Please use either MessageBody or MessageAttributes"
            ))
        })
    }

    /// The name on the wire.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::MessageAttributes => "MessageAttributes",
            Self::MessageBody => "MessageBody",
        }
    }
}

impl FilterPolicy {
    /// Parses a policy.
    pub(super) fn parse(text: &str, scope: FilterScope) -> Result<Self, Fault> {
        json::object(text).map_err(|error| Fault(format!("FilterPolicy: {error}")))?;
        Ok(Self { text: text.into(), scope })
    }

    /// The policy as it was given.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The scope that it was parsed for.
    pub(super) fn scope(&self) -> FilterScope {
        self.scope
    }

    /// Whether a message matches.
    #[expect(clippy::unused_self, reason = "policies are not evaluated yet")]
    pub(super) fn matches(&self, _message: &FilterInput<'_>) -> bool {
        true
    }
}

impl<'a> FilterInput<'a> {
    /// The parts of a message.
    pub(super) fn new(text: &'a str, attributes: &'a HashMap<String, MessageAttributeValue>) -> Self {
        Self { _text: text, _attributes: attributes }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
