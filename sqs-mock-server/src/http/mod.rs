//! The HTTP layer: one transport-free core, and a server of sockets round it.
//!
//! ```text
//! socket -> patience -> server (accept, limits) -> router -> intake -> body --+
//!                                                                            +-> endpoint: call -> auth -> dispatch -> ops
//! in-process transport ------------------------------------------------------+              respond <-
//! ```
//!
//! Paths that are none of SQS, such as `/health`, the endpoint leaves to [`admin`]. [`guard`] decides what browsers may do.
//!
//! The endpoint detects the protocol of each request and answers in it. It holds no lock and starts no task:
//! dropping its future drops the request, so an abandoned long poll takes no message.

mod admin;
mod auth;
mod body;
mod call;
mod caller;
mod context;
mod cors;
mod dispatch;
mod endpoint;
mod guard;
mod in_process;
mod intake;
mod limits;
mod metrics;
mod outgoing;
mod patience;
mod query_json;
mod queue_url;
mod reply;
mod respond;
mod router;
mod server;
mod unread;
mod witness;

pub(crate) use auth::Keys;
pub(crate) use caller::is_region;
#[cfg(feature = "s3")]
pub(crate) use cors::allow_reading;
pub(crate) use endpoint::{Endpoint, Names};
pub(crate) use guard::{AdminToken, Guard, is_host, is_origin, name_of};
pub use in_process::InProcess;
pub use limits::Limits;
#[cfg(feature = "s3")]
pub(crate) use outgoing::Break;
pub use queue_url::QueueUrlStyle;
pub(crate) use router::Router;
pub(crate) use server::Server;
#[cfg(feature = "s3")]
pub(crate) use server::Site;
