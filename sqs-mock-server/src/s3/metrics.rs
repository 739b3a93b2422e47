//! Counters of S3, for Prometheus.

use crate::service::metrics::{ABORTED, Counters, Exposition, Gauge, Kind, UNKNOWN};
use crate::service::operation::S3Action;

/// Counters since the start of the server.
#[derive(Debug)]
pub(super) struct Metrics {
    requests: Counters<2>,
    pub(super) connections: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { requests: Counters::new(["operation", "status"]), connections: Gauge::default() }
    }
}

impl Metrics {
    /// Counts a request. The operation is `None` if the server does not implement it, or rejected the request before the
    /// operation was known. The status is `None` without a complete response.
    pub(super) fn count(&self, action: Option<S3Action>, status: Option<u16>) {
        let status = status.map_or(ABORTED.into(), |status| status.to_string().into());
        self.requests.count([action.map_or(UNKNOWN, S3Action::name).into(), status]);
    }

    /// Writes all counters.
    pub(super) fn write(&self, text: &mut Exposition) {
        let name = "sqs_mock_s3_requests_total";
        let help =
            "Requests to S3 by operation and status; the status is aborted without a complete response.";
        text.family(name, Kind::Counter, help);
        self.requests.write(text, name);
        let open = self.connections.count();
        text.single("sqs_mock_s3_open_connections", Kind::Gauge, "Open connections to S3.", open);
    }
}
