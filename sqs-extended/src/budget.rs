//! The memory budget of loaded payloads.

use tokio::sync::{Semaphore, SemaphorePermit};

/// The unit of the budget in bytes.
const UNIT: u64 = 1 << 10;

/// Limits the bytes of payloads that are loaded at a time.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    bytes: u64,
    units: Semaphore,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, units: Semaphore::new(units(bytes) as usize) }
    }

    /// The whole budget in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Waits until this number of bytes is left. They must not exceed the budget.
    pub(crate) async fn take(&self, bytes: u64) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.units.acquire_many(units(bytes)).await.ok()
    }
}

/// The units of a number of bytes, rounded up. They are KiB, because a semaphore has fewer permits on 32-bit systems.
fn units(bytes: u64) -> u32 {
    let most = u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX);
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(most).min(most)
}
