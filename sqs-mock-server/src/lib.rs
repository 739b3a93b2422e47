#![doc = include_str!("../README.md")]

pub mod clock;
mod config;
mod engine;
pub mod faults;
mod http;
mod journal;
mod mock;
mod ops;
#[cfg(feature = "s3")]
pub mod s3;
mod seed;
mod table;

pub use crate::engine::DeliveryMode;
pub use crate::http::{InProcess, Limits, QueueUrlStyle};
pub use crate::journal::Requests;
pub use crate::mock::{MockSqs, MockSqsBuilder, QueueView, Unmet, Verification};
mod stopwatch;

#[cfg(feature = "config-file")]
pub use crate::config::{Auth, ByteSize, ConfigFile, LogFormat, NotASize, Secret};

#[cfg(all(feature = "config-file", feature = "s3"))]
pub use crate::config::S3Section;

/// What [`QueueView`] and [`Requests`] show.
pub mod inspect {
    pub use crate::engine::{
        Counts, Payload, PeekedMessage, QueueArn, QueueDescription, SequenceNumber, Visibility, WhyEmpty,
    };
    pub use crate::journal::{Ending, NotThisInput, RecordedRequest, Times};
    pub use crate::mock::{Leftover, LeftoverKind, Leftovers};
    pub use crate::seed::Uuid;
}
