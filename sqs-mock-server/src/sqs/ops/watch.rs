//! Waiting for a queue to be as somebody wants it, woken by what happens to it.
//!
//! ```text
//! listen (queues come and go | this queue changes) -> look --found--> done
//!                                                       | not yet
//!                                                       v
//!                       wait for (any of the two | the next moment at which the queue changes by itself)
//! ```
//! Looking is no change, so that those who wait do not wake each other. Queues that nobody watches pay one load.

use std::future::pending;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use super::Service;
use super::shared::SharedQueue;
use crate::service::arn::QueueArn;
use crate::service::clock::Timestamp;

/// Those who want to know of each change of a queue.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    count: AtomicUsize,
    /// Watchers wait here; whoever changes the queue wakes them all, after letting go of its lock.
    changed: Notify,
}

/// One of them, counted while it lives.
struct Watching<'w>(&'w Watchers);

impl Watchers {
    /// Tells that the queue was changed. A watcher counts itself before it takes the queue's lock to look, so that
    /// a change which it did not see comes after the count.
    pub(super) fn tell(&self) {
        if self.count.load(Ordering::Acquire) > 0 {
            self.changed.notify_waiters();
        }
    }

    fn watch(&self) -> Watching<'_> {
        self.count.fetch_add(1, Ordering::AcqRel);
        Watching(self)
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Service {
    /// Waits until `look` finds something; it is asked at first and after each change of the queue, which may come
    /// into being, go and come again meanwhile.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn until<T>(&self, arn: &QueueArn, mut look: impl FnMut() -> Option<T>) -> T {
        loop {
            let mut come_or_gone = pin!(self.shared.queues_changed.notified());
            come_or_gone.as_mut().enable();
            let queue = self.shared.find_arn(arn);
            let found = match &queue {
                Some(queue) => self.until_change(queue, &mut look, come_or_gone.as_mut()).await,
                None => look(),
            };
            if let Some(found) = found {
                return found;
            }
            if queue.is_none() {
                come_or_gone.await;
            }
        }
    }

    /// Waits until the service is shut down.
    pub(crate) async fn stopped(&self) {
        self.shared.stopped().await;
    }

    async fn until_change<T>(
        &self,
        queue: &SharedQueue,
        look: &mut impl FnMut() -> Option<T>,
        come_or_gone: impl Future<Output = ()>,
    ) -> Option<T> {
        let watching = queue.watchers.watch();
        let mut changed = pin!(watching.0.changed.notified());
        changed.as_mut().enable();
        // The moment is asked for first: one that comes before the look is looked at twice, and not missed.
        let now = self.clock().now();
        let next = queue.look(|queue| queue.next_change(now)).flatten();
        if let Some(found) = look() {
            return Some(found);
        }
        tokio::select! {
            () = come_or_gone => {}
            () = changed => {}
            () = self.moment(next) => {}
        }
        None
    }

    async fn moment(&self, moment: Option<Timestamp>) {
        match moment {
            Some(moment) => self.clock().sleep_until(moment).await,
            None => pending().await,
        }
    }
}
