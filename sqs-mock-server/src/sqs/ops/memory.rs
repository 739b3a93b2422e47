//! Memory of the messages in all queues of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::sqs::engine::Room;

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
