//! Filter policies: which messages of a topic a subscription receives.
//!
//! ```text
//! text --grammar--> alternatives of conditions on paths --attributes, body--> whether a message matches
//! ```
//!
//! | Module | Contents |
//! |---|---|
//! | `grammar`, `limits`, `fault` | parsing, and why it fails |
//! | `rule`, `operator`, `anything_but`, `range`, `pattern`, `wildcard`, `cidr` | rules of a condition |
//! | `value` | values of a message |
//! | `attributes`, `body` | matching in both scopes |
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-subscription-filter-policies.html>

mod anything_but;
mod attributes;
mod body;
mod cidr;
mod fault;
mod grammar;
mod limits;
mod operator;
mod pattern;
mod range;
mod rule;
#[cfg(test)]
mod tests;
mod value;
mod wildcard;

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::{Map, Value};
use sqs_client::types::MessageAttributeValue;

use crate::service::text_enum::text_enum;

use attributes::Attributes;
pub(crate) use fault::Fault;
use grammar::Alternative;

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
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        Self::from_text(text).ok_or_else(|| Fault::scope(text))
    }
}

/// A filter policy, parsed once for many messages.
#[derive(Debug, PartialEq)]
pub(crate) struct FilterPolicy {
    text: Box<str>,
    scope: FilterScope,
    alternatives: Vec<Alternative>,
}

impl FilterPolicy {
    /// Parses the JSON of a policy.
    ///
    /// # Errors
    /// The policy is invalid in this scope, or exceeds a limit.
    pub(crate) fn parse(text: &str, scope: FilterScope) -> Result<Self, Fault> {
        limits::check_size(text)?;
        let policy: Value = serde_json::from_str(text).map_err(|error| Fault::malformed(text, &error))?;
        let Value::Object(policy) = policy else { return Err(Fault::policy("Filter is not an object")) };
        limits::check_complexity(&policy)?;
        let alternatives = grammar::alternatives(&policy, None)?;
        limits::check_wildcards(&alternatives)?;
        if scope == FilterScope::MessageAttributes && grammar::is_nested(&policy) {
            return Err(Fault::nested());
        }
        Ok(Self { text: text.into(), scope, alternatives })
    }

    /// The JSON as it was given.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The scope that the policy was parsed for.
    pub(crate) fn scope(&self) -> FilterScope {
        self.scope
    }

    /// Whether a message matches.
    pub(crate) fn matches(&self, message: &FilterInput<'_>) -> bool {
        match self.scope {
            FilterScope::MessageAttributes => {
                let attributes = message.attributes();
                self.alternatives.iter().any(|alternative| attributes.satisfy(alternative))
            }
            FilterScope::MessageBody => message.object().is_some_and(|body| {
                self.alternatives.iter().any(|alternative| body::satisfies(body, alternative))
            }),
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

    /// `None` if the body is not a JSON object, or nested more than 127 levels.
    fn object(&self) -> Option<&Map<String, Value>> {
        self.parsed_body.get_or_init(|| serde_json::from_str(self.body).ok()).as_ref()
    }

    fn attributes(&self) -> &Attributes<'a> {
        self.parsed_attributes.get_or_init(|| Attributes::new(self.attributes))
    }
}
