//! Looking into the store, and changing what happens in it.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{MemoryStore, StoreCall, StoreFault};
use crate::pointer::Pointer;

/// What a store was asked for so far, whether it was done or not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct StoreCalls {
    /// Objects to write.
    pub puts: u64,
    /// Objects to read.
    pub gets: u64,
    /// Objects to delete.
    pub deletes: u64,
    /// Pages of listings.
    pub lists: u64,
}

impl StoreCalls {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.puts + self.gets + self.deletes + self.lists
    }
}

/// What is there.
impl MemoryStore {
    /// All objects, by bucket and key.
    pub fn objects(&self) -> Vec<Pointer> {
        self.shared.shelf.lock().all().collect()
    }

    /// The bytes of an object.
    pub fn bytes(&self, at: &Pointer) -> Option<Bytes> {
        self.shared.shelf.lock().look(at).map(|stored| stored.bytes.clone())
    }

    /// What was said about an object when it was written.
    pub fn metadata(&self, at: &Pointer) -> Option<HashMap<String, String>> {
        self.shared.shelf.lock().look(at).map(|stored| stored.metadata.clone())
    }

    /// The type of an object, when it was written with one.
    pub fn content_type(&self, at: &Pointer) -> Option<String> {
        self.shared.shelf.lock().look(at)?.content_type.clone()
    }

    /// What was asked for so far.
    pub fn calls(&self) -> StoreCalls {
        self.shared.shelf.lock().calls
    }
}

/// What happens to it.
impl MemoryStore {
    /// Writes an object, or other bytes into one, as somebody else might. Its metadata stays.
    pub fn overwrite(&self, at: &Pointer, bytes: impl Into<Bytes>) {
        let now = self.shared.clock.now();
        self.shared.shelf.lock().replace(at, bytes.into(), now);
    }

    /// Removes an object, as somebody else might.
    pub fn remove(&self, at: &Pointer) {
        self.shared.shelf.lock().remove(at);
    }

    /// How many objects are on a page of a listing, at least 1; 1,000 by default.
    pub fn set_page_size(&self, objects: usize) {
        self.shared.shelf.lock().page = objects.max(1);
    }

    /// Strikes the next call of this kind. Said more than once, one call after the other.
    pub fn fail_next(&self, call: StoreCall, fault: StoreFault) {
        self.shared.faults.lock().queue(call, Some(fault));
    }

    /// Spares the next call of this kind: between two that fail.
    pub fn pass_next(&self, call: StoreCall) {
        self.shared.faults.lock().queue(call, None);
    }

    /// Strikes calls as the condition says, when nothing was said of the next one. It replaces the condition before.
    pub fn fail_when(
        &self,
        condition: impl Fn(StoreCall, &Pointer) -> Option<StoreFault> + Send + Sync + 'static,
    ) {
        self.shared.faults.lock().set_condition(Some(Arc::new(condition)));
    }

    /// Lets everything work again.
    pub fn heal(&self) {
        self.shared.faults.lock().clear();
    }
}
