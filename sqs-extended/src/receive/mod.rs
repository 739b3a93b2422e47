//! Receives: gives messages their payloads.
//!
//! ```text
//! Message -> pointer? --no--> as it is
//!              | (pure)
//!              +-- invalid, or a foreign bucket --> as it is, without a request
//!              +-- GET object, at most 4 at a time -> length, hash, UTF-8 -> Message with the body that was sent
//!                     fails --> as it is, with the error
//! ```

mod hold;
mod load;
mod message;
mod missing;
mod output;
mod release;
mod resolve;
mod stream;
mod typed;

pub use message::{ExtendedMessage, MessagePayload};
pub use stream::BodyStream;
pub use typed::Receive;
