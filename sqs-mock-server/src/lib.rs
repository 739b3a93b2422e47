#![doc = include_str!("../README.md")]

pub mod clock;
mod config;
// Public for benchmarks and fuzzing; no promise of stability.
#[doc(hidden)]
pub mod engine;
mod http;
mod mock;
mod ops;
#[doc(hidden)]
pub mod seed;

pub use crate::http::{InProcess, Limits};
pub use crate::mock::{MockSqs, MockSqsBuilder, QueueView};

/// What [`QueueView`] shows.
pub mod inspect {
    pub use crate::engine::{Counts, Payload, PeekedMessage, QueueArn, SequenceNumber, Visibility};
    pub use crate::seed::Uuid;
}
