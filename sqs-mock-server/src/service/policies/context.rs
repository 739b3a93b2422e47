//! A request as policies see it: its caller, the condition keys that follow from it, and variables with their values.
//!
//! Sources:
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html>,
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html>

use std::borrow::Cow;
use std::fmt;

use crate::service::clock::Timestamp;

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
pub(super) enum KeyValue<'a> {
    Known(Cow<'a, str>),
    /// AWS has no such key in this request.
    Absent,
    /// AWS may have a value that this server cannot know, such as an organization or a network address.
    Unknown,
}

impl<'a> Context<'a> {
    /// The value of a condition key; names are case-insensitive.
    pub(super) fn key(&self, name: &str) -> KeyValue<'a> {
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
    pub(super) fn with_variables<'t>(&self, text: &'t str) -> KeyValue<'t> {
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
