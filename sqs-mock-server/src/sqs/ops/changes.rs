//! The reader of all changes.

use std::fmt::Debug;

use crate::service::clock::ClockSetting;
use crate::service::commits::Commits;
use crate::sqs::engine::{MoveTaskChange, QueueChange, QueueId};

/// A change of the data that a server stores.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "durable"), expect(dead_code, reason = "only a store reads changes"))]
pub(crate) enum Change {
    /// Changes of a queue, in order.
    Queue(QueueId, Vec<QueueChange>),
    /// A change of move tasks.
    MoveTask(MoveTaskChange),
    /// The clock was set.
    ClockSet(ClockSetting),
    /// Everything was deleted. Later changes of deleted queues have no effect.
    Reset,
}

/// Reads every change of a service. Without a reader, changes are not recorded.
///
/// Changes of a queue are passed in order, while its lock is held: a reader must not block and must not call the
/// service. A message that moves between queues is one change, of the queue that it enters; until then, it has not left
/// the other queue.
pub(crate) trait ChangeReader: Debug + Send + Sync {
    /// Handles a change.
    fn read(&self, change: Change);

    /// Notes how the clock is set, if that has changed. Called often.
    fn note_clock(&self) {}

    /// Whether everything that was read is stored; a reader that stores nothing has none.
    fn commits(&self) -> Option<&Commits> {
        None
    }
}
