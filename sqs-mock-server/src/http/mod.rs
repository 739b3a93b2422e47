//! HTTP for all services: connections and their limits, request bodies, rules for browsers, and responses.
//!
//! ```text
//! socket -> server (accept, limits, write timeout) -> site -> body
//! ```
//! [`guard`] has the rules for requests of browsers.

pub(crate) mod body;
pub(crate) mod guard;
pub(crate) mod reply;
pub(crate) mod server;
#[cfg(feature = "tls")]
pub(crate) mod tls;
#[cfg(not(feature = "tls"))]
#[path = "tls_off.rs"]
pub(crate) mod tls;
