//! SQS over HTTP, without sockets: one request in, one response out.
//!
//! ```text
//! request -> endpoint: action -> signature -> dispatch (faults) -> operation
//!                respond <----------------------------------------+
//! ```
//! The endpoint detects the protocol of each request and answers in it. It holds no lock and starts no task:
//! dropping its future drops the request, so an abandoned long poll takes no message.

mod dispatch;
mod endpoint;
mod faults;
mod metrics;
mod observer;
mod query_json;
mod queue_url;
mod respond;
mod unread;

pub(crate) use endpoint::Endpoint;
pub use queue_url::QueueUrlStyle;
pub(crate) use respond::{Style, answer, refuse};
