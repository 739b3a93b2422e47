//! Queues as pure state machines. Each method takes the time; nothing here waits, locks, logs or depends on HTTP.
//!
//! | Module | Contents |
//! |---|---|
//! | [`directory`], `blocked` | queues of one account in one region: create, delete, list, dead-letter relations |
//! | [`queue`] | one queue: send, receive, delete, visibility, moves, peek |
//! | `store` | messages of a queue, indexed by slot, age, timer and order |
//! | `order`, `standard`, `fifo` | the next message: fair tenants, groups in order |
//! | `fair`, `aws_like` | standard queues: noisy tenants, random delivery |
//! | `slab`, `sequence`, `groups` | data structures of these: no operation scans |
//! | `message`, `handle`, `dedup`, `attempts` | messages, receipt handles, memory of FIFO queues |
//! | `room` | limit for the memory of messages |
//! | `throughput` | quotas of FIFO queues: calls per action, messages per group |
//! | [`attributes`], [`redrive`], [`policy`], `tags` | settings of a queue |
//! | `refusal` | error texts of several operations |
//! | `change`, `state` | changes by operations, as values; the state that results from them |
//! | [`move_task`] | message move tasks |

pub(crate) mod attributes;
pub(crate) mod directory;
pub(crate) mod move_task;
pub(crate) mod policy;
pub(crate) mod queue;
pub(crate) mod redrive;

mod attempts;
mod aws_like;
mod blocked;
mod change;
mod dedup;
mod fair;
mod fifo;
mod groups;
mod handle;
mod message;
mod order;
mod refusal;
mod room;
mod sequence;
mod slab;
mod standard;
#[cfg(any(test, feature = "durable"))]
mod state;
mod store;
mod tags;
mod throughput;

use serde::Deserialize;
use sqs_client::wire::limits;

use crate::service::policies::Policies;

pub(crate) use attributes::Attributes;
#[cfg(feature = "durable")]
pub(crate) use blocked::COOL_DOWN;
pub(crate) use change::{Creation, QueueChange, QueueId};
#[cfg(feature = "durable")]
pub(crate) use dedup::Known;
pub(crate) use message::Checksums;
#[cfg(feature = "durable")]
pub(crate) use message::{Core, State, StoredMessage};
pub use message::{Counts, Payload, SequenceNumber};
#[cfg(feature = "durable")]
pub(crate) use move_task::MAX_TASKS_OF_SOURCE;
pub(crate) use move_task::{
    FailureReason, MoveStatus, MoveStep, MoveTask, MoveTaskChange, MoveTasks, NewMoveTask,
};
pub(crate) use queue::{
    Delivery, Dropped, InTransit, Lapse, NewMessage, OldHandle, Queue, Receive, Received, Sent, Wakeups, Walk,
};
pub use queue::{PeekedMessage, QueueDescription, Visibility, WhyEmpty};
pub(crate) use redrive::RedrivePolicy;
pub(crate) use room::Room;
#[cfg(feature = "durable")]
pub(crate) use slab::Slot;
pub(crate) use tags::Tags;

pub(crate) use directory::{Page, QueueDirectory};
#[cfg(any(test, feature = "durable"))]
pub(crate) use state::QueueState;
pub(crate) use throughput::{Metered, QuotaSetting, QuotaTable};
pub use throughput::{QuotaScope, ThroughputQuotas};

/// How strict a server is, and how it delivers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Settings {
    /// Disables the wait between purges, and before the name of a deleted queue is reused.
    pub relaxed_timing: bool,
    /// Maximum messages in flight per queue.
    pub max_in_flight: usize,
    /// Maximum bytes of all messages.
    pub max_memory: usize,
    /// Maximum queues in all accounts and regions.
    pub max_queues: usize,
    /// Number of messages of a FIFO queue that a receive looks at.
    pub receive_window: usize,
    /// How standard queues deliver.
    pub delivery: DeliveryMode,
    /// Strict mode: the server keeps its findings about callers, and queues record messages that were not deleted in
    /// time.
    pub strict: bool,
    /// What access policies do.
    pub policies: Policies,
}

/// How standard queues deliver. FIFO queues are always exact.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DeliveryMode {
    /// First in, first out; each message once; a receive finds all available messages. Most tests want this. AWS does
    /// not guarantee it.
    #[default]
    Ordered,
    /// Like AWS: a short poll samples 5 of 8 servers and misses messages on the others. Messages are slightly reordered
    /// (in long polls, at most 50 messages overtake one). About one message in 100 is delivered again although it was
    /// received or deleted. The same seed and the same calls produce the same deliveries.
    AwsLike,
}

impl Default for Settings {
    /// The limits of AWS, with unlimited memory.
    fn default() -> Self {
        Self {
            relaxed_timing: false,
            max_in_flight: limits::MAX_IN_FLIGHT,
            max_memory: usize::MAX,
            max_queues: usize::MAX,
            receive_window: limits::FIFO_RECEIVE_WINDOW,
            delivery: DeliveryMode::default(),
            strict: false,
            policies: Policies::default(),
        }
    }
}
