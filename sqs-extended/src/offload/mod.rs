//! Sends: what goes through the store, and what becomes of it.
//!
//! ```text
//! Input -> size decision -> PUT object -> pointer Input -> client below -> accepted: the object stays
//!            (pure)            fails: not sent                          -> refused:  the object is deleted
//!                                                                       -> unknown:  the object stays; a message
//!                                                                                     sent again gets another one
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
