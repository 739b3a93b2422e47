//! A hook for metrics: a report of each finished call.
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
//! Tracing needs no hook: each call creates a `tracing` span named `sqs` at level debug. Its fields follow the OpenTelemetry
//! messaging conventions.

use std::fmt;
use std::time::Duration;

use crate::error::Error;
use crate::wire::model::Action;

/// Receives a report of every finished call. Calls whose future was dropped are not reported.
///
/// It runs on the caller's task: it must not block, and a panic unwinds into the caller.
pub trait Observe: fmt::Debug + Send + Sync + 'static {
    /// Called after each call.
    fn call(&self, report: &CallReport<'_>);
}

/// The result of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallReport<'a> {
    /// The operation.
    pub action: Action,
    /// The queue URL, if the operation has one.
    pub queue_url: Option<&'a str>,
    /// Number of requests that this call sent. A layer that repeats a call reports each call by itself.
    pub attempts: u32,
    /// Duration of the call, including pauses between attempts.
    pub elapsed: Duration,
    /// Request id of the last attempt, if the service sent one.
    pub request_id: Option<&'a str>,
    /// The error, if the call failed.
    pub error: Option<&'a Error>,
}
