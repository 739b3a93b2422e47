//! Counts, logs and records a request when it ends.

use std::sync::Arc;

use http::StatusCode;

use crate::s3::metrics::Metrics;
use crate::s3::request_context::RequestContext;
use crate::service::clock::Clock;
use crate::service::journal::{Journal, PendingRecord};
use crate::service::operation::{S3Action, ServiceName};

/// The observers of requests: counters, log and journal.
#[derive(Clone, Debug)]
pub(in crate::s3) struct Observers {
    pub(in crate::s3) metrics: Arc<Metrics>,
    pub(in crate::s3) journal: Arc<Journal>,
    pub(in crate::s3) clock: Clock,
}

/// A request in progress. Its drop reports it, so that aborted requests are reported too.
#[derive(Debug)]
pub(super) struct Observer<'a> {
    metrics: &'a Metrics,
    context: &'a RequestContext,
    pending: PendingRecord<'a>,
    status: Option<u16>,
}

impl Observers {
    pub(super) fn begin<'a>(&'a self, context: &'a RequestContext) -> Observer<'a> {
        let pending = PendingRecord::open(&self.journal, &self.clock, ServiceName::S3, &context.id, None);
        Observer { metrics: &self.metrics, context, pending, status: None }
    }
}

impl Observer<'_> {
    /// Sets the status; `None` if a fault broke the connection.
    pub(super) fn answered(&mut self, status: Option<StatusCode>) {
        self.status = status.map(|status| status.as_u16());
        self.pending.answered(status);
    }
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        let info = self.context.info.get();
        let operation = info.map(|info| info.operation.as_str());
        let resource = info.and_then(|info| info.resource.as_ref());
        tracing::debug!(operation, ?resource, status = self.status, "S3");
        self.metrics.count(operation.and_then(S3Action::from_name), self.status);
        self.pending.note(|record| {
            record.operation = operation.map(|name| name.to_owned().into());
            record.resource = resource.cloned();
            record.warnings = self.context.take_notes().into();
        });
    }
}
