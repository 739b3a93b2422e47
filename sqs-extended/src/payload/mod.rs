//! Payloads as streams, in bounded memory.
//!
//! ```text
//! up:   Payload -> pieces -> checks (length, limit, UTF-8, SHA-256, progress) -> Upload -> store
//! down: store -> ranges, resumed -> checks (length, UTF-8, SHA-256, progress) -> Body
//! ```

pub(crate) mod body;
pub(crate) mod checks;
mod file;
mod ranges;
#[cfg(test)]
mod tests;
pub(crate) mod upload;

use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::error::Error;

/// The pieces of a payload.
pub(crate) type Pieces = BoxStream<'static, Result<Bytes, Error>>;
