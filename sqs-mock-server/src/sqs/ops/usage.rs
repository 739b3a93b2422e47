//! Usage of a server at a point in time, for monitoring.

use std::sync::Arc;
use std::time::Duration;

use super::Service;
use super::shared::SharedQueue;
use crate::service::arn::QueueArn;
use crate::sqs::engine::Counts;

/// Number of queues that are visited between yields.
const AT_ONCE: usize = 64;

/// Total usage of all queues.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Usage {
    /// Queues in all accounts and regions.
    pub(crate) queues: usize,
    /// Parked receives.
    pub(crate) parked: usize,
    /// Bytes of all messages.
    pub(crate) stored_bytes: usize,
    /// The limit for bytes of all messages.
    pub(crate) max_memory: usize,
}

/// Usage of one queue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct QueueUsage {
    pub(crate) arn: Arc<QueueArn>,
    pub(crate) counts: Counts,
    /// The age of its oldest message; zero without messages.
    pub(crate) oldest_age: Duration,
    pub(crate) stored_bytes: usize,
}

impl Service {
    /// Total usage of all queues.
    pub(crate) fn usage(&self) -> Usage {
        let shared = &self.shared;
        Usage {
            queues: shared.quota.used(),
            parked: shared.parked.count(),
            stored_bytes: shared.memory.used(),
            max_memory: shared.memory.ceiling,
        }
    }

    /// Usage of each queue, sorted by ARN. Queues are locked one at a time, so the figures of two queues can be from
    /// different times. Yields to other tasks in between.
    ///
    /// # Cancel safety
    /// Changes nothing.
    pub(crate) async fn usage_by_queue(&self) -> Vec<QueueUsage> {
        let mut queues = self.shared.all_queues();
        queues.sort_unstable_by(|a, b| a.arn().cmp(b.arn()));
        let mut usage = Vec::with_capacity(queues.len());
        for some in queues.chunks(AT_ONCE) {
            usage.extend(some.iter().filter_map(|queue| self.usage_of(queue)));
            tokio::task::yield_now().await;
        }
        usage
    }

    fn usage_of(&self, queue: &SharedQueue) -> Option<QueueUsage> {
        let now = self.clock().now();
        queue.look(|queue| QueueUsage {
            arn: Arc::clone(queue.arn()),
            counts: queue.counts(now),
            oldest_age: queue.oldest(now).map(|oldest| now.saturating_since(oldest)).unwrap_or_default(),
            stored_bytes: queue.stored_bytes(),
        })
    }
}
