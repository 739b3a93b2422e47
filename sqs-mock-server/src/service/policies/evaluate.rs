//! Whether a policy allows a request: a statement that denies wins, then one that allows; otherwise it is denied.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html>

use super::comparison::Comparison;
use super::context::Context;
use super::document::{Document, Effect, Statement, Version};
use super::why::{Reason, StatementName, Why};

/// The decision about a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Decision {
    Allowed,
    Denied(Why),
}

/// Decides about a request to a resource with this policy.
pub(crate) fn evaluate(policy: Option<&Document>, context: &Context<'_>) -> Decision {
    let denied = |reason| {
        let (principal, action) = (context.principal.to_string(), context.action.to_owned());
        Decision::Denied(Why { principal, action, reason })
    };
    let Some(policy) = policy else { return denied(Reason::NoPolicy) };
    let mismatches = |effect| {
        let statements = policy.statement.iter().enumerate();
        let of_effect = statements.filter(move |(_, statement)| statement.effect == effect);
        let comparison = Comparison {
            context,
            has_variables: policy.version == Version::Of2012,
            doubt: effect == Effect::Allow,
        };
        of_effect.map(move |(index, statement)| (comparison.mismatch(statement), name(index, statement)))
    };
    if let Some((_, name)) = mismatches(Effect::Deny).find(|(mismatch, _)| mismatch.is_none()) {
        return denied(Reason::Denies(name));
    }
    let mut closest = None;
    for (mismatch, name) in mismatches(Effect::Allow) {
        let Some(mismatch) = mismatch else { return Decision::Allowed };
        closest = closest.max(Some((mismatch, name)));
    }
    denied(Reason::NoneAllows(closest))
}

fn name(index: usize, statement: &Statement) -> StatementName {
    let sid = statement.sid.as_ref().filter(|sid| !sid.is_empty());
    sid.map_or(StatementName::Number(index + 1), |sid| StatementName::Sid(sid.clone()))
}
