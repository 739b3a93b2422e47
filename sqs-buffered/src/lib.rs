#![doc = include_str!("guide/links.md")]
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attempt;
mod client;
mod consume;
mod entry;
mod error;
pub mod guide;
mod lane;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(not(feature = "metrics"))]
#[expect(dead_code, unreachable_pub, reason = "it is public with the feature")]
mod metrics;
mod observe;
mod queue;
mod receive;
mod settings;
mod span;
mod time;
#[cfg(feature = "opentelemetry")]
pub mod trace_context;
#[cfg(not(feature = "opentelemetry"))]
#[path = "trace_context_off.rs"]
mod trace_context;

pub use client::BufferedClient;
pub use consume::batch::{BatchHandler, BatchOutcomes, IntoBatchOutcomes};
pub use consume::builder::{ConsumerBuilder, NoHandler, ReadyConsumer, WithHandler};
pub use consume::consumer::{Consumer, ConsumerHandle, Health, Report};
pub use consume::envelope::{EventBridge, InvalidBody, S3Event, S3Record, Sns};
pub use consume::extract::{
    FromMessage, FromRef, GroupId, Json, MessageAttributes, MessageContext, ReceiveCount, State,
};
pub use consume::handler::{Attempt, Blocking, Handler, IntoOutcome, blocking};
pub use consume::idempotent::{Begin, IdempotencyStore, Idempotent, MemoryStore, check_store};
pub use consume::lambda::LambdaHandler;
pub use consume::lines::GroupAdvance;
pub use consume::pool::{Concurrency, HandlerPool};
pub use consume::router::Router;
pub use consume::settle::{Failure, HandlerError, Outcome, Poison, dead_letter_after};
pub use entry::{Entry, Ticket};
pub use error::{BuildError, EnqueueError, ReceiveError, ReceiveErrorKind, SendError, SendErrorKind};
pub use lane::flush::Summary;
pub use lane::request::SendReceipt;
pub use observe::receives::{ReceiveEvent, ReceiveStats, Settled};
pub use observe::sends::{SendEvent, SendStats};
pub use queue::{BufferedQueue, QueueName};
pub use receive::back_off::BackOff;
pub use receive::delivery::Received;
pub use receive::lease::Lease;
pub use receive::lease_table::LeaseOver;
pub use receive::receiver::{Receiver, ReceiverBuilder};
pub use settings::{
    AfterFailure, BatchLimits, BufferedClientBuilder, DedupId, FifoOrdering, InFlight, Linger,
};
pub use sqs_client::lambda::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsRecord, SqsRecordAttribute};
pub use tokio_util::sync::CancellationToken;
