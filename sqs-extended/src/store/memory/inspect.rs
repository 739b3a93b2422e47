//! Inspects and controls a store in memory.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{MemoryStore, StoreCall, StoreFault};
use crate::pointer::Pointer;

/// The number of calls of a store so far, including failed ones.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct StoreCalls {
    /// Writes.
    pub puts: u64,
    /// Reads.
    pub gets: u64,
    /// Deletes.
    pub deletes: u64,
    /// Requested pages of listings.
    pub lists: u64,
}

impl StoreCalls {
    /// The number of all calls.
    pub fn total(&self) -> u64 {
        self.puts + self.gets + self.deletes + self.lists
    }
}

/// Inspection.
impl MemoryStore {
    /// All objects, by bucket and key.
    pub fn objects(&self) -> Vec<Pointer> {
        self.shared.objects.lock().all().collect()
    }

    /// The bytes of an object.
    pub fn bytes(&self, at: &Pointer) -> Option<Bytes> {
        self.shared.objects.lock().find(at).map(|stored| stored.bytes.clone())
    }

    /// The metadata of an object.
    pub fn metadata(&self, at: &Pointer) -> Option<HashMap<String, String>> {
        self.shared.objects.lock().find(at).map(|stored| stored.metadata.clone())
    }

    /// The media type of an object, if it has one.
    pub fn content_type(&self, at: &Pointer) -> Option<String> {
        self.shared.objects.lock().find(at)?.content_type.clone()
    }

    /// The number of calls so far.
    pub fn calls(&self) -> StoreCalls {
        self.shared.objects.lock().calls
    }
}

/// Control.
impl MemoryStore {
    /// Writes an object without the client, as another program might. An existing object keeps its metadata.
    pub fn overwrite(&self, at: &Pointer, bytes: impl Into<Bytes>) {
        let now = self.shared.clock.now();
        self.shared.objects.lock().replace(at, bytes.into(), now);
    }

    /// Removes an object without the client, as another program might.
    pub fn remove(&self, at: &Pointer) {
        self.shared.objects.lock().remove(at);
    }

    /// Sets the number of objects on a page of a listing: at least 1, 1,000 by default.
    pub fn set_page_size(&self, objects: usize) {
        self.shared.objects.lock().page = objects.max(1);
    }

    /// Injects a fault into the next call of this kind. Further faults affect the calls after it.
    pub fn fail_next(&self, call: StoreCall, fault: StoreFault) {
        self.shared.faults.lock().queue(call, Some(fault));
    }

    /// Lets the next call of this kind succeed, for a success between two injected faults.
    pub fn pass_next(&self, call: StoreCall) {
        self.shared.faults.lock().queue(call, None);
    }

    /// Sets a function that returns the fault of each call that has no queued fault. A later call replaces it.
    pub fn fail_when(
        &self,
        condition: impl Fn(StoreCall, &Pointer) -> Option<StoreFault> + Send + Sync + 'static,
    ) {
        self.shared.faults.lock().set_condition(Some(Arc::new(condition)));
    }

    /// Removes all injected faults.
    pub fn heal(&self) {
        self.shared.faults.lock().clear();
    }
}
