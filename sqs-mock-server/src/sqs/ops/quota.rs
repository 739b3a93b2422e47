//! The maximum number of queues of a server.

use std::sync::Arc;

use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of queues in all accounts and regions, and its limit.
#[derive(Debug)]
pub(super) struct QueueQuota {
    limit: usize,
    free: Arc<Semaphore>,
}

impl QueueQuota {
    pub(super) fn new(limit: usize) -> Self {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Self { limit, free: Arc::new(Semaphore::new(limit)) }
    }

    /// Number of queues.
    pub(super) fn used(&self) -> usize {
        self.limit - self.free.available_permits()
    }

    /// Counts one more queue, until the permit is dropped.
    ///
    /// # Errors
    /// `OverLimit`, which SDKs do not retry.
    pub(super) fn take(&self) -> Result<OwnedSemaphorePermit, ServiceError> {
        Arc::clone(&self.free).try_acquire_owned().map_err(|_| refusal(self.limit))
    }
}

fn refusal(limit: usize) -> ServiceError {
    let text = format!(
        "This server has {limit} queues, its limit. Delete queues, or raise the limit with --max-queues, \
         SQS_MOCK_MAX_QUEUES, limits.max_queues in the config file, or Limits::max_queues."
    );
    ServiceError::new(ErrorCode::OverLimit, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_over_the_limit_is_rejected_until_another_is_deleted() {
        let quota = QueueQuota::new(2);
        let (first, _second) = (quota.take().unwrap(), quota.take().unwrap());
        assert_eq!(quota.take().unwrap_err().code, ErrorCode::OverLimit);
        assert_eq!(quota.used(), 2, "a rejected queue is not counted");
        drop(first);
        assert!(quota.take().is_ok());
    }
}
