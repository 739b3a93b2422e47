//! Bodies in chunks of `aws-chunked`, whose signatures nobody looks at.
//!
//! ```text
//! 1000;chunk-signature=..\r\n <4096 bytes> \r\n .. 0;chunk-signature=..\r\n x-amz-checksum-crc32:AAAAAA==\r\n \r\n
//! ```
//! See <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html>.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue};
use hyper::body::{Body, Frame, SizeHint};
use s3s::StdError;

use super::upload::Upload;
use crate::s3::ops::Trailers;

/// Longest line, in bytes, and most trailers.
const MAX_LINE: usize = 4096;
const MAX_TRAILERS: usize = 16;

/// The body is not what its encoding says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Malformed(&'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the body is not in chunks as it should be: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

/// Bytes in, bytes and trailers out.
#[derive(Debug, Default)]
struct Decoder {
    buffer: BytesMut,
    state: State,
    decoded: u64,
    trailers: HeaderMap,
}

#[derive(Debug, Default, Eq, PartialEq)]
enum State {
    #[default]
    Size,
    /// Within a chunk, with so many bytes to come.
    Data(u64),
    /// Behind a chunk.
    DataEnd,
    Trailers,
    End,
}

impl Decoder {
    /// The next bytes; `None` when more have to come first, or none will.
    fn next(&mut self) -> Result<Option<Bytes>, Malformed> {
        loop {
            match self.state {
                State::Size => {
                    let Some(line) = self.line()? else { return Ok(None) };
                    let size = line[..].split(|byte| *byte == b';').next().unwrap_or_default();
                    let size =
                        std::str::from_utf8(size).ok().and_then(|size| u64::from_str_radix(size, 16).ok());
                    let size = size.ok_or(Malformed("a size is no number"))?;
                    self.state = if size == 0 { State::Trailers } else { State::Data(size) };
                }
                State::Data(left) => {
                    let here = self.buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    if here == 0 {
                        return Ok(None);
                    }
                    let left = left - here as u64;
                    self.state = if left == 0 { State::DataEnd } else { State::Data(left) };
                    self.decoded += here as u64;
                    return Ok(Some(self.buffer.split_to(here).freeze()));
                }
                State::DataEnd => {
                    if self.buffer.len() < 2 {
                        return Ok(None);
                    }
                    if !self.buffer.starts_with(b"\r\n") {
                        return Err(Malformed("a chunk is longer than its size"));
                    }
                    self.buffer.advance(2);
                    self.state = State::Size;
                }
                State::Trailers => {
                    let Some(line) = self.line()? else { return Ok(None) };
                    if line.is_empty() {
                        self.state = State::End;
                    } else {
                        self.trailer(&line)?;
                    }
                }
                State::End if self.buffer.is_empty() => return Ok(None),
                State::End => return Err(Malformed("it goes on behind its end")),
            }
        }
    }

    /// A line without its end, when all of it is there.
    fn line(&mut self) -> Result<Option<BytesMut>, Malformed> {
        let end = self.buffer.windows(2).take(MAX_LINE).position(|pair| pair == b"\r\n");
        let Some(end) = end else {
            return if self.buffer.len() > MAX_LINE {
                Err(Malformed("a line is too long"))
            } else {
                Ok(None)
            };
        };
        let line = self.buffer.split_to(end);
        self.buffer.advance(2);
        Ok(Some(line))
    }

    fn trailer(&mut self, line: &[u8]) -> Result<(), Malformed> {
        let wrong = Malformed("a trailer is no header");
        let colon = line.iter().position(|byte| *byte == b':').ok_or(wrong)?;
        let (name, value) = line.split_at(colon);
        let name = HeaderName::from_bytes(name.trim_ascii()).map_err(|_| wrong)?;
        let value =
            HeaderValue::from_bytes(value.trim_ascii_start().get(1..).unwrap_or_default().trim_ascii());
        if self.trailers.len() >= MAX_TRAILERS {
            return Err(Malformed("there are too many trailers"));
        }
        self.trailers.insert(name, value.map_err(|_| wrong)?);
        Ok(())
    }

    /// Whether what is there is all that there should be.
    fn finish(&self, length: u64) -> Result<(), Malformed> {
        // The empty line behind the trailers is missing from some callers.
        let is_over = matches!(self.state, State::End | State::Trailers);
        match (is_over, self.decoded == length) {
            (false, _) => Err(Malformed("it breaks off")),
            (true, false) => Err(Malformed("it has another length than it should have")),
            (true, true) => Ok(()),
        }
    }
}

/// A body as it was before it was put into chunks.
pub(super) struct Chunked {
    upload: Upload,
    decoder: Decoder,
    length: u64,
    trailers: Trailers,
    is_over: bool,
}

impl Chunked {
    pub(super) fn new(upload: Upload, length: u64, trailers: Trailers) -> Self {
        Self { upload, decoder: Decoder::default(), length, trailers, is_over: false }
    }
}

impl Body for Chunked {
    type Data = Bytes;
    type Error = StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StdError>>> {
        let this = &mut *self;
        while !this.is_over {
            if let Some(bytes) = this.decoder.next()? {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            if let Some(frame) = ready!(Pin::new(&mut this.upload).poll_frame(cx)).transpose()? {
                this.decoder.buffer.extend_from_slice(&frame.into_data().unwrap_or_default());
            } else {
                this.decoder.finish(this.length)?;
                *this.trailers.0.lock() = std::mem::take(&mut this.decoder.trailers);
                this.is_over = true;
            }
        }
        Poll::Ready(None)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length.saturating_sub(self.decoder.decoded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] =
        b"5;chunk-signature=abc\r\nhello\r\nA\r\n\r\n01234567\r\n0\r\nx-amz-checksum-crc32: AAA=\r\nx-b:1:2\r\n\r\n";

    fn decoded(body: &[u8], step: usize) -> Result<(Vec<u8>, HeaderMap), Malformed> {
        let (mut decoder, mut all) = (Decoder::default(), Vec::new());
        for piece in body.chunks(step) {
            decoder.buffer.extend_from_slice(piece);
            while let Some(bytes) = decoder.next()? {
                all.extend_from_slice(&bytes);
            }
        }
        decoder.finish(15)?;
        Ok((all, decoder.trailers))
    }

    #[test]
    fn chunks_and_trailers_are_found_however_they_arrive() {
        for step in 1..BODY.len() {
            let (bytes, trailers) = decoded(BODY, step).unwrap();
            assert_eq!(bytes, b"hello\r\n01234567", "{step}");
            assert_eq!(
                (&trailers["x-amz-checksum-crc32"], &trailers["x-b"]),
                (&"AAA=".parse().unwrap(), &"1:2".parse().unwrap())
            );
        }
    }

    #[test]
    fn body_that_is_not_in_chunks_is_refused() {
        for (body, expected) in [
            (&b"hello\r\n"[..], "a size is no number"),
            (b"1\r\nhello", "a chunk is longer than its size"),
            (b"F\r\nhello", "it breaks off"),
            (b"5\r\nhello\r\n0\r\n\r\n", "it has another length than it should have"),
            (b"F\r\n0123456789abcde\r\n0\r\n\r\nmore", "it goes on behind its end"),
            (b"0\r\nnonsense\r\n\r\n", "a trailer is no header"),
            (&[b'1'; 5000], "a line is too long"),
        ] {
            assert_eq!(decoded(body, 7).unwrap_err(), Malformed(expected));
        }
    }
}
