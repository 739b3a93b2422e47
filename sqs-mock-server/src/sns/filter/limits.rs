//! Limits of a filter policy.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/dg/subscription-filter-policy-constraints.html>

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fault::Fault;
use super::grammar::{Alternative, branches};
use super::wildcard::Wildcard;

const MAX_BYTES: usize = 262_144;
const MAX_KEYS: usize = 5;
const MAX_COMBINATIONS: usize = 150;
const MAX_WILDCARD_POINTS: usize = 100;

/// Checks the length, before it is parsed.
pub(super) fn check_size(text: &str) -> Result<(), Fault> {
    let bytes = text.len();
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(Fault::policy(format_args!("Filter policy has {bytes} bytes; the maximum is {MAX_BYTES}")))
}

/// Checks the numbers of keys and combinations. They bound the time and the memory that a policy takes.
pub(super) fn check_complexity(policy: &Map<String, Value>) -> Result<(), Fault> {
    if keys(policy) > MAX_KEYS {
        return Err(Fault::policy(format_args!("Filter policy can not have more than {MAX_KEYS} keys")));
    }
    if combinations(policy, 1) > MAX_COMBINATIONS {
        return Err(Fault::policy("Filter policy is too complex"));
    }
    Ok(())
}

/// Top-level keys. Of the branches of `$or`, the one with most keys counts.
fn keys(policy: &Map<String, Value>) -> usize {
    let each = policy.iter().map(|(key, value)| match branches(key, value) {
        Some(branches) => branches.into_iter().map(keys).max().unwrap_or_default(),
        None => 1,
    });
    each.sum()
}

/// The product of rules times depth over all lists; the branches of `$or` are added.
fn combinations(policy: &Map<String, Value>, depth: usize) -> usize {
    let each = policy.iter().map(|(key, value)| match (branches(key, value), value) {
        (Some(branches), _) => {
            let each = branches.into_iter().map(|branch| combinations(branch, depth));
            each.fold(0, usize::saturating_add)
        }
        (None, Value::Array(rules)) => rules.len().saturating_mul(depth),
        (None, Value::Object(inner)) => combinations(inner, depth + 1),
        (None, _) => 1,
    });
    // An empty list is a fault, but not one of complexity.
    each.map(|factor| factor.max(1)).fold(1, usize::saturating_mul)
}

/// Checks the number of wildcards.
pub(super) fn check_wildcards(alternatives: &[Alternative]) -> Result<(), Fault> {
    // A condition outside of `$or` is part of every alternative, but counts once.
    let conditions =
        alternatives.iter().flatten().map(|condition| (std::sync::Arc::as_ptr(condition), condition));
    let conditions: BTreeMap<_, _> = conditions.collect();
    let points: usize = conditions.values().map(|condition| condition.wildcard_points()).sum();
    if points > MAX_WILDCARD_POINTS { Err(Wildcard::too_complex()) } else { Ok(()) }
}
