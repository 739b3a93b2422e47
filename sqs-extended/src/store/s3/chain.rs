//! A part as the body of a request, which the SDK can send again.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use aws_sdk_s3::primitives::{ByteStream, SdkBody};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::store::parts::Part;

struct Chain {
    pieces: Arc<[Bytes]>,
    next: usize,
    left: u64,
}

/// The body of a part, without copies.
pub(super) fn body(part: &Part) -> ByteStream {
    let part = part.clone();
    ByteStream::new(SdkBody::retryable(move || {
        let left = u64::try_from(part.length()).unwrap_or(u64::MAX);
        SdkBody::from_body_1_x(Chain { pieces: Arc::clone(part.pieces()), next: 0, left })
    }))
}

impl Body for Chain {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.get(self.next).cloned();
        if let Some(piece) = &piece {
            self.next += 1;
            self.left = self.left.saturating_sub(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.next >= self.pieces.len()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
