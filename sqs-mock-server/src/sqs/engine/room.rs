//! How much memory messages may take.

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// The memory that one queue has, as of the call that passes it.
///
/// Another queue may grow at the same time: the ceiling can be passed by as many messages as there are senders at one
/// moment. Sends over the ceiling are refused; moves between queues are not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes that the messages of all queues may take.
    pub ceiling: usize,
    /// Bytes that all other queues take.
    pub elsewhere: usize,
}

impl Room {
    /// Checks whether a queue with `here` bytes can take `bytes` more.
    ///
    /// # Errors
    /// `OverLimit`, which no SDK retries.
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

    /// Whether a queue with `here` bytes can take `bytes` more.
    pub(super) fn fits(self, here: usize, bytes: usize) -> bool {
        self.elsewhere.saturating_add(here).saturating_add(bytes) <= self.ceiling
    }
}

impl Default for Room {
    /// Without a ceiling.
    fn default() -> Self {
        Self { ceiling: usize::MAX, elsewhere: 0 }
    }
}
