//! An incremental decoder of `aws-chunked` encoding.
//!
//! ```text
//! 1000;chunk-signature=..\r\n <4096 bytes> \r\n .. 0;chunk-signature=..\r\n x-amz-checksum-crc32:AAAAAA==\r\n \r\n
//! ```
//!
//! See <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html>.

use std::fmt;

use bytes::{Buf as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Limits: bytes in a line, and trailers.
const MAX_LINE: usize = 4096;
const MAX_TRAILERS: usize = 16;

/// The body is not valid `aws-chunked` encoding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Malformed(pub(super) &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the body is not valid aws-chunked encoding: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

/// An incremental decoder: the caller appends bytes to `buffer` and calls `next`.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pub(super) buffer: BytesMut,
    state: State,
    pub(super) decoded: u64,
    pub(super) trailers: HeaderMap,
}

#[derive(Debug, Default, Eq, PartialEq)]
enum State {
    #[default]
    Size,
    /// Inside a chunk, with the number of bytes that are still missing.
    Data(u64),
    /// Before the line end that follows the data of a chunk.
    DataEnd,
    Trailers,
    End,
}

impl Decoder {
    /// The next decoded bytes; `None` if more input is needed or the body is complete.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Malformed> {
        loop {
            match self.state {
                State::Size => {
                    let Some(line) = self.line()? else { return Ok(None) };
                    let line = std::str::from_utf8(&line).unwrap_or_default();
                    let size = line.split(';').next().unwrap_or_default();
                    let size = u64::from_str_radix(size, 16)
                        .map_err(|_| Malformed("a chunk size is not a hexadecimal number"))?;
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
                    let Some(line) = self.line()? else { return Ok(None) };
                    if !line.is_empty() {
                        return Err(Malformed("a chunk is longer than its size"));
                    }
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
                State::End => return Err(Malformed("bytes follow the last chunk")),
            }
        }
    }

    /// The next line without its end, if it is complete.
    fn line(&mut self) -> Result<Option<BytesMut>, Malformed> {
        let end = self.buffer.windows(2).take(MAX_LINE).position(|pair| pair == b"\r\n");
        let Some(end) = end else {
            return if self.buffer.len() > MAX_LINE {
                Err(Malformed("a line is longer than 4096 bytes"))
            } else {
                Ok(None)
            };
        };
        let line = self.buffer.split_to(end);
        self.buffer.advance(2);
        Ok(Some(line))
    }

    fn trailer(&mut self, line: &[u8]) -> Result<(), Malformed> {
        let wrong = Malformed("a trailer is not a valid header");
        let line = std::str::from_utf8(line).map_err(|_| wrong)?;
        let (name, value) = line.split_once(':').ok_or(wrong)?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| wrong)?;
        let value = HeaderValue::try_from(value.trim()).map_err(|_| wrong)?;
        if self.trailers.len() >= MAX_TRAILERS {
            return Err(Malformed("there are more than 16 trailers"));
        }
        self.trailers.insert(name, value);
        Ok(())
    }

    /// Checks that the body is complete and has the declared length.
    pub(super) fn finish(&self, length: u64) -> Result<(), Malformed> {
        // Some clients omit the empty line after the trailers.
        let is_over = matches!(self.state, State::End | State::Trailers);
        match (is_over, self.decoded == length) {
            (false, _) => Err(Malformed("it ends too early")),
            (true, false) => Err(Malformed("its length is not x-amz-decoded-content-length")),
            (true, true) => Ok(()),
        }
    }
}
