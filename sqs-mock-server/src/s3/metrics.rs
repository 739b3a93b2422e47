//! Counters of S3, for Prometheus.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::service::metrics::{ABORTED, Connections, Exposition, Kind, UNKNOWN};
use crate::service::operation::S3Action;

/// Operation and status. The operation is `None` if the server does not implement it, or rejected the request before
/// the operation was known. The status is `None` without a complete response.
type Series = (Option<S3Action>, Option<u16>);

/// Counters since the start of the server.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    requests: Mutex<BTreeMap<Series, u64>>,
    pub(super) connections: Connections,
}

impl Metrics {
    /// Counts a request.
    pub(super) fn count(&self, action: Option<S3Action>, status: Option<u16>) {
        *self.requests.lock().entry((action, status)).or_default() += 1;
    }

    /// Writes all counters. Requests that never occurred have no sample.
    pub(super) fn write(&self, text: &mut Exposition) {
        let name = "sqs_mock_s3_requests_total";
        let help =
            "Requests to S3 by operation and status; the status is aborted without a complete response.";
        text.family(name, Kind::Counter, help);
        let requests = self.requests.lock().clone();
        for ((action, status), count) in requests {
            let status = status.map(|status| status.to_string());
            let labels = [
                ("operation", action.map_or(UNKNOWN, S3Action::name)),
                ("status", status.as_deref().unwrap_or(ABORTED)),
            ];
            text.sample(name, &labels, count);
        }
        let open = self.connections.count();
        text.single("sqs_mock_s3_open_connections", Kind::Gauge, "Open connections to S3.", open);
    }
}
