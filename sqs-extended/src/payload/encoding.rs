//! How payloads are compressed in a store. Other libraries know nothing of it.

#[cfg(any(feature = "gzip", feature = "zstd"))]
use async_compression::tokio::bufread;
#[cfg(any(feature = "gzip", feature = "zstd"))]
use futures_util::{StreamExt as _, TryStreamExt as _};
#[cfg(any(feature = "gzip", feature = "zstd"))]
use tokio::io::AsyncRead;
#[cfg(any(feature = "gzip", feature = "zstd"))]
use tokio_util::io::{ReaderStream, StreamReader};

use super::{PayloadError, PayloadErrorKind, Pieces};

/// The size of pieces behind a coder.
#[cfg(any(feature = "gzip", feature = "zstd"))]
const PIECE: usize = 256 << 10;
/// The most that a decoder of zstd looks back, as a power of two: 8 MiB, what every decoder has to support.
#[cfg(feature = "zstd")]
const MAX_WINDOW_LOG: u32 = 23;

/// A way of compression.
#[cfg(any(feature = "gzip", feature = "zstd"))]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Compression {
    /// gzip, RFC 1952.
    #[cfg(feature = "gzip")]
    Gzip,
    /// Zstandard, RFC 8878.
    #[cfg(feature = "zstd")]
    Zstd,
}

/// What an object's `Content-Encoding` says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Encoding {
    Plain,
    #[cfg(any(feature = "gzip", feature = "zstd"))]
    Compressed(Compression),
}

#[cfg(any(feature = "gzip", feature = "zstd"))]
impl From<Compression> for Encoding {
    fn from(compression: Compression) -> Self {
        Self::Compressed(compression)
    }
}

impl Encoding {
    /// Reads a `Content-Encoding`.
    pub(super) fn of(text: Option<&str>) -> Result<Self, PayloadError> {
        // How it was uploaded is no matter of what it is, and some stores keep that.
        let names = text.unwrap_or_default().split(',').map(str::trim);
        let mut names = names.filter(|name| !matches!(*name, "" | "identity" | "aws-chunked"));
        match (names.next(), names.next()) {
            (None, _) => Ok(Self::Plain),
            #[cfg(feature = "gzip")]
            (Some("gzip"), None) => Ok(Self::Compressed(Compression::Gzip)),
            #[cfg(feature = "zstd")]
            (Some("zstd"), None) => Ok(Self::Compressed(Compression::Zstd)),
            _ => Err(unknown(text.unwrap_or_default())),
        }
    }

    pub(super) fn is_plain(self) -> bool {
        self == Self::Plain
    }

    /// The `Content-Encoding`.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            #[cfg(feature = "gzip")]
            Self::Compressed(Compression::Gzip) => Some("gzip"),
            #[cfg(feature = "zstd")]
            Self::Compressed(Compression::Zstd) => Some("zstd"),
        }
    }

    pub(super) fn encode(self, pieces: Pieces) -> Pieces {
        match self {
            Self::Plain => pieces,
            #[cfg(feature = "gzip")]
            Self::Compressed(Compression::Gzip) => coded(bufread::GzipEncoder::new(reader(pieces))),
            #[cfg(feature = "zstd")]
            Self::Compressed(Compression::Zstd) => coded(bufread::ZstdEncoder::new(reader(pieces))),
        }
    }

    pub(super) fn decode(self, pieces: Pieces) -> Pieces {
        match self {
            Self::Plain => pieces,
            #[cfg(feature = "gzip")]
            Self::Compressed(Compression::Gzip) => {
                let mut decoder = bufread::GzipDecoder::new(reader(pieces));
                decoder.multiple_members(true);
                coded(decoder)
            }
            #[cfg(feature = "zstd")]
            Self::Compressed(Compression::Zstd) => {
                let window = async_compression::zstd::DParameter::window_log_max(MAX_WINDOW_LOG);
                let mut decoder = bufread::ZstdDecoder::with_params(reader(pieces), &[window]);
                decoder.multiple_members(true);
                coded(decoder)
            }
        }
    }
}

fn unknown(text: &str) -> PayloadError {
    let known = [
        if cfg!(feature = "gzip") { "gzip" } else { "gzip (with the feature of this name)" },
        if cfg!(feature = "zstd") { "zstd" } else { "zstd (with the feature of this name)" },
    ];
    let says = format!("the payload is encoded as {text:?}; {} can be read", known.join(" and "));
    PayloadError::new(PayloadErrorKind::Encoding, says)
}

#[cfg(any(feature = "gzip", feature = "zstd"))]
fn reader(pieces: Pieces) -> impl tokio::io::AsyncBufRead + Send + Unpin {
    StreamReader::new(pieces.map_err(PayloadError::into_io))
}

#[cfg(any(feature = "gzip", feature = "zstd"))]
fn coded(reader: impl AsyncRead + Send + 'static) -> Pieces {
    let wrong = |error| {
        let says = "the payload is compressed and damaged, or looks back further than is allowed";
        PayloadError::caused_by(PayloadErrorKind::Encoding, says, error)
    };
    let pieces = ReaderStream::with_capacity(reader, PIECE);
    pieces.map_err(move |error| PayloadError::from_io(error, wrong)).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_an_object_was_uploaded_is_no_encoding() {
        for text in [None, Some(""), Some("identity"), Some("aws-chunked"), Some("aws-chunked, ")] {
            assert_eq!(Encoding::of(text).unwrap(), Encoding::Plain, "{text:?}");
        }
    }

    #[test]
    fn an_unknown_encoding_says_which_are_known() {
        for text in ["br", "gzip, zstd"] {
            let error = Encoding::of(Some(text)).unwrap_err();
            assert_eq!(error.kind(), PayloadErrorKind::Encoding);
            assert!(error.to_string().contains(text) && error.to_string().contains("zstd"), "{error}");
        }
    }

    #[cfg(all(feature = "gzip", feature = "zstd"))]
    #[test]
    fn what_is_written_is_read() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let encoding = Encoding::from(compression);
            assert_eq!(Encoding::of(encoding.name()).unwrap(), encoding);
        }
    }
}
