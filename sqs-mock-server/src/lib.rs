#![doc = include_str!("../README.md")]

pub mod clock;
mod config;
mod engine;
pub mod faults;
mod http;
mod mock;
mod ops;
mod seed;

pub use crate::http::{InProcess, Limits, QueueUrlStyle};
pub use crate::mock::{MockSqs, MockSqsBuilder, QueueView};

/// What [`QueueView`] shows.
pub mod inspect {
    pub use crate::engine::{Counts, Payload, PeekedMessage, QueueArn, SequenceNumber, Visibility};
    pub use crate::seed::Uuid;
}
