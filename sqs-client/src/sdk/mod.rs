//! [`observe`]: crate::observe
//! [`sqs_client::Client`]: crate::Client
//! [`sqs_client::Error`]: crate::Error
//! [output]: crate::Error::output
//!
#![doc = include_str!("../../docs/migration.md")]

#[macro_use]
pub mod error;
pub mod client;
pub mod config;
pub mod operation;
pub mod types;

pub use client::Client;
pub use config::Config;
pub use error::Error;

pub use crate::primitives;

/// Metadata about this crate.
pub mod meta {
    /// The version of this crate, not of aws-sdk-sqs.
    pub static PKG_VERSION: &str = env!("CARGO_PKG_VERSION");
}
