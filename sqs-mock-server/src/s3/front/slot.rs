//! What becomes known of a request while it is answered.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use parking_lot::Mutex;

use crate::faults::{Ending, S3Plan, S3Unapplied};

/// As much of a body is read that nobody wants, in bytes.
const MAX_REST: usize = 64 << 20;

/// A place that all who work on a request share.
#[derive(Clone, Debug, Default)]
pub(in crate::s3) struct Slot(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    asked: OnceLock<Asked>,
    plan: OnceLock<S3Plan>,
    /// What is left of the body, once nobody reads it any more.
    rest: Mutex<Option<Incoming>>,
}

/// What a request asks for.
#[derive(Clone, Debug, Default)]
pub(in crate::s3) struct Asked {
    pub(in crate::s3) operation: String,
    pub(in crate::s3) bucket: Option<String>,
    pub(in crate::s3) key: Option<String>,
}

impl Slot {
    /// Notes what is asked for, which is known once.
    pub(super) fn ask(&self, asked: Asked) {
        let _ = self.0.asked.set(asked);
    }

    /// Notes what is to happen, which is decided once.
    pub(super) fn decide(&self, plan: S3Plan) {
        let _ = self.0.plan.set(plan);
    }

    /// What is asked for, when that is known.
    pub(in crate::s3) fn asked(&self) -> Option<&Asked> {
        self.0.asked.get()
    }

    /// How it ends without being applied.
    pub(super) fn unapplied(&self) -> Option<S3Unapplied> {
        self.0.plan.get()?.unapplied.clone()
    }

    /// What becomes of the answer.
    pub(super) fn ending(&self) -> Ending {
        self.0.plan.get().map(|plan| plan.ending).unwrap_or_default()
    }

    /// How many bytes a second may go by.
    pub(super) fn pace(&self) -> Option<u64> {
        self.0.plan.get()?.pace
    }

    /// Leaves a body that nobody has read to its end.
    pub(super) fn leave(&self, rest: Incoming) {
        *self.0.rest.lock() = Some(rest);
    }

    /// Reads what is left of the body, within bounds.
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
        // Whoever is slower than that is cut off.
        let _ = tokio::time::timeout(limit, read).await;
    }
}
