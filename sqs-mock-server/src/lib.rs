#![doc = include_str!("../README.md")]

pub mod clock;
mod config;
mod engine;
mod http;
mod mock;
mod ops;
mod seed;

pub use crate::engine::DeliveryMode;
pub use crate::http::{InProcess, Limits};
pub use crate::mock::{MockSqs, MockSqsBuilder, QueueView};

/// What [`QueueView`] shows.
pub mod inspect {
    pub use crate::engine::{Counts, Payload, PeekedMessage, QueueArn, SequenceNumber, Visibility};
    pub use crate::seed::Uuid;
}
