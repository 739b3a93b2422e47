//! What the messages of all queues of a server take of memory, and how much they may take.
//!
//! Bytes are counted where messages and ids are kept, in a [`Share`] that gives them back when it goes: no way
//! out of a queue can forget to. Senders are refused over the ceiling; what moves between queues is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqs_client::wire::service_error::{ErrorCode, ServiceError};

/// The memory of one server. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    ceiling: usize,
    used: AtomicUsize,
}

impl Default for Memory {
    /// Without a ceiling.
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl Memory {
    /// Memory of which at most `ceiling` bytes may be taken.
    pub(crate) fn new(ceiling: usize) -> Self {
        Self(Arc::new(Shared { ceiling, used: AtomicUsize::new(0) }))
    }

    /// Bytes that are taken.
    pub(crate) fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Bytes that may be taken.
    pub(crate) fn ceiling(&self) -> usize {
        self.0.ceiling
    }

    fn refusal(&self, bytes: usize) -> ServiceError {
        let (used, ceiling) = (self.used(), self.ceiling());
        let text = format!(
            "This server keeps at most {ceiling} bytes of messages. {used} are taken, and this message needs \
             {bytes}. Delete messages, purge or delete queues, or raise the ceiling with --max-memory, \
             SQS_MOCK_MAX_MEMORY, limits.max_memory in the config file, or Limits::max_memory."
        );
        ServiceError::new(ErrorCode::OverLimit, text)
    }
}

/// What one holder has taken of the memory.
#[derive(Debug, Default)]
pub(super) struct Share {
    memory: Memory,
    bytes: usize,
}

impl Share {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, bytes: 0 }
    }

    /// An empty share of the same memory.
    pub(super) fn sibling(&self) -> Self {
        Self::new(self.memory.clone())
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Says whether so much more would fit now. Another queue may be faster: the ceiling can be passed by as many
    /// messages as there are senders at one moment.
    ///
    /// # Errors
    /// `OverLimit`, which no SDK retries.
    pub(super) fn check(&self, bytes: usize) -> Result<(), ServiceError> {
        if self.fits(bytes) { Ok(()) } else { Err(self.memory.refusal(bytes)) }
    }

    /// As [`check`](Self::check), for what can be left out.
    pub(super) fn fits(&self, bytes: usize) -> bool {
        self.memory.used().saturating_add(bytes) <= self.memory.ceiling()
    }

    pub(super) fn take(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.memory.0.used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn give_back(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.bytes, "more is given back than was taken");
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.memory.0.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn give_all_back(&mut self) {
        self.give_back(self.bytes);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give_all_back();
    }
}
