//! The queues themselves: pure state machines. Each method takes the time; nothing here waits, locks, logs or
//! knows of HTTP.
//!
//! | Module | What it holds |
//! |---|---|
//! | [`world`] | the queues of one account in one region: create, delete, list, who is whose dead-letter queue |
//! | [`queue`] | one queue: send, receive, delete, visibility, moves, peek |
//! | `store` | its messages, each in its places |
//! | `order`, `standard`, `fifo` | which message is next: fair tenants, groups in order |
//! | `slab`, `chain`, `ages`, `timers`, `groups` | the data structures under these: no operation scans |
//! | `message`, `handle`, `dedup`, `attempts` | messages, receipt handles, what FIFO queues remember |
//! | [`attributes`], [`redrive`], [`policy`] | what can be set about a queue |
//! | [`move_task`] | dead letters on their way back |

pub(crate) mod attributes;
pub(crate) mod move_task;
pub(crate) mod policy;
pub(crate) mod queue;
pub(crate) mod redrive;
pub(crate) mod world;

mod ages;
mod arn;
mod attempts;
mod chain;
mod dedup;
mod fifo;
mod groups;
mod handle;
mod message;
mod order;
mod policy_quotas;
mod refusal;
mod slab;
mod standard;
mod store;
mod timers;

pub use arn::QueueArn;
pub(crate) use arn::is_fifo_name;
pub(crate) use attributes::Attributes;
pub use message::{Payload, SequenceNumber};
pub(crate) use move_task::{FailureReason, MoveStatus, MoveStep, MoveTask, MoveTasks, NewMoveTask};
pub(crate) use queue::{
    DeadLetter, Delivery, Dropped, MovingStopped, NewMessage, Outcome, Queue, Receive, Sent, Wakeups,
};
pub use queue::{PeekedMessage, Visibility};
pub(crate) use redrive::RedrivePolicy;
pub use store::Counts;
pub(crate) use world::{Created, Page, World};

/// How strict a server is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Settings {
    /// No waiting between purges, nor before a deleted queue is created again.
    pub relaxed_timing: bool,
    /// Messages in flight per queue.
    pub max_in_flight: usize,
}

impl Default for Settings {
    /// As AWS.
    fn default() -> Self {
        Self { relaxed_timing: false, max_in_flight: sqs_client::limits::MAX_IN_FLIGHT }
    }
}
