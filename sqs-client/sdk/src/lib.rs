// The README links to files of the repository. In rustdoc these definitions come first, so they replace those links.
//! [sqs-client]: sqs_client
//! [figures]: https://docs.rs/sqs-client
//! [one program]: https://docs.rs/sqs-client
//! [aws-sdk]: https://docs.rs/sqs-client
//! [`observe`]: sqs_client::observe
//! [`sqs_client::Client`]: sqs_client::Client
//! [`sqs_client::Error`]: sqs_client::Error
//! [output]: sqs_client::Error::output
//!
#![doc = include_str!("../README.md")]

pub mod client;
pub mod config;
pub mod error;
pub mod operation;

pub use client::Client;
pub use config::Config;
pub use error::Error;

pub use sqs_client::primitives;

/// Metadata about this crate.
pub mod meta {
    /// The version of this crate, not of aws-sdk-sqs.
    pub static PKG_VERSION: &str = env!("CARGO_PKG_VERSION");
}

/// The shapes and errors of the service, at the same paths as in aws-sdk-sqs. The shapes are those of [`sqs_client::types`].
pub mod types {
    pub use sqs_client::types::{
        BatchResultErrorEntry, ChangeMessageVisibilityBatchRequestEntry,
        ChangeMessageVisibilityBatchResultEntry, DeleteMessageBatchRequestEntry,
        DeleteMessageBatchResultEntry, ListMessageMoveTasksResultEntry, Message, MessageAttributeValue,
        MessageSystemAttributeName, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
        QueueAttributeName, SendMessageBatchRequestEntry, SendMessageBatchResultEntry, builders,
    };

    /// The errors of the service model.
    pub mod error {
        pub use crate::error::shapes::*;
    }
}
