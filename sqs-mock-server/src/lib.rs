// The README's links lead to files of the repository; here the first definition of a link counts.
//! [`InProcess`]: crate::InProcess
//! [`Limits`]: crate::Limits
//! [`MockSqs`]: crate::MockSqs
//! [`MockSqsBuilder`]: crate::MockSqsBuilder
//! [`QueueView`]: crate::QueueView
//! [`Requests`]: crate::Requests
//! [`Unmet`]: crate::Unmet
//! [`Verification`]: crate::Verification
//! [`clock`]: crate::clock
//! [`faults`]: crate::faults
//! [`inspect`]: crate::inspect

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

/// What [`QueueView`], [`Requests`] and [`Verification`] show: messages as they lie in a queue, requests as they came, and what
/// a test has left behind.
///
/// Import from here where a signature names these types; looking itself needs no import.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use sqs_mock_server::MockSqs;
/// # let server = MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_mock_server::inspect::{PeekedMessage, Visibility};
///
/// fn is_hidden(message: &PeekedMessage) -> bool {
///     matches!(message.visibility, Visibility::InFlightUntil(_))
/// }
///
/// client.send_message().queue_url(&url).message_body("tea").send().await?;
/// client.receive_message().queue_url(&url).send().await?;
/// assert!(server.queue("orders").messages().iter().all(is_hidden));
/// # Ok(())
/// # }
/// ```
pub mod inspect {
    pub use crate::engine::{
        Counts, Payload, PeekedMessage, QueueArn, QueueDescription, SequenceNumber, Visibility, WhyEmpty,
    };
    pub use crate::journal::{Ending, NotThisInput, RecordedRequest, Times};
    pub use crate::mock::{Leftover, LeftoverKind, Leftovers};
    pub use crate::seed::Uuid;
}
