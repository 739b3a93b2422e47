//! State of one request, shared by the layers that handle it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use parking_lot::Mutex;

use crate::service::faults::{Damage, Plan, Rejection};
use crate::service::resource::Resource;

/// The most bytes of an unread body that are drained.
const MAX_REST: usize = 64 << 20;

/// Operation, fault plan and unread body of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestState(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    info: OnceLock<RequestInfo>,
    plan: OnceLock<Plan>,
    /// The rest of a body that was not read to its end.
    rest: Mutex<Option<Incoming>>,
}

/// Operation and resource of a request.
#[derive(Debug)]
pub(super) struct RequestInfo {
    /// The name that AWS uses.
    pub(super) operation: String,
    pub(super) resource: Option<Resource>,
}

impl RequestState {
    /// Sets the operation, once.
    pub(super) fn set_info(&self, info: RequestInfo) {
        let _ = self.0.info.set(info);
    }

    /// Sets the fault plan, once.
    pub(super) fn set_plan(&self, plan: Plan) {
        let _ = self.0.plan.set(plan);
    }

    /// The operation, if s3s has found it.
    pub(super) fn info(&self) -> Option<&RequestInfo> {
        self.0.info.get()
    }

    /// The rejection of a fault.
    pub(super) fn rejection(&self) -> Option<&Rejection> {
        self.0.plan.get()?.rejection.as_ref()
    }

    /// The damage of a fault to the response.
    pub(super) fn damage(&self) -> Option<Damage> {
        self.0.plan.get()?.damage
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
        // On timeout the connection is closed.
        let _ = tokio::time::timeout(limit, read).await;
    }
}
