//! Sends: stores payloads, and sends their pointers.
//!
//! ```text
//! Input -> size decision -> PUT objects -> pointer Input -> client below -> accepted: the object stays
//!            (pure)            fails: not sent                           -> rejected: the object is deleted
//!                                                                        -> unknown:  the object stays; a repeated
//!                                                                                      request gets new objects
//! ```

mod batch;
mod decision;
mod object;
mod request;
mod run;
mod single;
mod store;
mod stream;
mod threshold;

pub use stream::{SendStream, StreamSent};
