//! HTTP for all services: connections and their limits, request bodies, rules for browsers, and responses.
//!
//! ```text
//! socket -> server (accept, limits, write timeout) -> site -> body
//! ```
//! [`guard`] has the rules for requests of browsers.

mod body;
mod cors;
mod guard;
mod limits;
mod names;
mod reply;
mod server;

pub(crate) use body::{Admitted, BodyError, Intake, form_text};
pub(crate) use guard::{Guard, is_host, is_origin, name_of};
pub use limits::Limits;
pub(crate) use names::{Denied, Names};
pub(crate) use reply::{Break, Live, Outgoing, Reply};
pub(crate) use server::{Server, Site};
