//! The reader of all changes.

use std::fmt::Debug;
use std::sync::Arc;

use crate::service::arn::QueueArn;
use crate::service::delivery::KeptDelivery;
use crate::sns::engine::backlog::Group;
use crate::sns::engine::{TopicChange, TopicNumber};

/// A delivery that waits for a retry.
#[derive(Debug)]
#[cfg_attr(not(feature = "durable"), expect(dead_code, reason = "only a store reads them"))]
pub(crate) struct WaitingDelivery {
    /// Increases with each delivery of a server.
    pub(crate) number: u64,
    /// On FIFO topics.
    pub(crate) group: Option<Group>,
    pub(crate) delivery: KeptDelivery,
    pub(crate) dead_letter_queue: Option<QueueArn>,
}

/// A change of the deliveries that wait.
#[derive(Debug)]
#[cfg_attr(not(feature = "durable"), expect(dead_code, reason = "only a store reads them"))]
pub(crate) enum WaitingChange {
    Added(Arc<WaitingDelivery>),
    /// It is in a queue, or dropped. Also for deliveries that were not added.
    Ended(u64),
    Cleared,
}

/// Reads every change of topics. Without a reader, changes are not recorded.
///
/// Changes of a topic are passed in order, while locks of this service are held: a reader must not block and must not call
/// the service. Changes after the deletion of a topic have no effect.
pub(crate) trait TopicReader: Debug + Send + Sync {
    /// Handles changes of a topic.
    fn read(&self, topic: TopicNumber, changes: Vec<TopicChange>);

    /// Handles a change of the deliveries that wait.
    fn read_waiting(&self, change: WaitingChange);
}
