//! Access policies: their documents, and which requests they allow.
//!
//! ```text
//! text -> Document (validated, stored) -> denial(Context: who, action, resource, keys) -> allowed | Why
//! ```
//! | Module | Contents |
//! |---|---|
//! | `document` | the document of a policy, validated and serialized like AWS |
//! | `context` | the caller of a request, the condition keys that follow from it, and `${..}` in texts |
//! | `condition` | condition operators, and patterns with `*` and `?` |
//! | `comparison` | whether a statement matches a request |
//!
//! A statement that denies wins, then one that allows; otherwise a request is denied.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html>
//!
//! A request as policies see it: its caller, the condition keys that follow from it, and variables with their values.
//!
//! Sources:
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html>,
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html>
//!
//! The document of an access policy: parsed, validated, and serialized like AWS.
//!
//! AWS stores the meaning of a policy, not its text: members are in a fixed order, whitespace is removed, and lists of
//! one element become that element.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html>

pub(crate) mod condition;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sqs_client::wire::validate::queue::is_account;

use crate::control::arn::root;
use crate::control::clock::Timestamp;
use crate::control::policies::condition::{Comparison, Mismatch, Operator};

/// What access policies do. It concerns deliveries by services such as SNS and S3, callers of other accounts, and
/// statements that deny.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Policies {
    /// Policies are only stored.
    Off,
    /// Requests and deliveries that AWS denies succeed. The log and the recorded request say what denies them.
    #[default]
    Warn,
    /// Requests and deliveries are denied as on AWS.
    Enforce,
}

/// Why a request is denied. It shows as a sentence with caller, action and reason.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Why {
    pub(crate) text: String,
    /// Whether a statement denies the request, so that no other statement can allow it.
    pub(crate) is_explicit: bool,
}

impl Why {
    fn new(context: &Context<'_>, is_explicit: bool, reason: impl fmt::Display) -> Self {
        let Context { principal, action, .. } = context;
        Self { text: format!("{principal} may not call {action}: {reason}"), is_explicit }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a statement of the policy denies a request, if one does.
pub(crate) fn explicit_denial(policy: &Document, context: &Context<'_>) -> Option<Why> {
    let mut denying = compared(policy, context, Effect::Deny).filter(|(_, mismatch)| mismatch.is_none());
    let (name, _) = denying.next()?;
    Some(Why::new(context, true, format_args!("{name} of the policy denies it")))
}

/// Why a request to a resource with this policy is denied; `None` if it is allowed.
pub(crate) fn denial(policy: Option<&Document>, context: &Context<'_>) -> Option<Why> {
    let denied = |reason: fmt::Arguments<'_>| Some(Why::new(context, false, reason));
    let Some(policy) = policy else { return denied(format_args!("there is no policy that allows it")) };
    let explicit = explicit_denial(policy, context);
    if explicit.is_some() {
        return explicit;
    }
    let mismatches = compared(policy, context, Effect::Allow);
    let mismatches = mismatches.map(|(name, mismatch)| Some((name, mismatch?)));
    // `None` if a statement allows the request.
    let mismatches: Vec<_> = mismatches.collect::<Option<_>>()?;
    match mismatches.into_iter().max_by_key(|(_, mismatch)| mismatch.depth()) {
        None => denied(format_args!("no statement of the policy allows anything")),
        Some((name, mismatch)) => {
            denied(format_args!("no statement of the policy allows it; the closest, {name}, {mismatch}"))
        }
    }
}

/// The statements with an effect, and how each differs from a request.
fn compared<'a>(
    policy: &'a Document,
    context: &'a Context<'a>,
    effect: Effect,
) -> impl Iterator<Item = (Name<'a>, Option<Mismatch<'a>>)> {
    let has_variables = policy.version == Version::Of2012;
    let comparison = Comparison { context, has_variables, doubt: effect == Effect::Allow };
    let statements = (1..).zip(&policy.statement).filter(move |(_, statement)| statement.effect == effect);
    statements.map(move |(number, statement)| (Name(number, statement), comparison.mismatch(statement)))
}

/// A statement with its number. It shows as its id, or else as its number.
struct Name<'a>(usize, &'a Statement);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1.sid.as_deref().filter(|sid| !sid.is_empty()) {
            Some(sid) => write!(f, "statement {sid:?}"),
            None => write!(f, "statement {}", self.0),
        }
    }
}

/// A request that a policy allows or denies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) principal: Principal<'a>,
    /// Such as `sqs:SendMessage`.
    pub(crate) action: &'a str,
    /// The ARN of the resource.
    pub(crate) resource: &'a str,
    pub(crate) time: Timestamp,
}

/// The caller of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Principal<'a> {
    /// A service that delivers for a resource of an account, such as SNS for a topic.
    Service {
        /// Such as `sns.amazonaws.com`.
        name: &'a str,
        /// The ARN of the topic or the bucket.
        source_arn: &'a str,
        /// Its account.
        source_account: &'a str,
    },
    /// A user or role of an account. The server does not know which: callers only name their account.
    Account(&'a str),
}

/// The value of a condition key.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum KeyValue<'a> {
    Known(Cow<'a, str>),
    /// AWS has no such key in this request.
    Absent,
    /// AWS may have a value that this server cannot know, such as an organization or a network address.
    Unknown,
}

impl<'a> Context<'a> {
    /// The value of a condition key; names are case-insensitive.
    pub(crate) fn key(&self, name: &str) -> KeyValue<'a> {
        let name = name.to_ascii_lowercase();
        self.shared_key(&name).map_or_else(|| self.principal.key(&name), KeyValue::Known)
    }

    /// Keys that all requests have. Requests to a local server are not encrypted; those to AWS are.
    fn shared_key(&self, name: &str) -> Option<Cow<'a, str>> {
        let part_of_arn = |index| self.resource.split(':').nth(index).map(Cow::Borrowed);
        match name {
            "aws:securetransport" => Some("true".into()),
            "aws:viaawsservice" => Some("false".into()),
            "aws:currenttime" => Some(self.time.to_string().into()),
            "aws:epochtime" => Some(self.time.as_secs().to_string().into()),
            "aws:requestedregion" => part_of_arn(3),
            "aws:resourceaccount" => part_of_arn(4),
            _ => None,
        }
    }

    /// A text with the values of its variables: `${key}`, or `${key, 'default'}`. `${*}`, `${?}` and `${$}` count as absent
    /// keys: no value of a request contains these characters, so a text with one of them matches none.
    pub(crate) fn with_variables<'t>(&self, text: &'t str) -> KeyValue<'t> {
        let (mut replaced, mut rest) = (String::new(), text);
        while let Some((before, variable, after)) = next_variable(rest) {
            let (key, default) = match variable.split_once(',') {
                Some((key, default)) => (key, Some(default)),
                None => (variable, None),
            };
            replaced.push_str(before);
            match (self.key(key.trim()), default) {
                (KeyValue::Known(value), _) => replaced.push_str(&value),
                (KeyValue::Absent, Some(default)) => replaced.push_str(default.trim().trim_matches('\'')),
                (KeyValue::Absent, None) => return KeyValue::Absent,
                (KeyValue::Unknown, _) => return KeyValue::Unknown,
            }
            rest = after;
        }
        KeyValue::Known(if replaced.is_empty() { rest.into() } else { (replaced + rest).into() })
    }
}

/// The text before the next variable, its content, and the text after it.
fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (variable, after) = rest.split_once('}')?;
    Some((before, variable, after))
}

impl<'a> Principal<'a> {
    fn key(&self, name: &str) -> KeyValue<'a> {
        let known = |value: &'a str| KeyValue::Known(Cow::Borrowed(value));
        match (name, *self) {
            ("aws:principalisawsservice", Self::Service { .. }) => known("true"),
            ("aws:principalisawsservice", Self::Account(_)) => known("false"),
            ("aws:sourcearn", Self::Service { source_arn, .. }) => known(source_arn),
            ("aws:sourceaccount", Self::Service { source_account, .. }) => known(source_account),
            ("aws:principalservicename" | "aws:principalservicenameslist", Self::Service { name, .. }) => {
                known(name)
            }
            ("aws:principalaccount", Self::Account(account)) => known(account),
            // Requests by services have no other keys, except about organizations and tags.
            (_, Self::Service { .. }) if !is_about_organizations_or_tags(name) => KeyValue::Absent,
            (_, Self::Account(_)) if OF_SERVICES.contains(&name) => KeyValue::Absent,
            _ => KeyValue::Unknown,
        }
    }
}

/// Keys that only requests by services have.
const OF_SERVICES: [&str; 6] = [
    "aws:sourcearn",
    "aws:sourceaccount",
    "aws:sourceorgid",
    "aws:sourceorgpaths",
    "aws:principalservicename",
    "aws:principalservicenameslist",
];

fn is_about_organizations_or_tags(name: &str) -> bool {
    ["aws:sourceorg", "aws:resourceorg", "aws:resourcetag/"].iter().any(|start| name.starts_with(start))
}

impl fmt::Display for Principal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service { name, source_arn, .. } => write!(f, "{name} for {source_arn}"),
            Self::Account(account) => write!(f, "account {account}"),
        }
    }
}

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
        accounts: impl IntoIterator<Item: AsRef<str>>,
        actions: Vec<String>,
        (region, resource): (&str, String),
    ) -> Self {
        let roots = accounts.into_iter().map(|account| root(region, account.as_ref())).collect();
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

#[cfg(test)]
mod tests;
