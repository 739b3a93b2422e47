//! Reports a request to metrics and journal.

use std::borrow::Cow;

use sqs_client::wire::service_error::ErrorCode;

use super::metrics::Metrics;
use crate::http::Reply;
use crate::service::journal::{PendingRecord, Record};
use crate::service::metrics::ABORTED;
use crate::service::operation::ServiceName;
use crate::service::query_error::QueryError;

/// A request in progress. Its drop reports it, so that aborted requests are reported too.
#[derive(Debug)]
pub(super) struct Observer<'a> {
    metrics: &'a Metrics,
    pending: PendingRecord<'a>,
    service: ServiceName,
    action: Option<&'static str>,
    code: Cow<'static, str>,
}

impl<'a> Observer<'a> {
    pub(super) fn begin(metrics: &'a Metrics, service: ServiceName, pending: PendingRecord<'a>) -> Self {
        Self { metrics, pending, service, action: None, code: ABORTED.into() }
    }

    /// Sets the action.
    pub(super) fn asked(&mut self, action: &'static str) {
        self.action = Some(action);
        self.note(|record| record.operation = Some(action.into()));
    }

    /// Updates the record.
    pub(super) fn note(&mut self, change: impl FnOnce(&mut Record)) {
        self.pending.note(change);
    }

    /// Sets the code of a request without an error.
    pub(super) fn ended(&mut self, code: &'static str) {
        self.code = code.into();
    }

    /// Sets the error.
    pub(super) fn refused(&mut self, error: &QueryError) {
        self.pending.refused(&ErrorCode::from_name(&error.code));
        self.code.clone_from(&error.code);
    }

    /// Sets the response.
    pub(super) fn answered(&mut self, reply: &Reply) {
        let status = reply.status();
        self.pending.answered(status);
        self.note(|record| record.answer = reply.body());
        if status.is_none() {
            self.code = ABORTED.into();
        }
    }
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        self.metrics.count(self.service, self.action, std::mem::take(&mut self.code));
    }
}
