#![doc = include_str!("guide/links.md")]
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cleaner;
mod client;
mod delete;
mod error;
mod format;
pub mod guide;
mod observe;
mod payload;
mod queue_attributes;
mod receive;
mod send;
mod settings;
mod store;

pub use client::ExtendedClient;
pub use error::{Error, ErrorKind};
pub use format::message::PayloadRef;
pub use format::pointer::{Compat, ExtendedHandle, MAX_PAYLOAD_BYTES, Pointer, PointerClass};
pub use observe::{Event, Stats};
pub use payload::body::Body;
pub use payload::checks::Progress;
pub use payload::upload::Payload;
pub use receive::{BodyStream, ExtendedMessage, MessagePayload, Receive};
pub use send::{SendStream, StreamSent};
pub use settings::{ExtendedClientBuilder, Threshold};
pub use sqs_client::client::Unopened;
pub use store::memory::MemoryStore;
pub use store::multipart::{MultipartStore, Part, Parts};
#[cfg(feature = "object_store")]
pub use store::object_store::ObjectStoreAdapter;
#[cfg(feature = "s3")]
pub use store::s3::settings::{Encryption, S3Access, S3StoreBuilder};
#[cfg(feature = "s3")]
pub use store::s3::{Checksum, S3Store};
pub use store::{ByteStream, Object, PayloadStore, StoreFuture, Upload, UploadBody};
