//! Reports a request to metrics, log and journal.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;
use tracing::Level;

use super::metrics::Metrics;
use crate::service::journal::{Caller, PendingRecord};
use crate::service::stopwatch::Stopwatch;
use crate::sqs::ops::{Context, Trace};

/// A request in progress. Its drop reports it, with its findings: after [`end`](Self::end) with the response, otherwise
/// as aborted by the caller.
#[derive(Debug)]
pub(super) struct Observer<'a> {
    metrics: &'a Metrics,
    pending: PendingRecord<'a>,
    watch: Stopwatch,
    pub(super) request_id: &'a str,
    action: Option<Action>,
    context: Option<Context>,
    /// The text of the error, for the log.
    error: Option<String>,
}

impl<'a> Observer<'a> {
    pub(super) fn new(metrics: &'a Metrics, pending: PendingRecord<'a>, request_id: &'a str) -> Self {
        let watch = Stopwatch::start();
        Self { metrics, pending, watch, request_id, action: None, context: None, error: None }
    }

    /// Sets the action.
    pub(super) fn asked(&mut self, action: Action) {
        self.action = Some(action);
        self.pending.asked(action.as_str());
    }

    /// Sets the caller.
    pub(super) fn caller(&mut self, context: Context) -> &mut Context {
        self.pending.note(|record| {
            let (region, account) = (context.region.as_str().into(), context.account.as_str().into());
            record.caller = Some(Caller { region, account });
        });
        self.context.insert(context)
    }

    /// Sets the error. Its text is kept only for the log.
    pub(super) fn refused(&mut self, code: &ErrorCode, text: Option<&str>) {
        self.pending.refused(code);
        if tracing::enabled!(Level::DEBUG) {
            self.error = text.map(str::to_owned);
        }
    }

    /// Ends the request with a status and a body; `None` if the response is incomplete.
    pub(super) fn end(mut self, status: Option<StatusCode>, body: impl FnOnce() -> Option<Bytes>) {
        self.pending.answered(status);
        self.pending.note(|record| record.answer = body());
    }

    /// Logs failures of the server as warnings, for its operator, and all other requests at debug level.
    fn log(&self, took: Duration, waited: Option<Duration>) {
        if !tracing::enabled!(Level::WARN) {
            return;
        }
        let ending = self.pending.ending();
        let context = self.context.as_ref();
        let queue = context.and_then(|context| context.trace.queue());
        macro_rules! event {
            ($level:expr) => {
                tracing::event!(
                    $level,
                    request_id = self.request_id,
                    action = self.action.map(Action::as_str),
                    account = context.map(|context| context.account.as_str()),
                    region = context.map(|context| context.region.as_str()),
                    queue = queue.map(tracing::field::display),
                    status = ending.status(),
                    code = ending.code(),
                    error = self.error.as_deref(),
                    took_us = micros(took),
                    waited_ms = waited.map(|waited| micros(waited) / 1000),
                    "request"
                )
            };
        }
        let is_failure = ending.status().is_some_and(|status| status >= 500);
        if is_failure { event!(Level::WARN) } else { event!(Level::DEBUG) }
    }
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        let trace = self.context.as_ref().map(|context| &context.trace);
        let findings = || trace.map(Trace::findings).unwrap_or_default();
        self.pending.note(|record| record.warnings = findings().iter().map(ToString::to_string).collect());
        let waited = trace.and_then(Trace::waited);
        let took = self.watch.elapsed().saturating_sub(waited.unwrap_or_default());
        self.metrics.record(self.action, self.pending.ending(), took);
        if let Some(waited) = waited {
            self.metrics.waits.observe(waited);
        }
        self.log(took, waited);
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
