//! HTTP for all services: sockets and their bounds, request bodies, what browsers may do, and replies that faults damage.
//!
//! ```text
//! socket -> patience -> server (accept, limits) -> site -> intake -> body
//! ```
//! [`guard`] decides what browsers may do.

mod body;
mod cors;
mod guard;
mod intake;
mod limits;
mod outgoing;
mod patience;
mod reply;
mod server;

pub(crate) use body::BodyError;
#[cfg(feature = "s3")]
pub(crate) use cors::allow_reading;
pub(crate) use guard::{Guard, is_host, is_origin, name_of};
pub(crate) use intake::{Admitted, Intake};
pub use limits::Limits;
pub(crate) use outgoing::{Break, Outgoing, Part};
pub(crate) use reply::Reply;
pub(crate) use server::{Server, Site};
