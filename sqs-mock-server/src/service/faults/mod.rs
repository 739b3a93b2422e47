//! Failures on demand: which requests go wrong, how, and how often.
//!
//! ```text
//! request -> rules, in the order of their injection -> plan -> latency -> apply (some entries fail) -> ending
//!              filter, then count and chance                                                          |
//!                                         whole answer | corrupted | truncated | lost, the connection with it
//! ```
//! Rules take effect in the order in which they were injected. Latencies add up; of all else that decides about the
//! whole request, the first rule wins and later ones do not count it. Entries of a batch fail one by one.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use sqs_client::operation::Action;
//! use sqs_mock_server::MockSqs;
//! use sqs_mock_server::faults::Fault;
//!
//! let server = MockSqs::in_process();
//! let client = server.client();
//! let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
//!
//! // The first answer is lost: the message was stored, and the client, which cannot know, sends it again.
//! let lost = server.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
//! client.send_message().queue_url(&url).message_body("tea").send().await?;
//! assert_eq!(lost.hits(), 1);
//! assert_eq!(server.queue("orders").bodies(), ["tea", "tea"]);
//! # Ok(())
//! # }
//! ```

mod effect;
mod fault;
mod filter;
mod plan;
mod registry;
mod request;
#[cfg(feature = "s3")]
mod s3;
mod shown;
mod spec;
#[cfg(feature = "s3")]
mod spec_s3;
mod target;

pub(crate) use effect::Ending;
pub use fault::Fault;
pub(crate) use fault::name_of;
pub(crate) use plan::{FailedEntry, Plan, Unapplied};
pub use registry::{Faults, InjectedFault};
pub use request::{Entry, Request};
#[cfg(feature = "s3")]
pub(crate) use s3::{S3Plan, S3Target, S3Unapplied};
pub use spec::InvalidFault;
pub(crate) use target::Target;

#[cfg(test)]
mod tests;
