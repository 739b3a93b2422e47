//! The queues themselves: pure state machines. Each method takes the time; nothing here waits, locks, logs or
//! knows of HTTP.
//!
//! | Module | What it holds |
//! |---|---|
//! | [`directory`], `blocked` | the queues of one account in one region: create, delete, list, who is whose dead-letter queue |
//! | [`queue`] | one queue: send, receive, delete, visibility, moves, peek |
//! | `store` | its messages, each in its places |
//! | `order`, `standard`, `fifo` | which message is next: fair tenants, groups in order |
//! | `server`, `fair`, `aws_like` | of standard queues: what waits where, who is noisy, what is up to chance |
//! | `slab`, `sequence`, `timers`, `groups` | the data structures under these: no operation scans |
//! | `message`, `handle`, `dedup`, `attempts` | messages, receipt handles, what FIFO queues remember |
//! | `room` | how much memory messages may take |
//! | `throughput`, `quota_table` | quotas of FIFO queues: calls of each action, messages of each group |
//! | [`attributes`], [`redrive`], [`policy`] | what can be set about a queue |
//! | `change`, `state` | what operations change, as values; what remains when these are applied |
//! | [`move_task`] | dead letters on their way back |

pub(crate) mod attributes;
pub(crate) mod directory;
pub(crate) mod move_task;
pub(crate) mod policy;
mod policy_document;
pub(crate) mod queue;
pub(crate) mod redrive;

mod attempts;
mod aws_like;
mod blocked;
mod change;
mod counts;
mod dedup;
mod fair;
mod fifo;
mod groups;
mod handle;
mod message;
mod order;
mod policy_quotas;
mod quota_table;
mod refusal;
mod room;
mod sequence;
mod server;
mod slab;
mod standard;
#[cfg(test)]
mod state;
mod store;
mod tags;
mod throughput;
mod timers;

use serde::Deserialize;
use sqs_client::wire::limits;

pub(crate) use attributes::Attributes;
pub(crate) use change::{QueueChange, QueueId};
pub(crate) use message::Checksums;
pub use message::{Payload, SequenceNumber};
pub(crate) use move_task::{FailureReason, MoveStatus, MoveStep, MoveTask, MoveTasks, NewMoveTask};
pub(crate) use queue::{
    DeadLetter, Delivery, Dropped, Lapse, MovingStopped, NewMessage, OldHandle, Outcome, Queue, Receive,
    Received, Sent, Wakeups,
};
pub use queue::{PeekedMessage, QueueDescription, Visibility, WhyEmpty};
pub(crate) use redrive::RedrivePolicy;
pub(crate) use room::Room;
pub(crate) use tags::Tags;

pub use counts::Counts;
pub(crate) use directory::{Created, Page, QueueDirectory};
pub use quota_table::QuotaScope;
pub(crate) use quota_table::QuotaTable;
#[cfg(test)]
pub(crate) use state::QueueState;
pub use throughput::ThroughputQuotas;
pub(crate) use throughput::{Metered, QuotaSetting};

/// How strict a server is, and how it delivers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Settings {
    /// No waiting between purges, nor before a deleted queue is created again.
    pub relaxed_timing: bool,
    /// Messages in flight per queue.
    pub max_in_flight: usize,
    /// Bytes of all messages.
    pub max_memory: usize,
    /// Queues in all accounts and regions.
    pub max_queues: usize,
    /// How many messages of a FIFO queue a receive looks at.
    pub receive_window: usize,
    /// How standard queues deliver.
    pub delivery: DeliveryMode,
    /// Whether queues note messages that were not deleted in time.
    pub strict: bool,
}

/// How standard queues deliver. FIFO queues are exact whatever this says.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DeliveryMode {
    /// First come, first served; each message once; whatever is there, a receive finds. It is what most tests want,
    /// and no more than AWS could do on a good day.
    #[default]
    Ordered,
    /// As AWS does: a short poll asks 5 of 8 servers and misses what is on the others, the order is a little mixed
    /// (in long polls a message is overtaken by at most 50 others), and one in about 100 messages is delivered
    /// again although it was received, or deleted. The same seed and the same calls give the same run.
    AwsLike,
}

impl Default for Settings {
    /// As AWS, whose memory has no end.
    fn default() -> Self {
        Self {
            relaxed_timing: false,
            max_in_flight: limits::MAX_IN_FLIGHT,
            max_memory: usize::MAX,
            max_queues: usize::MAX,
            receive_window: limits::FIFO_RECEIVE_WINDOW,
            delivery: DeliveryMode::default(),
            strict: false,
        }
    }
}
