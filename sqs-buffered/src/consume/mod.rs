//! Messages to handlers.
//!
//! ```text
//! consumer   runs handlers and carries out their outcomes
//!    |
//! handler    the user's function, with its parameters            pool     limits running handlers
//!    |
//! receive    receives messages, and delivers them
//!    |
//! lease      renews leases, and releases dropped messages        credit   limits held messages
//!    |
//! observe    counts, logs, calls the user's hook
//! ```

mod back_off;
mod consumer;
mod credit;
mod handler;
mod idempotent;
mod lambda;
mod lease;
mod observe;
mod outcome;
mod pool;
mod receive;
mod source;
mod stop;

pub use back_off::BackOff;
pub use consumer::{
    Consumer, ConsumerBuilder, ConsumerHandle, GroupAdvance, NoHandler, ReadyConsumer, Report, WithHandler,
};
pub use handler::{
    Attempt, BatchHandler, BatchOutcomes, FromMessage, FromRef, GroupId, Handler, IntoBatchOutcomes,
    IntoOutcome, Json, MessageAttributes, MessageContext, ReceiveCount, State,
};
pub use idempotent::{Begin, IdempotencyStore, Idempotent, MemoryStore};
pub use lambda::LambdaHandler;
pub use lease::{Lease, LeaseOver};
pub use observe::{Event, ReceiveStats, Settled};
pub use outcome::{HandlerError, Outcome};
pub use pool::{Concurrency, HandlerPool};
pub use receive::{ReceiveError, ReceiveErrorKind, Received, Receiver, ReceiverBuilder};
