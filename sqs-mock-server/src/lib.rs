#![doc = include_str!("../README.md")]

pub mod clock;
mod config;
mod engine;
mod http;
mod mock;
mod ops;
mod seed;
mod table;

pub use crate::http::{InProcess, Limits};
pub use crate::mock::{MockSqs, MockSqsBuilder, QueueView, Unmet};

/// What [`QueueView`] shows.
pub mod inspect {
    pub use crate::engine::{
        Counts, Payload, PeekedMessage, QueueArn, QueueDescription, SequenceNumber, Visibility, WhyEmpty,
    };
    pub use crate::seed::Uuid;
}
