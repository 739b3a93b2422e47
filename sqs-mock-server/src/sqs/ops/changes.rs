//! The reader of all changes.

use std::fmt::Debug;

use crate::sqs::engine::{MoveTask, QueueChange, QueueId};

/// A change of what a server stores.
#[derive(Clone, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "only tests attach a reader yet"))]
pub(crate) enum Change {
    /// Something has changed in a queue, in this order.
    Queue(QueueId, Vec<QueueChange>),
    /// A move task was started, has moved messages or has ended.
    MoveTask(MoveTask),
}

/// Reads every change of a service. Without a reader, no change is recorded.
///
/// Changes of one queue arrive in their order; the lock of the queue is held. So a reader must not block, and must not call
/// the service. A message that moves between queues is one change, of the queue that it enters: until then it has not
/// left the other one.
pub(crate) trait ChangeReader: Debug + Send + Sync {
    /// Takes a change.
    fn read(&self, change: Change);
}
