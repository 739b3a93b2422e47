//! The limits of a server: the number of queues, and the memory of the messages in all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::sqs::engine::Room;

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

/// The memory of one server.
#[derive(Debug)]
pub(super) struct Memory {
    /// The limit in bytes.
    pub(super) ceiling: usize,
    used: AtomicUsize,
}

impl Memory {
    pub(super) fn new(ceiling: usize) -> Self {
        Self { ceiling, used: AtomicUsize::new(0) }
    }

    /// Bytes used by all queues.
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// The memory of one queue, returned on drop.
#[derive(Debug)]
pub(super) struct Share {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Share {
    pub(super) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, bytes: 0 }
    }

    /// The room of this queue.
    pub(super) fn room(&self) -> Room {
        let elsewhere = self.memory.used().saturating_sub(self.bytes);
        Room { ceiling: self.memory.ceiling, elsewhere }
    }

    /// Sets the bytes used by this queue.
    pub(super) fn set(&mut self, bytes: usize) {
        let used = &self.memory.used;
        match bytes.checked_sub(self.bytes) {
            Some(0) => {}
            Some(more) => drop(used.fetch_add(more, Ordering::Relaxed)),
            None => drop(used.fetch_sub(self.bytes - bytes, Ordering::Relaxed)),
        }
        self.bytes = bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
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

    #[test]
    fn room_of_a_queue_counts_other_queues_only() {
        let memory = Arc::new(Memory::new(100));
        let (mut one, mut other) = (Share::new(memory.clone()), Share::new(memory.clone()));
        one.set(30);
        other.set(50);
        one.set(20);
        assert_eq!((one.room().elsewhere, other.room().elsewhere, memory.used()), (50, 20, 70));
        drop(other);
        assert_eq!((one.room().elsewhere, memory.used()), (0, 20));
    }
}
