// The README links to files of the repository. In rustdoc these definitions come first, so they replace those links.
//! [formats]: crate::guide::formats
//! [streaming]: crate::guide::streaming
//! [stores]: crate::guide::stores
//! [integrity]: crate::guide::integrity
//! [failures]: crate::guide::failures
//! [cleaning up]: crate::guide::cleaning_up
//! [permissions]: crate::guide::permissions
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod budget;
mod cleanup;
/// Guides: one page for each topic.
// As above, the link definitions of rustdoc come first, so they replace those of the pages.
pub mod guide {
    #[doc = include_str!("../docs/cleaning-up.md")]
    pub mod cleaning_up {}
    #[doc = "[permissions]: crate::guide::permissions\n[integrity]: crate::guide::integrity\n[streaming]: crate::guide::streaming\n"]
    #[doc = include_str!("../docs/failures.md")]
    pub mod failures {}
    #[doc = "[cleaning up]: crate::guide::cleaning_up\n"]
    #[doc = include_str!("../docs/formats.md")]
    pub mod formats {}
    #[doc = "[permissions]: crate::guide::permissions\n[stores]: crate::guide::stores\n"]
    #[doc = include_str!("../docs/integrity.md")]
    pub mod integrity {}
    #[doc = include_str!("../docs/permissions.md")]
    pub mod permissions {}
    #[doc = "[lifecycle rule]: crate::guide::cleaning_up\n"]
    #[doc = include_str!("../docs/stores.md")]
    pub mod stores {}
    #[doc = include_str!("../docs/streaming.md")]
    pub mod streaming {}
}
mod client;
mod config;
mod delete;
mod digest;
mod error;
mod event;
mod format;
mod operations;
mod payload;
mod pointer;
mod queue_attributes;
mod receive;
mod send;
mod stats;
mod store;
mod sweep;

use sqs_client::random;

pub use client::{ExtendedClient, ExtendedClientBuilder};
pub use config::{MissingObject, Threshold};
pub use error::{Error, ErrorKind};
pub use event::Event;
pub use format::{Compat, ExtendedHandle, PayloadRef, PointerClass};
pub use payload::{Body, DEFAULT_MAX_LENGTH, Payload, Progress};
pub use pointer::Pointer;
pub use receive::{BodyStream, ExtendedMessage, MessagePayload, Receive};
pub use send::{SendStream, StreamSent};
pub use stats::Stats;
#[cfg(feature = "object_store")]
pub use store::ObjectStoreAdapter;
pub use store::memory::{MemoryStore, StoreCall, StoreCalls, StoreFault};
pub use store::{ByteStream, Listed, Object, ObjectPage, PayloadStore, StoreFuture, Upload, UploadBody};
#[cfg(feature = "s3")]
pub use store::{Checksum, Encryption, S3Access, S3Store, S3StoreBuilder};
pub use sweep::{SWEEP_MARGIN, Sweep, SweepProgress, SweepReport};
