//! The body of an answer on its way out, as a fault wants it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use hyper::body::{Frame, SizeHint};
use s3s::{Body, StdError};

use super::pace::Pace;
use crate::faults::Ending;
use crate::http::Break;

/// A body that may be slow, garbled, or break off.
pub(in crate::s3) struct Download {
    body: Body,
    /// Read and not yet passed on.
    due: Bytes,
    is_garbled: bool,
    pace: Option<(u64, Pace)>,
    /// How many bytes go by before it breaks off.
    left: Option<u64>,
    is_flushed: bool,
}

impl Download {
    pub(super) fn new(body: Body, ending: Ending, length: Option<u64>, pace: Option<u64>) -> Self {
        Self {
            body,
            due: Bytes::new(),
            is_garbled: ending == Ending::Corrupt,
            pace: pace.map(|pace| (pace, Pace::default())),
            left: (ending == Ending::Truncated).then(|| length.unwrap_or(0) / 2),
            is_flushed: false,
        }
    }

    /// As many bytes as may go by at a time.
    fn portion(&self) -> usize {
        let paced = self.pace.as_ref().map_or(u64::MAX, |(pace, _)| (pace / 10).max(1));
        usize::try_from(paced.min(self.left.unwrap_or(u64::MAX))).unwrap_or(usize::MAX)
    }

    /// Breaks off. While this is pending, the connection flushes.
    fn poll_break(&mut self, cx: &Context<'_>) -> Poll<Option<Result<Frame<Bytes>, StdError>>> {
        if std::mem::replace(&mut self.is_flushed, true) {
            return Poll::Ready(Some(Err(Break::Cut.into())));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// The same with another first byte.
fn garbled(bytes: &Bytes) -> Bytes {
    let mut garbled = BytesMut::from(&bytes[..]);
    if let Some(first) = garbled.first_mut() {
        *first = !*first;
    }
    garbled.freeze()
}

impl hyper::body::Body for Download {
    type Data = Bytes;
    type Error = StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StdError>>> {
        let this = &mut *self;
        if this.left == Some(0) {
            return this.poll_break(cx);
        }
        if let Some((_, pace)) = &mut this.pace {
            ready!(pace.poll_ready(cx));
        }
        while this.due.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)).transpose()? {
                None if this.left.is_some() => return this.poll_break(cx),
                None => return Poll::Ready(None),
                Some(frame) => this.due = frame.into_data().unwrap_or_default(),
            }
            if this.is_garbled && !this.due.is_empty() {
                this.due = garbled(&this.due);
                this.is_garbled = false;
            }
        }
        let portion = this.due.split_to(this.due.len().min(this.portion()));
        if let Some((per_second, pace)) = &mut this.pace {
            pace.pass(portion.len(), *per_second);
        }
        if let Some(left) = &mut this.left {
            *left = left.saturating_sub(portion.len() as u64);
        }
        Poll::Ready(Some(Ok(Frame::data(portion))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_none() && self.due.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let whole = self.left.is_none() && self.due.is_empty();
        if whole { self.body.size_hint() } else { SizeHint::default() }
    }
}
