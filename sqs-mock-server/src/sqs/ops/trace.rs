//! Facts about a request, for logs, metrics and the journal.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;

use crate::service::arn::QueueArn;
use crate::sqs::findings::Finding;

/// Facts about a request that only its operation knows. Only the first queue and the first wait are recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    queue: OnceLock<Arc<QueueArn>>,
    waited: OnceLock<Duration>,
    /// Findings of strict mode. Most requests have none.
    findings: OnceLock<Arc<Mutex<Vec<Arc<Finding>>>>>,
}

impl Trace {
    /// The queue of the request, if any.
    pub(crate) fn queue(&self) -> Option<&QueueArn> {
        self.queue.get().map(|arn| &**arn)
    }

    /// How long a receive waited for messages; `None` if it did not.
    pub(crate) fn waited(&self) -> Option<Duration> {
        self.waited.get().copied()
    }

    /// The findings of strict mode.
    pub(crate) fn findings(&self) -> Vec<Arc<Finding>> {
        self.findings.get().map(|findings| findings.lock().clone()).unwrap_or_default()
    }

    pub(crate) fn note_finding(&self, finding: Arc<Finding>) {
        self.findings.get_or_init(Arc::default).lock().push(finding);
    }

    pub(super) fn note_queue(&self, arn: &Arc<QueueArn>) {
        let _ = self.queue.set(Arc::clone(arn));
    }

    pub(super) fn note_wait(&self, waited: Duration) {
        let _ = self.waited.set(waited);
    }
}
