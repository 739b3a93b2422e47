//! Filter policies: which messages of a topic a subscription receives.
//!
//! ```text
//! text --grammar--> alternatives of conditions on paths --matching--> whether a message matches
//! ```
//!
//! | Module | Contents |
//! |---|---|
//! | `grammar` | parsing, and the limits of policies |
//! | `rule`, `pattern`, `value` | rules of a condition, texts and numbers |
//! | `matching` | matching in both scopes |
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-subscription-filter-policies.html>

mod grammar;
mod matching;
mod pattern;
mod rule;
#[cfg(test)]
mod tests;
mod value;

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::{Map, Value};
use sqs_client::types::MessageAttributeValue;

use crate::service::text_enum::text_enum;

use grammar::Alternative;
use matching::Attributes;

text_enum! {
    /// The part of a message that a policy is compared with.
    #[derive(Default)]
    pub(crate) enum FilterScope {
        #[default]
        MessageAttributes => "MessageAttributes",
        MessageBody => "MessageBody",
    }
}

impl FilterScope {
    /// # Errors
    /// Neither `MessageAttributes` nor `MessageBody`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::from_text(text).ok_or_else(|| {
            format!(
                "FilterPolicyScope: Invalid value [{text}]. Please use either MessageBody or MessageAttributes"
            )
        })
    }
}

/// A filter policy, parsed once for many messages.
#[derive(Debug, PartialEq)]
pub(crate) struct FilterPolicy {
    scope: FilterScope,
    alternatives: Vec<Alternative>,
}

impl FilterPolicy {
    /// Parses the JSON of a policy.
    ///
    /// # Errors
    /// The policy is invalid in this scope, or exceeds a limit. The text follows the prefix of the action, such as
    /// `Invalid parameter: `.
    pub(crate) fn parse(text: &str, scope: FilterScope) -> Result<Self, String> {
        let parsed = grammar::parse(text).map_err(|reason| format!("FilterPolicy: {reason}"));
        let (policy, alternatives) = parsed?;
        if scope == FilterScope::MessageAttributes && grammar::is_nested(&policy) {
            return Err("Filter policy scope MessageAttributes does not support nested filter policy".into());
        }
        Ok(Self { scope, alternatives })
    }

    /// Whether a message matches.
    pub(crate) fn matches(&self, message: &FilterInput<'_>) -> bool {
        match self.scope {
            FilterScope::MessageAttributes => {
                let attributes =
                    message.parsed_attributes.get_or_init(|| Attributes::new(message.attributes));
                self.alternatives.iter().any(|alternative| attributes.satisfy(alternative))
            }
            FilterScope::MessageBody => {
                // `None` if the body is not a JSON object, or nested more than 127 levels.
                let body = message.parsed_body.get_or_init(|| serde_json::from_str(message.body).ok());
                body.as_ref().is_some_and(|body| {
                    self.alternatives.iter().any(|alternative| matching::body_satisfies(body, alternative))
                })
            }
        }
    }
}

/// A message to compare with policies. Each part is parsed once, when the first policy needs it.
#[derive(Debug)]
pub(crate) struct FilterInput<'a> {
    body: &'a str,
    attributes: &'a HashMap<String, MessageAttributeValue>,
    parsed_body: OnceCell<Option<Map<String, Value>>>,
    parsed_attributes: OnceCell<Attributes<'a>>,
}

impl<'a> FilterInput<'a> {
    /// The body and the attributes of a message.
    pub(crate) fn new(body: &'a str, attributes: &'a HashMap<String, MessageAttributeValue>) -> Self {
        Self { body, attributes, parsed_body: OnceCell::new(), parsed_attributes: OnceCell::new() }
    }
}
