//! What the S3 beside SQS counts about itself.

use super::action::S3Action;
use super::server::Content;
use crate::service::metrics::{ABORTED, Exposition, Kind, UNKNOWN};

/// What never happened has no sample.
pub(crate) fn write_metrics(text: &mut Exposition, s3: &Content) {
    let name = "sqs_mock_s3_requests_total";
    let help = "Requests to S3 by operation and status; aborted where there was no answer.";
    text.family(name, Kind::Counter, help);
    for count in s3.counts() {
        let status = count.status.map(|status| status.to_string());
        let labels = [
            ("operation", count.action.map_or(UNKNOWN, S3Action::name)),
            ("status", status.as_deref().unwrap_or(ABORTED)),
        ];
        text.sample(name, &labels, count.requests);
    }
    let open = s3.connections();
    text.single("sqs_mock_s3_open_connections", Kind::Gauge, "Connections to S3 that are open.", open);
}
