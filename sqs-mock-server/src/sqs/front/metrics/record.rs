//! One request in progress, which is counted and logged when it ends.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use sqs_client::operation::Action;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use tracing::Level;

use super::{ABORTED, Metrics, OK, code_index, code_label};
use crate::service::stopwatch::Stopwatch;
use crate::sqs::findings::Finding;
use crate::sqs::ops::Context;

/// A request in progress. Dropped without [`end`](Self::end), it counts as aborted by the caller.
#[derive(Debug)]
pub(in crate::sqs::front) struct Record<'m> {
    metrics: &'m Metrics,
    watch: Stopwatch,
    request_id: &'m str,
    action: Option<Action>,
    context: Option<Context>,
    code: usize,
    status: Option<StatusCode>,
    error: Option<String>,
}

impl<'m> Record<'m> {
    pub(in crate::sqs::front) fn begin(metrics: &'m Metrics, request_id: &'m str) -> Self {
        let watch = Stopwatch::start();
        Self {
            metrics,
            watch,
            request_id,
            action: None,
            context: None,
            code: ABORTED,
            status: None,
            error: None,
        }
    }

    /// Sets the action.
    pub(in crate::sqs::front) fn action(&mut self, action: Action) {
        self.action = Some(action);
    }

    /// Sets the caller.
    pub(in crate::sqs::front) fn context(&mut self, context: Context) -> &mut Context {
        self.context.insert(context)
    }

    /// The request id in the response.
    pub(in crate::sqs::front) fn request_id(&self) -> &'m str {
        self.request_id
    }

    /// Marks the request as successful.
    pub(in crate::sqs::front) fn answered(&mut self) {
        self.code = OK;
    }

    /// Marks the request as failed, and returns the request id. The error text is kept only for the log.
    pub(in crate::sqs::front) fn refused(&mut self, error: &ServiceError) -> &'m str {
        if tracing::enabled!(Level::DEBUG) {
            self.error.clone_from(&error.message);
        }
        self.refused_as(&error.code)
    }

    /// Like [`refused`](Self::refused), for errors without a text.
    pub(in crate::sqs::front) fn refused_as(&mut self, code: &ErrorCode) -> &'m str {
        self.code = code_index(code);
        self.request_id
    }

    /// Sets the status. `None` means that the connection broke, which counts as aborted.
    pub(in crate::sqs::front) fn end(&mut self, status: Option<StatusCode>) {
        self.status = status;
        if status.is_none() {
            self.code = ABORTED;
        }
    }

    /// The findings of strict mode.
    pub(in crate::sqs::front) fn findings(&self) -> Vec<Arc<Finding>> {
        self.context.as_ref().map(|context| context.trace.findings()).unwrap_or_default()
    }

    fn waited(&self) -> Option<Duration> {
        self.context.as_ref()?.trace.waited()
    }

    /// Logs failures of the server as warnings, for its operator, and all other requests at debug level.
    fn log(&self, took: Duration, waited: Option<Duration>) {
        if !tracing::enabled!(Level::WARN) {
            return;
        }
        let action = self.action.map(Action::as_str);
        let context = self.context.as_ref();
        let queue = context.and_then(|context| context.trace.queue());
        let failed = self.status.is_some_and(|status| status.is_server_error());
        macro_rules! event {
            ($level:expr) => {
                tracing::event!(
                    $level,
                    request_id = self.request_id,
                    action,
                    account = context.map(|context| context.account.as_str()),
                    region = context.map(|context| context.region.as_str()),
                    queue = queue.map(tracing::field::display),
                    status = self.status.map(|status| status.as_u16()),
                    code = code_label(self.code),
                    error = self.error.as_deref(),
                    took_us = micros(took),
                    waited_ms = waited.map(|waited| micros(waited) / 1000),
                    "request"
                )
            };
        }
        if failed { event!(Level::WARN) } else { event!(Level::DEBUG) }
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        let waited = self.waited();
        let took = self.watch.elapsed().saturating_sub(waited.unwrap_or_default());
        self.metrics.record(self.action, self.code, took);
        if let Some(waited) = waited {
            self.metrics.waits.observe(waited);
        }
        self.log(took, waited);
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
