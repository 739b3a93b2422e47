//! Counts, logs and records a request when it ends.

use crate::s3::{Host, RequestContext};
use crate::service::journal::PendingRecord;
use crate::service::metrics::{ABORTED, Counters, Exposition, Gauge, Kind, UNKNOWN};
use crate::service::operation::{S3Action, ServiceName};

/// Counters since the start of the server.
#[derive(Debug)]
pub(crate) struct Metrics {
    requests: Counters<2>,
    pub(crate) connections: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { requests: Counters::new(["operation", "status"]), connections: Gauge::default() }
    }
}

impl Metrics {
    /// Counts a request. The operation is `None` if the server does not implement it, or rejected the request before the
    /// operation was known. The status is `None` without a complete response.
    fn count(&self, action: Option<S3Action>, status: Option<u16>) {
        let status = status.map_or(ABORTED.into(), |status| status.to_string().into());
        self.requests.count([action.map_or(UNKNOWN, S3Action::name).into(), status]);
    }

    /// Writes all counters.
    pub(crate) fn write(&self, text: &mut Exposition) {
        let name = "sqs_mock_s3_requests_total";
        let help =
            "Requests to S3 by operation and status; the status is aborted without a complete response.";
        text.family(name, Kind::Counter, help);
        self.requests.write(text, name);
        let open = self.connections.count();
        text.single("sqs_mock_s3_open_connections", Kind::Gauge, "Open connections to S3.", open);
    }
}

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
            record.warnings = std::mem::take(&mut *self.context.notes.lock()).into();
        });
    }
}
