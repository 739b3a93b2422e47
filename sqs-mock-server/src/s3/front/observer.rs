//! Counts, logs and records a request when it ends.

use crate::s3::host::Host;
use crate::s3::metrics::Metrics;
use crate::s3::request_context::RequestContext;
use crate::service::journal::PendingRecord;
use crate::service::operation::{S3Action, ServiceName};

/// A request in progress. Its drop reports it, so that aborted requests are reported too.
#[derive(Debug)]
pub(super) struct Observer<'a> {
    metrics: &'a Metrics,
    context: &'a RequestContext,
    /// The recorded request. The front sets how it ends.
    pub(super) pending: PendingRecord<'a>,
}

impl<'a> Observer<'a> {
    pub(super) fn begin(metrics: &'a Metrics, host: &'a Host, context: &'a RequestContext) -> Self {
        let pending = PendingRecord::open(&host.journal, &host.clock, ServiceName::S3, &context.id, None);
        Self { metrics, context, pending }
    }
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        let info = self.context.info.get();
        let operation = info.map(|info| info.operation.as_str());
        let status = self.pending.ending().status();
        let resource = info.and_then(|info| info.resource.as_ref());
        tracing::debug!(operation, ?resource, status, "S3");
        self.metrics.count(operation.and_then(S3Action::from_name), status);
        if let Some(operation) = operation {
            self.pending.asked(operation.to_owned());
        }
        self.pending.note(|record| {
            record.resource = resource.cloned();
            record.warnings = self.context.take_notes().into();
        });
    }
}
