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

mod cleaner;
/// Guides: one page for each topic.
// As above, the link definitions of rustdoc come first, so they replace those of the pages.
pub mod guide {
    #[doc = include_str!("../docs/cleaning-up.md")]
    pub mod cleaning_up {}
    #[doc = "[permissions]: crate::guide::permissions\n[integrity]: crate::guide::integrity\n[streaming]: crate::guide::streaming\n[lifecycle rule]: crate::guide::cleaning_up\n"]
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
mod delete;
mod error;
mod format;
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
