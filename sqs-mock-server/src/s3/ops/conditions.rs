//! Conditional requests: `If-Match` and the like.

use s3s::dto::{ETag, ETagCondition, Timestamp};
use s3s::{S3Error, S3ErrorCode, S3Result, s3_error};

use super::timestamp;
use crate::s3::store::Record;

/// Conditions of a read.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadConditions {
    pub(super) matches: Option<ETagCondition>,
    pub(super) none_match: Option<ETagCondition>,
    pub(super) modified_since: Option<Timestamp>,
    pub(super) unmodified_since: Option<Timestamp>,
}

impl ReadConditions {
    /// Checks in the order of RFC 9110, section 13.2.2.
    pub(super) fn check(&self, record: &Record) -> S3Result<()> {
        // HTTP dates have a resolution of one second.
        let modified = timestamp(record.modified / 1000 * 1000);
        let is_after = |time: &Timestamp| modified > *time;
        match (&self.matches, &self.unmodified_since) {
            (Some(wanted), _) if !is_met(wanted, record) => return Err(failed()),
            (None, Some(time)) if is_after(time) => return Err(failed()),
            _ => {}
        }
        match (&self.none_match, &self.modified_since) {
            (Some(unwanted), _) if is_met(unwanted, record) => Err(S3ErrorCode::NotModified.into()),
            (None, Some(time)) if !is_after(time) => Err(S3ErrorCode::NotModified.into()),
            _ => Ok(()),
        }
    }
}

/// Conditions of a write on the object that it replaces.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteConditions {
    pub(super) if_match: Option<ETagCondition>,
    pub(super) if_none_match: Option<ETagCondition>,
}

impl WriteConditions {
    pub(super) fn check(&self, before: Option<&Record>) -> S3Result<()> {
        if let Some(wanted) = &self.if_match {
            let before = before.ok_or_else(super::no_such_key)?;
            if !is_met(wanted, before) {
                return Err(failed());
            }
        }
        match (&self.if_none_match, before) {
            (Some(unwanted), Some(before)) if is_met(unwanted, before) => Err(failed()),
            _ => Ok(()),
        }
    }
}

pub(super) fn is_met(condition: &ETagCondition, record: &Record) -> bool {
    match condition {
        ETagCondition::Any => true,
        ETagCondition::ETag(etag) => etag.weak_cmp(&ETag::Strong(record.etag.clone())),
    }
}

/// The error for a condition that does not hold.
pub(super) fn failed() -> S3Error {
    s3_error!(PreconditionFailed, "At least one of the pre-conditions you specified did not hold")
}
