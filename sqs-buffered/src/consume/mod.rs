//! Messages to handlers: receives, leases, consumers.

mod consumer;
mod lease;
mod receive;

pub use consumer::{
    BackOff, Consumer, ConsumerBuilder, GroupPace, HandlerError, NoHandler, Outcome, ReadyConsumer, Report,
    WithHandler,
};
pub use lease::{Lease, LeaseOver};
pub use receive::{
    Event, ReceiveError, ReceiveErrorKind, ReceiveStats, Received, Receiver, ReceiverBuilder, Settled,
};
