// The README's links lead to files of the repository; here the first definition of a link counts.
//! [`AfterFailure`]: crate::AfterFailure
//! [`BackOff`]: crate::BackOff
//! [`BatchLimits`]: crate::BatchLimits
//! [`BufferedClient`]: crate::BufferedClient
//! [`Builder`]: crate::Builder
//! [`Concurrency`]: crate::Concurrency
//! [`Consumer`]: crate::Consumer
//! [`ConsumerBuilder`]: crate::ConsumerBuilder
//! [`DedupId`]: crate::DedupId
//! [`EnqueueError`]: crate::EnqueueError
//! [`Entry`]: crate::Entry
//! [`Event`]: crate::Event
//! [`FifoOrdering`]: crate::FifoOrdering
//! [`GroupAdvance`]: crate::GroupAdvance
//! [`HandlerPool`]: crate::HandlerPool
//! [`InFlight`]: crate::InFlight
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

mod claims;
mod consume;
mod meter;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(not(feature = "metrics"))]
#[expect(dead_code, unreachable_pub, reason = "it is public with the feature")]
mod metrics;
mod panicked;
mod passing;
mod produce;
mod span;
mod time;
#[cfg(feature = "opentelemetry")]
pub mod trace_context;
#[cfg(not(feature = "opentelemetry"))]
#[path = "trace_context/off.rs"]
mod trace_context;

use sqs_client::random;

pub use consume::{
    Attempt, BackOff, BatchHandler, BatchItemFailure, BatchOutcomes, Begin, Concurrency, Consumer,
    ConsumerBuilder, ConsumerHandle, Event, FromMessage, FromRef, GroupAdvance, GroupId, Handler,
    HandlerError, HandlerPool, IdempotencyStore, Idempotent, IntoBatchOutcomes, IntoOutcome, Json,
    LambdaHandler, Lease, LeaseOver, MemoryStore, MessageAttributes, MessageContext, NoHandler, Outcome,
    ReadyConsumer, ReceiveCount, ReceiveError, ReceiveErrorKind, ReceiveStats, Received, Receiver,
    ReceiverBuilder, Report, Settled, SqsBatchResponse, SqsEvent, SqsRecord, SqsRecordAttribute, State,
    WithHandler,
};
pub use produce::{
    AfterFailure, BatchLimits, BufferedClient, BuildError, Builder, DedupId, EnqueueError, Entry,
    FifoOrdering, InFlight, Linger, SendError, SendErrorKind, SendEvent, SendReceipt, Stats, Summary, Ticket,
};
