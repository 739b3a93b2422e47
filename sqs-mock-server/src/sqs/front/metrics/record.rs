//! One request on its way: what becomes of it is counted and logged when it ends.

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

/// What is known of a request so far. Dropped before its end, it counts as aborted: the caller went away.
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

    /// Notes what is asked for.
    pub(in crate::sqs::front) fn action(&mut self, action: Action) {
        self.action = Some(action);
    }

    /// Notes by whom.
    pub(in crate::sqs::front) fn context(&mut self, context: Context) -> &mut Context {
        self.context.insert(context)
    }

    /// The id that the caller is told.
    pub(in crate::sqs::front) fn request_id(&self) -> &'m str {
        self.request_id
    }

    /// Notes that it was answered.
    pub(in crate::sqs::front) fn answered(&mut self) {
        self.code = OK;
    }

    /// Notes that it was refused, and gives the id for the answer. The text of the error is kept for the log alone.
    pub(in crate::sqs::front) fn refused(&mut self, error: &ServiceError) -> &'m str {
        if tracing::enabled!(Level::DEBUG) {
            self.error.clone_from(&error.message);
        }
        self.refused_as(&error.code)
    }

    /// As [`refused`](Self::refused), where HTTP says it all.
    pub(in crate::sqs::front) fn refused_as(&mut self, code: &ErrorCode) -> &'m str {
        self.code = code_index(code);
        self.request_id
    }

    /// Ends it; without a status when the connection breaks, which counts as if the caller had gone.
    pub(in crate::sqs::front) fn end(mut self, status: Option<StatusCode>) {
        self.status = status;
        if status.is_none() {
            self.code = ABORTED;
        }
    }

    /// What strict mode found.
    pub(in crate::sqs::front) fn findings(&self) -> Vec<Arc<Finding>> {
        self.context.as_ref().map(|context| context.trace.findings()).unwrap_or_default()
    }

    fn waited(&self) -> Option<Duration> {
        self.context.as_ref()?.trace.waited()
    }

    /// What a server that fails says is for whoever runs it; all else is for whoever wants to see each request.
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
