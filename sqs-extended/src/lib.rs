// The README's links lead to files of the repository; here the first definition of a link counts.
//! [`Body`]: crate::Body
//! [`BodyStream`]: crate::BodyStream
//! [`Compat`]: crate::Compat
//! [`Error`]: crate::Error
//! [`ErrorKind`]: crate::ErrorKind
//! [`Event`]: crate::Event
//! [`ExtendedClient`]: crate::ExtendedClient
//! [`ExtendedClientBuilder`]: crate::ExtendedClientBuilder
//! [`ExtendedHandle`]: crate::ExtendedHandle
//! [`ExtendedMessage`]: crate::ExtendedMessage
//! [`MemoryStore`]: crate::MemoryStore
//! [`MessagePayload`]: crate::MessagePayload
//! [`MissingObject`]: crate::MissingObject
//! [`Payload`]: crate::Payload
//! [`PayloadStore`]: crate::PayloadStore
//! [`Pointer`]: crate::Pointer
//! [`Receive`]: crate::Receive
//! [`SendStream`]: crate::SendStream
//! [`Stats`]: crate::Stats
//! [`Sweep`]: crate::Sweep
//! [`Threshold`]: crate::Threshold

#![doc = include_str!("../README.md")]

mod cleanup;
mod client;
mod config;
mod digest;
mod error;
mod event;
mod handle;
mod key;
mod offload;
mod payload;
mod pointer;
mod queue_attributes;
mod receive;
mod settle;
mod stats;
mod store;
mod sweep;

use sqs_client::random;

pub use client::ExtendedClient;
pub use config::{Compat, ExtendedClientBuilder, MissingObject, Threshold};
pub use error::{Error, ErrorKind};
pub use event::Event;
pub use handle::ExtendedHandle;
pub use offload::{SendStream, StreamSent};
pub use payload::{Body, DEFAULT_MAX_LENGTH, Payload, Progress};
pub use pointer::{Pointer, PointerClass};
pub use receive::{BodyStream, ExtendedMessage, MessagePayload, PayloadRef, Receive};
pub use stats::Stats;
#[cfg(feature = "object_store")]
pub use store::ObjectStoreAdapter;
pub use store::memory::{MemoryStore, StoreCall, StoreCalls, StoreFault};
pub use store::{ByteStream, Listed, Object, ObjectPage, PayloadStore, StoreFuture, Upload, UploadBody};
#[cfg(feature = "s3")]
pub use store::{Checksum, Encryption, S3Access, S3Store, S3StoreBuilder};
pub use sweep::{SWEEP_MARGIN, Sweep, SweepProgress, SweepReport};
