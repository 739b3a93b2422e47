#![cfg_attr(feature = "aws-sdk-sqs", doc = "[aws-sdk]: crate::guide::aws_sdk\n")]
#![doc = include_str!("guide/links.md")]
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(feature = "__rustls"))))]

#[cfg(feature = "aws-sdk-sqs")]
mod aws_sdk;
pub mod client;
pub mod config;
mod credentials;
mod endpoint;
pub mod error;
pub mod guide;
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
