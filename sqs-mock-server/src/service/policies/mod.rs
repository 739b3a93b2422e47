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

mod comparison;
mod condition;
mod context;
mod document;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Deserialize;

use comparison::{Comparison, Mismatch};
pub(crate) use context::{Context, Principal};
use document::Effect;
pub(crate) use document::{Document, List, Principals, Statement, Version, is_action_of};

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
