//! A hook for metrics: what happened to each call.

use std::fmt;
use std::time::Duration;

use crate::error::Error;
use crate::operation::Action;

/// Is told about every finished call. Runs on the caller's task, so it must not block.
pub trait Observe: fmt::Debug + Send + Sync + 'static {
    /// A call has finished.
    fn call(&self, report: &CallReport<'_>);
}

/// What happened to a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallReport<'a> {
    /// The operation.
    pub action: Action,
    /// The queue's URL, when the operation names one.
    pub queue_url: Option<&'a str>,
    /// Requests that were sent.
    pub attempts: u32,
    /// From the call to its end, pauses between attempts included.
    pub elapsed: Duration,
    /// The id of the last request, when the service gave one.
    pub request_id: Option<&'a str>,
    /// Why it failed, when it did.
    pub error: Option<&'a Error>,
}
