//! Starting anew without starting again.

use std::fmt;
use std::sync::atomic::Ordering;

use super::Service;
use super::worlds::Realm;
use crate::sqs::engine::MoveTasks;

/// What is there from the start, put there again.
pub(super) struct Furnish(Box<dyn Fn(&Service) + Send + Sync>);

impl Default for Furnish {
    /// Nothing.
    fn default() -> Self {
        Self(Box::new(|_| {}))
    }
}

impl fmt::Debug for Furnish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl Service {
    /// Says what is to be done after each reset.
    pub(crate) fn on_reset(&mut self, furnish: impl Fn(&Self) + Send + Sync + 'static) {
        self.furnish = Furnish(Box::new(furnish));
    }

    /// Ends all queues with what waits for their messages, all move tasks and all faults, and puts the clock back to where
    /// it was at the start. Ids do not begin again: receipt handles from before fit no later queue.
    pub(crate) fn reset(&self) {
        let shared = &self.shared;
        shared.resets.fetch_add(1, Ordering::AcqRel);
        for realm in shared.worlds.take_all() {
            realm.end(self);
        }
        let (start, frozen) = self.clock_start;
        shared.clock.restart(start, frozen);
        shared.faults.clear();
        (self.furnish.0)(self);
        shared.queues_changed.notify_waiters();
    }
}

impl Realm {
    /// Whoever still holds this realm finds it empty.
    fn end(&self, service: &Service) {
        self.tasks(MoveTasks::forget_all);
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
