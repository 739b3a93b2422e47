//! Waiting for a state of a queue.
//!
//! ```text
//! listen (queue created or deleted | queue changed) -> look --found--> return
//!                                                       | not yet
//!                                                       v
//!                          wait for (one of these | the next change by time)
//! ```
//! `look` does not count as a change, so waiting tests do not wake each other.

use std::pin::pin;

use super::Service;
use super::shared::SharedQueue;
use crate::service::arn::QueueArn;

impl Service {
    /// Waits until `look` returns a value. It is called at once and after each change of the queue, which may be
    /// created and deleted in the meantime.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn until<T>(&self, arn: &QueueArn, mut look: impl FnMut() -> Option<T>) -> T {
        loop {
            let mut created_or_deleted = pin!(self.shared.queues_changed.notified());
            created_or_deleted.as_mut().enable();
            let queue = self.shared.find_arn(arn);
            let found = match &queue {
                Some(queue) => self.until_change(queue, &mut look, created_or_deleted.as_mut()).await,
                None => look(),
            };
            if let Some(found) = found {
                return found;
            }
            if queue.is_none() {
                created_or_deleted.await;
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
        created_or_deleted: impl Future<Output = ()>,
    ) -> Option<T> {
        let _watching = queue.watchers.enter();
        let mut changed = pin!(queue.changed.notified());
        changed.as_mut().enable();
        // The next change is read before the look: if it happens in between, it causes a second look.
        let now = self.clock().now();
        let next = queue.look(|queue| queue.next_change(now)).flatten();
        if let Some(found) = look() {
            return Some(found);
        }
        tokio::select! {
            () = created_or_deleted => {}
            () = changed => {}
            () = self.shared.moment(next) => {}
        }
        None
    }
}
