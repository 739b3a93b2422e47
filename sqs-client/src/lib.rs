// The README links to files of the repository. In rustdoc these definitions come first, so they replace those links.
//! [credentials]: crate::guide::credentials
//! [retries and timeouts]: crate::guide::retries_and_timeouts
//! [errors]: crate::guide::errors
//! [checksums]: crate::guide::checksums
//! [protocols]: crate::guide::protocols
//! [transports]: crate::guide::transports
//! [testing]: crate::guide::testing
//! [`observe`]: crate::observe
//! [sqs-buffered]: https://docs.rs/sqs-buffered
//! [sqs-extended]: https://docs.rs/sqs-extended
//! [migration]: https://docs.rs/sqs-sdk
#![cfg_attr(feature = "aws-sdk-sqs", doc = "[aws-sdk]: crate::guide::aws_sdk")]
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(feature = "__rustls"))))]

#[cfg(feature = "aws-sdk-sqs")]
mod aws_sdk;
pub mod client;
pub mod config;
mod credentials;
mod endpoint;
pub mod error;
/// Guides: one page for each topic.
// As above, the link definitions of rustdoc come first, so they replace those of the pages.
pub mod guide {
    #[cfg(feature = "aws-sdk-sqs")]
    #[doc = "[`Queue`]: crate::client::Queue\n"]
    #[doc = include_str!("../docs/aws-sdk.md")]
    pub mod aws_sdk {}
    #[doc = "[`ChecksumPolicy`]: crate::config::ChecksumPolicy\n"]
    #[doc = include_str!("../docs/checksums.md")]
    pub mod checksums {}
    #[doc = include_str!("../docs/credentials.md")]
    pub mod credentials {}
    #[doc = "[`Error`]: crate::Error\n[credentials]: crate::guide::credentials"]
    #[doc = "[checksums]: crate::guide::checksums\n[retries]: crate::guide::retries_and_timeouts\n"]
    #[doc = include_str!("../docs/errors.md")]
    pub mod errors {}
    #[doc = "[checksums]: crate::guide::checksums\n"]
    #[doc = include_str!("../docs/protocols.md")]
    pub mod protocols {}
    #[doc = "[`DeduplicationIds::Generate`]: crate::config::DeduplicationIds::Generate\n"]
    #[doc = include_str!("../docs/retries-and-timeouts.md")]
    pub mod retries_and_timeouts {}
    #[doc = "[`Client`]: crate::Client\n[`Execute`]: crate::client::Execute"]
    #[doc = "[`Transport`]: crate::transport::Transport\n"]
    #[doc = include_str!("../docs/testing.md")]
    pub mod testing {}
    #[doc = include_str!("../docs/transports.md")]
    pub mod transports {}
}
pub mod lambda;
pub mod observe;
pub mod operation;
#[doc(hidden)]
pub mod random;
mod retry;
mod settings;
pub mod time;
pub mod transport;
pub mod wire;

pub use client::Client;
pub use config::Config;
pub use error::{Error, ErrorKind};
pub use wire::types;

/// Types of the AWS SDK: the bytes of binary attributes ([`Blob`](primitives::Blob)), and points in time.
pub mod primitives {
    pub use aws_smithy_types::date_time::Format as DateTimeFormat;
    pub use aws_smithy_types::{Blob, DateTime};
}
