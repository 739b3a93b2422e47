// The README links to files of the repository. In rustdoc these definitions come first, so they replace those links.
//! [`BufferedClient`]: crate::BufferedClient
//! [`Consumer`]: crate::Consumer
//! [`Receiver`]: crate::Receiver
//! [producing]: crate::guide::producing
//! [ordering]: crate::guide::ordering_and_fifo
//! [failures]: crate::guide::failures
//! [consuming]: crate::guide::consuming
//! [leases]: crate::guide::leases
//! [idempotency]: crate::guide::idempotency
//! [tuning]: crate::guide::tuning
//! [lambda]: crate::guide::lambda
//! [observability]: crate::guide::observability
//! [permissions]: crate::guide::permissions
//! [sqs-consumer]: crate::guide::moving_from_sqs_consumer
//! [Spring Cloud AWS]: crate::guide::moving_from_spring_cloud_aws
//! [Celery]: crate::guide::moving_from_celery
//! [sqs-extended]: https://docs.rs/sqs-extended
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attempt;
mod client;
mod consume;
mod entry;
mod error;
/// Guides: one page for each topic.
// As above, the link definitions of rustdoc come first, so they replace those of the pages.
pub mod guide {
    #[doc = "[idempotency]: crate::guide::idempotency\n[leases]: crate::guide::leases\n[ordering]: crate::guide::ordering_and_fifo\n"]
    #[doc = include_str!("../docs/consuming.md")]
    pub mod consuming {}
    #[doc = "[consuming]: crate::guide::consuming\n[ordering]: crate::guide::ordering_and_fifo\n"]
    #[doc = include_str!("../docs/failures.md")]
    pub mod failures {}
    #[doc = "[consuming]: crate::guide::consuming\n"]
    #[doc = include_str!("../docs/idempotency.md")]
    pub mod idempotency {}
    #[doc = "[consuming]: crate::guide::consuming\n"]
    #[doc = include_str!("../docs/lambda.md")]
    pub mod lambda {}
    #[doc = "[idempotency]: crate::guide::idempotency\n"]
    #[doc = include_str!("../docs/leases.md")]
    pub mod leases {}
    #[doc = include_str!("../docs/moving-from-celery.md")]
    pub mod moving_from_celery {}
    #[doc = "[idempotency]: crate::guide::idempotency\n[ordering]: crate::guide::ordering_and_fifo\n"]
    #[doc = include_str!("../docs/moving-from-spring-cloud-aws.md")]
    pub mod moving_from_spring_cloud_aws {}
    #[doc = include_str!("../docs/moving-from-sqs-consumer.md")]
    pub mod moving_from_sqs_consumer {}
    #[doc = include_str!("../docs/observability.md")]
    pub mod observability {}
    #[doc = "[consuming]: crate::guide::consuming\n"]
    #[doc = "[permissions]: crate::guide::permissions\n"]
    #[doc = include_str!("../docs/ordering-and-fifo.md")]
    pub mod ordering_and_fifo {}
    #[doc = include_str!("../docs/permissions.md")]
    pub mod permissions {}
    #[doc = "[failures]: crate::guide::failures\n"]
    #[doc = include_str!("../docs/producing.md")]
    pub mod producing {}
    #[doc = "[leases]: crate::guide::leases\n[observability]: crate::guide::observability\n[ordering]: crate::guide::ordering_and_fifo\n"]
    #[doc = include_str!("../docs/tuning.md")]
    pub mod tuning {}
}
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
pub use observe::receives::{Event, ReceiveStats, Settled};
pub use observe::sends::{SendEvent, Stats};
pub use queue::{BufferedQueue, QueueName};
pub use receive::back_off::BackOff;
pub use receive::delivery::Received;
pub use receive::lease::Lease;
pub use receive::lease_table::LeaseOver;
pub use receive::receiver::{Receiver, ReceiverBuilder};
pub use settings::{AfterFailure, BatchLimits, Builder, DedupId, FifoOrdering, InFlight, Linger};
pub use sqs_client::lambda::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsRecord, SqsRecordAttribute};
pub use tokio_util::sync::CancellationToken;
