#![doc = include_str!("guide/links.md")]
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod admin;
mod config;
mod control;
#[cfg(any(feature = "cli", feature = "explore"))]
pub mod explore;
mod front;
pub mod guide;
mod http;
mod mock;
mod outgoing;
mod query;
mod router;
#[cfg(feature = "s3")]
pub mod s3;
mod services;
mod sns;
mod sqs;
#[cfg(feature = "durable")]
mod store;
mod sts;
mod triggers;

// For the binary.
#[doc(hidden)]
pub use crate::config::units::{ByteSize, NotASize};
pub use crate::config::{Auth, Compat, Config, LogFormat};
pub use crate::control::caller::Secret;
pub use crate::control::policies::Policies;
pub use crate::control::{clock, faults};
pub use crate::http::body::Limits;
#[cfg(feature = "tls")]
pub use crate::http::tls::Tls;
pub use crate::mock::MockSqs;
pub use crate::mock::builder::MockSqsBuilder;
pub use crate::mock::queue::{QueueView, Unmet};
pub use crate::mock::topics::{PublishMessage, TopicView};
pub use crate::mock::verification::Verification;
pub use crate::router::InProcess;
pub use crate::sqs::engine::DeliveryMode;
pub use crate::sqs::engine::throughput::{QuotaScope, ThroughputQuotas};
pub use crate::sqs::journal::Requests;
pub use crate::sqs::queue_url::QueueUrlStyle;
#[cfg(feature = "durable")]
pub use crate::store::{Data, Durability};
pub use crate::triggers::Trigger;

/// Types that [`QueueView`], [`Requests`] and [`Verification`] return: messages in a queue, recorded requests and
/// leftover messages.
///
/// Import them to name them in signatures.
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
    pub use crate::control::arn::{NotAQueueArn, QueueArn, TopicArn};
    pub use crate::control::journal::Ending;
    pub use crate::control::seed::Uuid;
    pub use crate::mock::verification::{Leftover, LeftoverKind, Leftovers};
    pub use crate::outgoing::log::{OutgoingKind, OutgoingRequest};
    pub use crate::query::QueryRequest;
    pub use crate::sns::inspect::{PublishedMessage, SubscriptionDescription};
    pub use crate::sqs::engine::inspect::{PeekedMessage, QueueDescription, Visibility, WhyEmpty};
    pub use crate::sqs::engine::messages::{Counts, Payload, SequenceNumber};
    pub use crate::sqs::findings::{Finding, FindingKind};
    pub use crate::sqs::journal::{NotThisInput, RecordedRequest, Times};
    pub use crate::triggers::TriggerDescription;
}
