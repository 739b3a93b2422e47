//! An object that goes, unless somebody spares it.

use std::sync::Arc;

use super::Cleaner;
use super::waiting::Task;
use crate::pointer::Pointer;
use crate::store::PayloadStore;

/// An object that is deleted in the background when this is dropped: so no future that is dropped between storing an object
/// and sending its message leaves it behind.
pub(crate) struct Doomed<S: PayloadStore> {
    cleaner: Arc<Cleaner<S>>,
    pointer: Option<Pointer>,
}

impl<S: PayloadStore> Doomed<S> {
    pub(crate) fn new(cleaner: &Arc<Cleaner<S>>, pointer: Pointer) -> Self {
        Self { cleaner: Arc::clone(cleaner), pointer: Some(pointer) }
    }

    /// Spares it.
    pub(crate) fn spare(mut self) {
        self.pointer = None;
    }

    /// Deletes it now; what fails is tried again later.
    ///
    /// # Cancel safety
    /// Dropped before its end, it is deleted in the background.
    pub(crate) async fn delete(mut self) {
        if let Some(pointer) = &self.pointer {
            let task = Task::new(pointer.clone(), tokio::time::Instant::now());
            self.cleaner.attempt(task).await;
            self.pointer = None;
        }
    }
}

impl<S: PayloadStore> Drop for Doomed<S> {
    fn drop(&mut self) {
        if let Some(pointer) = self.pointer.take() {
            self.cleaner.later(pointer);
        }
    }
}
