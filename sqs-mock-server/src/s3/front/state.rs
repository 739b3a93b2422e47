//! State of one request, shared by the layers that handle it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use parking_lot::Mutex;

use crate::service::faults::{Ending, S3Plan, S3Unapplied};

/// The most bytes of an unread body that are drained.
const MAX_REST: usize = 64 << 20;

/// Operation, fault plan and unread body of a request.
#[derive(Clone, Debug, Default)]
pub(in crate::s3) struct RequestState(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    info: OnceLock<RequestInfo>,
    plan: OnceLock<S3Plan>,
    /// The rest of a body that was not read to its end.
    rest: Mutex<Option<Incoming>>,
}

/// Operation and resource of a request.
#[derive(Clone, Debug, Default)]
pub(in crate::s3) struct RequestInfo {
    pub(in crate::s3) operation: String,
    pub(in crate::s3) bucket: Option<String>,
    pub(in crate::s3) key: Option<String>,
}

impl RequestState {
    /// Sets the operation, once.
    pub(super) fn set_info(&self, info: RequestInfo) {
        let _ = self.0.info.set(info);
    }

    /// Sets the fault plan, once.
    pub(super) fn set_plan(&self, plan: S3Plan) {
        let _ = self.0.plan.set(plan);
    }

    /// The operation, if s3s has found it.
    pub(in crate::s3) fn info(&self) -> Option<&RequestInfo> {
        self.0.info.get()
    }

    /// The failure that replaces the operation, if any.
    pub(super) fn unapplied(&self) -> Option<S3Unapplied> {
        self.0.plan.get()?.unapplied.clone()
    }

    /// What a fault does to the response.
    pub(super) fn ending(&self) -> Ending {
        self.0.plan.get().map(|plan| plan.ending).unwrap_or_default()
    }

    /// The throughput limit in bytes per second.
    pub(super) fn pace(&self) -> Option<u64> {
        self.0.plan.get()?.pace
    }

    /// Keeps the rest of a body for [`drain`](Self::drain).
    pub(super) fn keep_unread(&self, rest: Incoming) {
        *self.0.rest.lock() = Some(rest);
    }

    /// Reads and discards the rest of the body, up to a size and a time limit.
    pub(super) async fn drain(&self, limit: Duration) {
        let Some(mut rest) = self.0.rest.lock().take() else { return };
        let read = async {
            let mut bytes = 0;
            while let Some(Ok(frame)) = rest.frame().await {
                bytes += frame.data_ref().map_or(0, bytes::Bytes::len);
                if bytes > MAX_REST {
                    break;
                }
            }
        };
        // A client that is slower loses its connection.
        let _ = tokio::time::timeout(limit, read).await;
    }
}
