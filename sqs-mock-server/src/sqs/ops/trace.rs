//! What an operation leaves about itself, for logs and metrics.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::service::arn::QueueArn;

/// Facts about one request that only its operation knows. Each is noted once; later ones do not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    queue: OnceLock<Arc<QueueArn>>,
    waited: OnceLock<Duration>,
}

impl Trace {
    /// The queue that the request is about, when there is one.
    pub(crate) fn queue(&self) -> Option<&QueueArn> {
        self.queue.get().map(|arn| &**arn)
    }

    /// How long a receive waited for messages; `None` when it did not have to.
    pub(crate) fn waited(&self) -> Option<Duration> {
        self.waited.get().copied()
    }

    pub(super) fn note_queue(&self, arn: &Arc<QueueArn>) {
        let _ = self.queue.set(Arc::clone(arn));
    }

    pub(super) fn note_wait(&self, waited: Duration) {
        let _ = self.waited.set(waited);
    }
}
