//! Reads bodies of requests, and decodes those in `aws-chunked` encoding without verifying signatures.
//!
//! ```text
//! 1000;chunk-signature=..\r\n <4096 bytes> \r\n .. 0;chunk-signature=..\r\n x-amz-checksum-crc32:AAAAAA==\r\n \r\n
//! ```
//!
//! See <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html>. s3s has a decoder, but it is private
//! and verifies the signatures of all chunks that have one.

#[cfg(test)]
mod tests;

use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, HeaderValue};
use s3s::StdError;
use s3s::dto::StreamingBlob;

/// Limits: bytes in a line, and trailers.
const MAX_LINE: usize = 4096;
const MAX_TRAILERS: usize = 16;

/// The body of a request.
pub(super) struct Chunks {
    body: StreamingBlob,
    /// The number of bytes after decoding; `None` if the body is not encoded.
    length: Option<u64>,
    /// Bytes that were read but not decoded.
    buffer: BytesMut,
    /// The number of bytes that are missing in the current chunk.
    left: u64,
    decoded: u64,
    /// Complete after the last bytes.
    pub(super) trailers: HeaderMap,
}

fn malformed(text: &str) -> StdError {
    format!("the body is not valid aws-chunked encoding: {text}").into()
}

impl Chunks {
    pub(super) fn new(body: StreamingBlob, length: Option<u64>) -> Self {
        Self { body, length, buffer: BytesMut::new(), left: 0, decoded: 0, trailers: HeaderMap::new() }
    }

    /// The next decoded bytes; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, StdError> {
        let Some(length) = self.length else { return self.body.next().await.transpose() };
        let too_early = || malformed("it ends too early");
        if self.left == 0 {
            if self.decoded > 0 && !self.line().await?.ok_or_else(too_early)?.is_empty() {
                return Err(malformed("a chunk is longer than its size"));
            }
            let line = self.line().await?.ok_or_else(too_early)?;
            let size = std::str::from_utf8(&line).unwrap_or_default().split(';').next().unwrap_or_default();
            self.left = u64::from_str_radix(size, 16)
                .map_err(|_| malformed("a chunk size is not a hexadecimal number"))?;
            if self.left == 0 {
                return self.finish(length).await.map(|()| None);
            }
        }
        if self.buffer.is_empty() && !self.fill().await? {
            return Err(too_early());
        }
        let here = self.buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= here as u64;
        self.decoded += here as u64;
        Ok(Some(self.buffer.split_to(here).freeze()))
    }

    /// Reads the trailers, and checks that the body ends after them and has the declared length.
    async fn finish(&mut self, length: u64) -> Result<(), StdError> {
        // Some clients omit the empty line after the trailers.
        while let Some(line) = self.line().await? {
            if line.is_empty() {
                if !self.buffer.is_empty() || self.fill().await? {
                    return Err(malformed("bytes follow the last chunk"));
                }
                break;
            }
            self.trailer(&line)?;
        }
        let has_length = self.decoded == length;
        has_length.then_some(()).ok_or_else(|| malformed("its length is not x-amz-decoded-content-length"))
    }

    fn trailer(&mut self, line: &[u8]) -> Result<(), StdError> {
        let wrong = || malformed("a trailer is not a valid header");
        let line = std::str::from_utf8(line).map_err(|_| wrong())?;
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| wrong())?;
        let value = HeaderValue::try_from(value.trim()).map_err(|_| wrong())?;
        if self.trailers.len() >= MAX_TRAILERS {
            return Err(malformed("there are more than 16 trailers"));
        }
        self.trailers.insert(name, value);
        Ok(())
    }

    /// The next line without its end; `None` if the body ends before it does.
    async fn line(&mut self) -> Result<Option<BytesMut>, StdError> {
        loop {
            if let Some(end) = self.buffer.windows(2).take(MAX_LINE).position(|pair| pair == b"\r\n") {
                let line = self.buffer.split_to(end);
                self.buffer.advance(2);
                return Ok(Some(line));
            }
            if self.buffer.len() > MAX_LINE {
                return Err(malformed("a line is longer than 4096 bytes"));
            }
            if !self.fill().await? {
                return Ok(None);
            }
        }
    }

    /// Reads more bytes; `false` at the end of the body.
    async fn fill(&mut self) -> Result<bool, StdError> {
        while let Some(bytes) = self.body.next().await.transpose()? {
            self.buffer.extend_from_slice(&bytes);
            if !bytes.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
