//! Faults of the S3 beside SQS: how a user describes them, whom they strike, and what is to happen to a request.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::wire::service_error::ErrorCode;

use super::effect::{Effect, End, Ending, Failure};
use super::registry::Rule;
use super::{Fault, Faults};
use crate::s3::S3Action;

/// A request to S3 as faults see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct S3Target<'a> {
    /// What it asks for; `None` for operations that the server does not have.
    pub(crate) action: Option<S3Action>,
    pub(crate) bucket: Option<&'a str>,
    pub(crate) key: Option<&'a str>,
}

/// All that must hold of a request to S3. An empty one lets everything through.
#[derive(Clone, Debug, Default)]
pub(super) struct S3Filter {
    /// One of these.
    pub(super) actions: Vec<S3Action>,
    pub(super) bucket: Option<String>,
    pub(super) key_prefix: Option<String>,
}

impl S3Filter {
    fn takes(&self, target: &S3Target<'_>) -> bool {
        let Self { actions, bucket, key_prefix } = self;
        (actions.is_empty() || target.action.is_some_and(|action| actions.contains(&action)))
            && bucket.as_deref().is_none_or(|bucket| target.bucket == Some(bucket))
            && key_prefix.as_deref().is_none_or(|start| target.key.is_some_and(|key| key.starts_with(start)))
    }
}

/// What is to happen to a request to S3, in the order of the fields.
#[derive(Debug, Default)]
pub(crate) struct S3Plan {
    /// How long it waits.
    pub(crate) latency: Duration,
    /// How it ends without being applied.
    pub(crate) unapplied: Option<S3Unapplied>,
    /// How many bytes a second its bodies may take, either way.
    pub(crate) pace: Option<u64>,
    /// What becomes of the answer.
    pub(crate) ending: Ending,
}

/// How a request to S3 ends that is not applied.
#[derive(Clone, Debug)]
pub(crate) enum S3Unapplied {
    Refused { code: String, message: String },
    Status(u16, String),
    Reset,
}

impl S3Plan {
    fn strike(&mut self, rule: &Rule, target: &S3Target<'_>) {
        let decided = self.unapplied.is_some() || self.ending != Ending::Whole;
        let filter = &rule.fault.filter;
        let meant =
            filter.s3.as_ref().is_some_and(|filter| filter.takes(target)) && filter.names_nothing_of_sqs();
        let strikes = || meant && rule.strikes(None);
        match &rule.fault.effect {
            Effect::Latency(least, most) if strikes() => {
                let latency = *least + most.saturating_sub(*least).mul_f64(rule.draw());
                self.latency = self.latency.saturating_add(latency);
            }
            Effect::Pace(pace) if strikes() => {
                self.pace = Some(self.pace.map_or(*pace, |slower| slower.min(*pace)));
            }
            Effect::End(end) if !decided && strikes() => self.end(end),
            _ => {}
        }
    }

    fn end(&mut self, end: &End) {
        match end {
            End::Error(failure) => self.unapplied = Some(refused(failure)),
            End::Status(status, body) => self.unapplied = Some(S3Unapplied::Status(*status, body.clone())),
            End::ResetBefore => self.unapplied = Some(S3Unapplied::Reset),
            End::Spoilt(ending) => self.ending = *ending,
        }
    }
}

/// Being throttled has another name in S3.
fn refused(failure: &Failure) -> S3Unapplied {
    let error = failure.error(None);
    match error.code {
        ErrorCode::RequestThrottled => S3Unapplied::Refused {
            code: "SlowDown".to_owned(),
            message: "Please reduce your request rate.".to_owned(),
        },
        code => S3Unapplied::Refused {
            code: code.query_code().to_owned(),
            message: error.message.unwrap_or_default(),
        },
    }
}

impl Faults {
    /// What is to happen to a request to S3.
    pub(crate) fn plan_s3(&self, target: &S3Target<'_>) -> S3Plan {
        let mut plan = S3Plan::default();
        if !self.is_empty() {
            let rules: Vec<Arc<Rule>> = self.rules();
            for rule in &rules {
                plan.strike(rule, target);
            }
        }
        plan
    }
}

/// For the S3 beside SQS. A fault strikes requests to SQS, or, once it names S3 or something of it, those to S3; one that
/// names something of both strikes nothing.
impl Fault {
    /// S3 refuses and does nothing. The code is one of S3, such as `NoSuchKey`, `AccessDenied` or `SlowDown`, and its status
    /// is the one that S3 gives it; that of unknown codes is 500.
    pub fn s3_error(code: impl Into<String>) -> Self {
        Self::error(ErrorCode::Other(code.into())).of_s3()
    }

    /// Bodies go at most that fast to and from S3, in bytes a second and in real time. Of several, the slowest counts.
    pub fn s3_pace(bytes_per_second: u64) -> Self {
        Self::new(Effect::Pace(bytes_per_second.max(1))).of_s3()
    }

    /// Strikes requests to S3.
    pub fn of_s3(mut self) -> Self {
        self.filter.s3.get_or_insert_default();
        self
    }

    /// Strikes requests to S3 for this operation. Said more than once, any of the operations.
    pub fn on_s3(mut self, action: S3Action) -> Self {
        self.filter.s3.get_or_insert_default().actions.push(action);
        self
    }

    /// Strikes requests to S3 for this bucket, and for what is in it.
    pub fn bucket(mut self, name: impl Into<String>) -> Self {
        self.filter.s3.get_or_insert_default().bucket = Some(name.into());
        self
    }

    /// Strikes requests to S3 for objects whose keys begin so.
    pub fn key_prefix(mut self, start: impl Into<String>) -> Self {
        self.filter.s3.get_or_insert_default().key_prefix = Some(start.into());
        self
    }
}
