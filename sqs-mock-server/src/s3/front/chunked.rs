//! Decodes bodies in `aws-chunked` encoding without verifying chunk signatures.
//!
//! s3s has a decoder, but it is private and verifies the signatures of all chunks that have one.

mod decoder;
#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use s3s::StdError;

use super::request_body::RequestBody;
use crate::s3::ops::Trailers;

use decoder::Decoder;

/// The decoded body of a request.
pub(super) struct ChunkedBody {
    body: RequestBody,
    decoder: Decoder,
    length: u64,
    trailers: Trailers,
    is_over: bool,
}

impl ChunkedBody {
    pub(super) fn new(body: RequestBody, length: u64, trailers: Trailers) -> Self {
        Self { body, decoder: Decoder::default(), length, trailers, is_over: false }
    }
}

impl Body for ChunkedBody {
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
            if let Some(frame) = ready!(Pin::new(&mut this.body).poll_frame(cx)).transpose()? {
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
