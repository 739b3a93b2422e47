//! A hook for metrics: what happened to each call.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
//!
//! use sqs_client::config::Config;
//! use sqs_client::observe::{CallReport, Observe};
//!
//! #[derive(Debug, Default)]
//! struct Calls {
//!     retried: AtomicU64,
//!     failed: AtomicU64,
//! }
//!
//! impl Observe for Calls {
//!     fn call(&self, report: &CallReport<'_>) {
//!         self.retried.fetch_add(u64::from(report.attempts.saturating_sub(1)), Relaxed);
//!         self.failed.fetch_add(u64::from(report.error.is_some()), Relaxed);
//!     }
//! }
//!
//! let config = Config::builder().observer(Calls::default()).build();
//! ```
//!
//! Traces need no hook: each call is a `tracing` span of level debug, named `sqs`, with OpenTelemetry's names for messaging.

use std::fmt;
use std::time::Duration;

use crate::error::Error;
use crate::operation::Action;

/// Is told about every finished call, not of calls whose future was dropped. Runs on the caller's task, so it must not block;
/// a panic in it is the caller's.
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
