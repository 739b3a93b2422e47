//! Fault injection: which requests fail, how, and how often.
//!
//! ```text
//! request -> rules, in the order of injection: filter, skip, rate, chance -> plan -> the service applies it:
//!            latency -> rejection | operation (some entries fail) -> response: whole, corrupted, truncated or lost
//! ```
//! Rules apply in the order of their injection. Latencies add up. Of all rules that reject a request or damage its
//! response, the first one applies; the later ones do not count it. Entries of a batch fail one by one.
//!
//! This module does not know how a service encodes requests and responses: each service describes its requests as a
//! [`Request`] and carries out the plan.
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
//! // The first response is lost: the message is stored, and the client retries.
//! let lost = server.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
//! client.send_message().queue_url(&url).message_body("tea").send().await?;
//! assert_eq!(lost.hits(), 1);
//! assert_eq!(server.queue("orders").bodies(), ["tea", "tea"]);
//! # Ok(())
//! # }
//! ```

mod effect;
mod fault;
mod json;
mod plan;
mod registry;
mod request;

pub use super::operation::ServiceName;
pub use super::operation::SnsAction;
pub use super::resource::Resource;
pub(crate) use effect::Damage;
pub use fault::Fault;
pub use json::InvalidFault;
pub(crate) use plan::Plan;
pub(crate) use plan::{FailingEntry, Failure, Rejection};
pub(crate) use registry::Rule;
pub use registry::{Faults, InjectedFault};
pub use request::{Entry, Request};

#[cfg(test)]
mod tests;
