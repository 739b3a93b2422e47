//! The document of an access policy: parsed, validated, and serialized like AWS.
//!
//! AWS stores the meaning of a policy, not its text: members are in a fixed order, whitespace is removed, and lists of
//! one element become that element.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html>

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sqs_client::wire::validate::queue::is_account;

use super::condition::Operator;

/// A policy. Members are serialized in this order.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct Document {
    #[serde(default)]
    pub(crate) version: Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) statement: Vec<Statement>,
}

/// The version of the policy language; the older one is the default.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Version {
    #[default]
    #[serde(rename = "2008-10-17")]
    Of2008,
    #[serde(rename = "2012-10-17")]
    Of2012,
}

/// One statement of a policy.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(crate) struct Statement {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sid: Option<String>,
    pub(crate) effect: Effect,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) principal: Option<Principals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_principal: Option<Principals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<List>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_action: Option<List>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource: Option<List>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_resource: Option<List>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) condition: Option<Conditions>,
}

/// Values by operator and key.
pub(crate) type Conditions = BTreeMap<String, BTreeMap<String, Value>>;

/// The effect of a statement.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Effect {
    Allow,
    Deny,
}

/// `"*"`, or names by kind.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Principals {
    All(String),
    Kinds(BTreeMap<String, List>),
}

/// Strings; a single one is serialized without a list.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
pub(crate) struct List(#[serde(deserialize_with = "one_or_many")] pub(crate) Vec<String>);

impl Serialize for List {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [only] => only.serialize(serializer),
            all => all.serialize(serializer),
        }
    }
}

fn one_or_many<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany<T> {
        One(T),
        Many(Vec<T>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(only) => vec![only],
        OneOrMany::Many(all) => all,
    })
}

impl Document {
    /// Whether all principals and conditions are valid, and all actions for the service of the resource.
    pub(crate) fn is_valid(&self, is_action: fn(&str) -> bool) -> bool {
        self.statement.iter().all(|statement| statement.is_valid(is_action))
    }
}

impl Statement {
    /// What `AddPermission` adds: `accounts` may do `actions` of a service on a resource.
    pub(crate) fn permission(
        label: &str,
        accounts: impl IntoIterator<Item: std::fmt::Display>,
        actions: Vec<String>,
        resource: String,
    ) -> Self {
        let roots = accounts.into_iter().map(|account| format!("arn:aws:iam::{account}:root")).collect();
        Self {
            sid: Some(label.to_owned()),
            effect: Effect::Allow,
            principal: Some(Principals::Kinds(BTreeMap::from([("AWS".to_owned(), List(roots))]))),
            not_principal: None,
            action: Some(List(actions)),
            not_action: None,
            resource: Some(List(vec![resource])),
            not_resource: None,
            condition: None,
        }
    }

    /// Whether it is the permission of this label.
    pub(crate) fn has_label(&self, label: &str) -> bool {
        self.sid.as_deref() == Some(label)
    }

    fn is_valid(&self, is_action: fn(&str) -> bool) -> bool {
        let principals = [&self.principal, &self.not_principal].into_iter().flatten();
        let actions = [&self.action, &self.not_action].into_iter().flatten();
        let conditions = self.condition.iter().flatten();
        let keys = conditions.clone().flat_map(|(_, keys)| keys.values());
        principals.clone().count() == 1
            && actions.clone().count() == 1
            && !(self.resource.is_some() && self.not_resource.is_some())
            && principals.into_iter().all(Principals::is_valid)
            && actions
                .into_iter()
                .all(|List(names)| !names.is_empty() && names.iter().all(|name| is_action(name)))
            && conditions.into_iter().all(|(operator, _)| Operator::parse(operator).is_some())
            && keys.into_iter().all(is_scalar_or_list)
    }
}

impl Principals {
    fn is_valid(&self) -> bool {
        match self {
            Self::All(name) => name == "*",
            Self::Kinds(kinds) => {
                let is_kind = |(kind, List(names)): (&String, &List)| {
                    let is_name: fn(&str) -> bool = match kind.as_str() {
                        "AWS" => is_aws_principal,
                        "Service" => is_service,
                        "Federated" | "CanonicalUser" => |name| !name.is_empty(),
                        _ => return false,
                    };
                    !names.is_empty() && names.iter().all(|name| is_name(name))
                };
                !kinds.is_empty() && kinds.iter().all(is_kind)
            }
        }
    }
}

/// `*`, an account, an ARN of IAM or STS, or the unique id of a deleted principal.
fn is_aws_principal(name: &str) -> bool {
    let mut parts = name.splitn(6, ':');
    let parts = [(); 6].map(|()| parts.next().unwrap_or_default());
    match parts {
        ["arn", partition, "iam" | "sts", "", account, resource] => {
            !partition.is_empty() && is_account(account) && !resource.is_empty()
        }
        _ => name == "*" || is_account(name) || is_unique_id(name),
    }
}

fn is_unique_id(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    (16..=128).contains(&name.len()) && name.starts_with('A') && name.bytes().all(legal)
}

/// Such as `sns.amazonaws.com`.
fn is_service(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    name.contains('.') && name.bytes().all(legal)
}

fn is_scalar_or_list(value: &Value) -> bool {
    let is_scalar = |value: &Value| value.is_string() || value.is_number() || value.is_boolean();
    value.as_array().map_or_else(|| is_scalar(value), |list| list.iter().all(is_scalar))
}

/// Whether a policy may have this action: `*`, or one of the service, case-insensitive. A name with a wildcard can match
/// several actions.
pub(crate) fn is_action_of(service: &str, name: &str, mut known: impl Iterator<Item = &'static str>) -> bool {
    let Some((prefix, action)) = name.split_once(':') else { return name == "*" };
    let mut is_known = || known.any(|known| known.eq_ignore_ascii_case(action));
    prefix.eq_ignore_ascii_case(service) && (action.contains(['*', '?']) || is_known())
}
