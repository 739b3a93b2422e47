//! The memory limit for messages.

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// The memory available to one queue at the time of a call.
///
/// Other queues can grow concurrently, so the total can exceed the limit by one message per concurrent sender. Sends
/// over the limit are rejected; moves between queues are not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Maximum bytes of messages in all queues.
    pub ceiling: usize,
    /// Bytes of messages in all other queues.
    pub elsewhere: usize,
}

impl Room {
    /// Checks that a queue with `here` bytes can store `bytes` more.
    ///
    /// # Errors
    /// `OverLimit`, which SDKs do not retry.
    pub(super) fn check(self, here: usize, bytes: usize) -> Result<(), ServiceError> {
        if self.fits(here, bytes) {
            return Ok(());
        }
        let Self { ceiling, elsewhere } = self;
        let used = elsewhere.saturating_add(here);
        let text = format!(
            "This server stores at most {ceiling} bytes of messages. It stores {used} now, and this message needs \
             {bytes}. Delete messages, purge or delete queues, or raise the limit with --max-memory, \
             SQS_MOCK_MAX_MEMORY, limits.max_memory in the config file, or Limits::max_memory."
        );
        Err(ServiceError::new(ErrorCode::OverLimit, text))
    }

    /// Whether a queue with `here` bytes can store `bytes` more.
    pub(super) fn fits(self, here: usize, bytes: usize) -> bool {
        self.elsewhere.saturating_add(here).saturating_add(bytes) <= self.ceiling
    }
}

impl Default for Room {
    /// Without a limit.
    fn default() -> Self {
        Self { ceiling: usize::MAX, elsewhere: 0 }
    }
}
