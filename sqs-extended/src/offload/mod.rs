//! Sends: stores payloads, and sends their pointers.
//!
//! ```text
//! Input -> size decision -> PUT object -> pointer Input -> client below -> accepted: the object stays
//!            (pure)            fails: not sent                          -> rejected: the object is deleted
//!                                                                       -> unknown:  the object stays; a repeated
//!                                                                                     request gets new objects
//! ```

mod batch;
mod decision;
mod envelope;
mod single;
mod stored;
mod stream;
mod threshold;

pub(crate) use batch::SentBatch;
pub(crate) use decision::{Selection, Sizes, select};
pub(crate) use envelope::Envelope;
pub(crate) use stored::{Keep, Stored};
pub use stream::{SendStream, StreamSent};
