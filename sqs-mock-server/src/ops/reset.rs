//! Starting anew without starting again.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Service;
use super::service::{Realm, Shared};
use crate::engine::MoveTasks;

impl Service {
    /// Ends all queues with what waits for their messages, and all move tasks, and puts the clock back to where it
    /// was at the start. Ids do not begin again: receipt handles from before fit no later queue.
    pub(crate) fn reset(&self) {
        let shared = &self.shared;
        shared.resets.fetch_add(1, Ordering::Relaxed);
        for realm in shared.take_realms() {
            realm.end(self);
        }
        let (start, frozen) = self.clock_start;
        shared.clock.restart(start, frozen);
        shared.queues_changed.notify_waiters();
    }
}

impl Shared {
    /// All accounts in all regions, which nobody finds any more.
    fn take_realms(&self) -> Vec<Arc<Realm>> {
        let worlds = std::mem::take(&mut *self.worlds.write());
        worlds.into_values().flat_map(HashMap::into_values).collect()
    }
}

impl Realm {
    /// Whoever still holds this realm finds it empty.
    fn end(&self, service: &Service) {
        *self.tasks.lock() = MoveTasks::default();
        self.cancelled.notify_waiters();
        let names = self.world.read().list("", None, usize::MAX).names;
        for name in names {
            let deleted = self.world.write().delete(service.clock().now(), &name);
            if let Some(queue) = deleted {
                queue.close();
            }
        }
    }
}
