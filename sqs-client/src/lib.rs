#![doc = include_str!("../README.md")]

pub mod checksum;
pub mod client;
pub mod config;
mod credentials;
pub mod endpoint;
pub mod error;
mod hex;
pub mod limits;
pub mod observe;
pub mod operation;
pub mod protocol;
#[doc(hidden)]
pub mod random;
mod retry;
pub mod service_error;
pub mod sign;
pub mod time;
pub mod transport;
pub mod types;
pub mod validate;

pub use client::Client;
pub use config::Config;
pub use error::{Error, ErrorKind};

/// Plain values, the types of the AWS SDK.
pub mod primitives {
    pub use aws_smithy_types::date_time::Format as DateTimeFormat;
    pub use aws_smithy_types::{Blob, DateTime};
}
