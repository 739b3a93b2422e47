// The README's links lead to files of the repository; here the first definition of a link counts.
//! [`AfterFailure`]: crate::AfterFailure
//! [`BackOff`]: crate::BackOff
//! [`BatchLimits`]: crate::BatchLimits
//! [`BufferedClient`]: crate::BufferedClient
//! [`Builder`]: crate::Builder
//! [`Consumer`]: crate::Consumer
//! [`ConsumerBuilder`]: crate::ConsumerBuilder
//! [`DedupId`]: crate::DedupId
//! [`EnqueueError`]: crate::EnqueueError
//! [`Entry`]: crate::Entry
//! [`Event`]: crate::Event
//! [`FifoOrdering`]: crate::FifoOrdering
//! [`GroupPace`]: crate::GroupPace
//! [`Lease`]: crate::Lease
//! [`Linger`]: crate::Linger
//! [`Outcome`]: crate::Outcome
//! [`Received`]: crate::Received
//! [`ReceiveStats`]: crate::ReceiveStats
//! [`Receiver`]: crate::Receiver
//! [`Report`]: crate::Report
//! [`SendError`]: crate::SendError
//! [`SendErrorKind`]: crate::SendErrorKind
//! [`SendEvent`]: crate::SendEvent
//! [`Stats`]: crate::Stats
//! [`Summary`]: crate::Summary
//! [`Ticket`]: crate::Ticket

#![doc = include_str!("../README.md")]

mod admission;
mod batch;
mod channel;
mod client;
mod consumer;
mod content_ids;
mod entry;
mod error;
mod event;
mod kind;
mod lane;
mod lease;
mod panicked;
mod passing;
mod receive;
mod request;
mod settings;
mod span;
mod stats;
mod summary;
mod ticket;
mod time;
mod under_way;
mod worker;

use sqs_client::random;

pub use batch::BatchLimits;
pub use client::{BufferedClient, BuildError, Builder, EnqueueError};
pub use consumer::{
    BackOff, Consumer, ConsumerBuilder, GroupPace, HandlerError, NoHandler, Outcome, ReadyConsumer, Report,
    WithHandler,
};
pub use entry::Entry;
pub use error::{SendError, SendErrorKind};
pub use event::SendEvent;
pub use kind::SendReceipt;
pub use lane::{AfterFailure, FifoOrdering, Linger};
pub use lease::{Lease, LeaseOver};
pub use receive::{
    Event, ReceiveError, ReceiveErrorKind, ReceiveStats, Received, Receiver, ReceiverBuilder, Settled,
};
pub use settings::DedupId;
pub use stats::Stats;
pub use summary::Summary;
pub use ticket::Ticket;
