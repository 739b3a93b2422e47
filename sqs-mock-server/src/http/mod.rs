//! HTTP for all services: connections and their limits, request bodies, rules for browsers, and responses.
//!
//! ```text
//! socket -> server (accept, limits, write timeout) -> site -> intake -> body
//! ```
//! [`guard`] has the rules for requests of browsers.

mod body;
mod cors;
mod form;
mod guard;
mod intake;
mod limits;
mod names;
mod outgoing;
mod reply;
mod server;

pub(crate) use body::BodyError;
pub(crate) use form::form_text;
pub(crate) use guard::{Guard, is_host, is_origin, name_of};
pub(crate) use intake::{Admitted, Intake};
pub use limits::Limits;
pub(crate) use names::{Denied, Names};
pub(crate) use outgoing::{Break, Live, Outgoing, Part};
pub(crate) use reply::Reply;
pub(crate) use server::{Server, Site};
