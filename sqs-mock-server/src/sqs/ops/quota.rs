//! The maximum number of queues of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// The number of queues in all accounts and regions, and its limit.
#[derive(Debug)]
pub(super) struct QueueQuota {
    limit: usize,
    used: Arc<AtomicUsize>,
}

/// Counts one queue until it is dropped.
#[derive(Debug)]
pub(super) struct QuotaShare {
    used: Arc<AtomicUsize>,
}

impl QueueQuota {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, used: Arc::default() }
    }

    /// Number of queues.
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Counts one more queue.
    ///
    /// # Errors
    /// `OverLimit`, which SDKs do not retry.
    pub(super) fn take(&self) -> Result<QuotaShare, ServiceError> {
        let share = QuotaShare { used: Arc::clone(&self.used) };
        // If the limit is exceeded, dropping the share undoes this.
        let before = self.used.fetch_add(1, Ordering::Relaxed);
        if before < self.limit { Ok(share) } else { Err(refusal(self.limit)) }
    }
}

impl Drop for QuotaShare {
    fn drop(&mut self) {
        self.used.fetch_sub(1, Ordering::Relaxed);
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
