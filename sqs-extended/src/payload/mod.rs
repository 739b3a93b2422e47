//! Payloads as streams, in bounded memory.
//!
//! ```text
//! up:   Payload -> pieces -> checks (length, limit, UTF-8, SHA-256, progress) -> Upload -> store
//! down: store -> ranges, resumed -> checks (length, UTF-8, SHA-256, progress) -> Body
//! ```

mod body;
mod checks;
mod download;
mod file;
mod ranges;
mod resume;
mod source;
#[cfg(test)]
mod tests;
mod upload;
mod utf8;

use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::error::Error;

pub use body::Body;
pub use checks::Progress;
pub(crate) use download::{Download, Options};
pub use source::Payload;
pub(crate) use upload::{TEXT, Uploaded};

/// The pieces of a payload.
type Pieces = BoxStream<'static, Result<Bytes, Error>>;

/// The largest payload by default, in bytes: the most that the libraries for other languages can hold.
pub const DEFAULT_MAX_LENGTH: u64 = crate::format::MAX_PAYLOAD_BYTES;
