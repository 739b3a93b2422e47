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

pub mod attributes;
pub mod move_task;
pub mod policy;
pub mod queue;
pub mod redrive;
pub mod world;

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
mod refusal;
mod slab;
mod standard;
mod store;
mod timers;

pub use arn::{NotAQueueArn, QueueArn, is_fifo_name};
pub use attributes::Attributes;
pub use message::{Payload, SequenceNumber};
pub use move_task::{FailureReason, MoveStatus, MoveStep, MoveTask, MoveTasks, NewMoveTask};
pub use policy::Policy;
pub use queue::{
    DeadLetter, Delivery, Dropped, Moving, MovingStopped, NewMessage, NewQueue, Outcome, PeekedMessage,
    Queue, Receive, Received, Sent, Visibility, Wakeups,
};
pub use redrive::{RedriveAllowPolicy, RedrivePolicy};
pub use store::Counts;
pub use world::{Created, Page, World};

/// How strict a server is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Settings {
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
