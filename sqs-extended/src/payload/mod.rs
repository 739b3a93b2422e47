//! Payloads on their way, in bounded memory, whatever the store.
//!
//! ```text
//! up:   Payload -> pieces -> checks (count, cap, UTF-8, progress) -> [encode] -> Upload -> PayloadStore::put
//! down: PayloadStore::get_range -> ranges, resumed -> [decode] -> checks (length, SHA-256, UTF-8, progress) -> Body
//! ```

mod body;
mod checks;
mod download;
mod encoding;
mod error;
mod file;
mod ranges;
mod resume;
mod sha256;
mod source;
#[cfg(test)]
mod tests;
mod upload;
mod utf8;
mod whole;

use bytes::Bytes;
use futures_util::stream::BoxStream;

pub use body::Body;
pub use checks::Progress;
pub use download::Download;
pub(crate) use download::Options;
#[cfg(any(feature = "gzip", feature = "zstd"))]
pub use encoding::Compression;
pub use error::{PayloadError, PayloadErrorKind};
pub use source::Payload;

/// What goes through all stations of a payload.
type Pieces = BoxStream<'static, Result<Bytes, PayloadError>>;

/// The largest payload by default, in bytes: what the libraries for other languages can hold.
pub const DEFAULT_MAX_LENGTH: u64 = crate::config::MAX_PAYLOAD_BYTES;
