//! Starting anew without starting again.

use super::Service;
use super::worlds::Realm;
use crate::engine::MoveTasks;

impl Service {
    /// Ends all queues with what waits for their messages, and all move tasks, and puts the clock back to where it
    /// was at the start. Ids do not begin again: receipt handles from before fit no later queue.
    pub(crate) fn reset(&self) {
        let shared = &self.shared;
        for realm in shared.worlds.take_all() {
            realm.end(self);
        }
        let (start, frozen) = self.clock_start;
        shared.clock.restart(start, frozen);
        shared.queues_changed.notify_waiters();
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
