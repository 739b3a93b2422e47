//! The body of a response.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use hyper::body::{Frame, SizeHint};
use s3s::{Body, StdError};

use super::pace::Pace;
use crate::http::Break;
use crate::service::faults::Damage;

/// A response body that a fault may slow down, corrupt or truncate.
pub(crate) struct ResponseBody {
    body: Body,
    /// Bytes that were read but not sent.
    pending: Bytes,
    is_corrupted: bool,
    pace: Option<(u64, Pace<Bytes>)>,
    /// The number of bytes to send before the connection breaks.
    left: Option<u64>,
    is_flushed: bool,
}

impl ResponseBody {
    pub(super) fn new(body: Body, damage: Option<Damage>, length: Option<u64>, pace: Option<u64>) -> Self {
        Self {
            body,
            pending: Bytes::new(),
            is_corrupted: damage == Some(Damage::Corrupted),
            pace: pace.map(|pace| (pace, Pace::default())),
            left: (damage == Some(Damage::Truncated)).then(|| length.unwrap_or(0) / 2),
            is_flushed: false,
        }
    }

    /// The largest piece that may be sent at once.
    fn portion(&self) -> usize {
        let paced = self.pace.as_ref().map_or(u64::MAX, |(pace, _)| (pace / 10).max(1));
        usize::try_from(paced.min(self.left.unwrap_or(u64::MAX))).unwrap_or(usize::MAX)
    }

    /// Breaks the connection. Pending once, so that the connection flushes first.
    fn poll_break(&mut self, cx: &Context<'_>) -> Poll<Option<Result<Frame<Bytes>, StdError>>> {
        if std::mem::replace(&mut self.is_flushed, true) {
            return Poll::Ready(Some(Err(Break::Cut.into())));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Inverts the first byte.
fn corrupted(bytes: &Bytes) -> Bytes {
    let mut corrupted = BytesMut::from(&bytes[..]);
    if let Some(first) = corrupted.first_mut() {
        *first = !*first;
    }
    corrupted.freeze()
}

impl hyper::body::Body for ResponseBody {
    type Data = Bytes;
    type Error = StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StdError>>> {
        let this = &mut *self;
        if let Some((_, pace)) = &mut this.pace
            && let Some(portion) = ready!(pace.poll(cx))
        {
            return Poll::Ready(Some(Ok(Frame::data(portion))));
        }
        if this.left == Some(0) {
            return this.poll_break(cx);
        }
        while this.pending.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)).transpose()? {
                None if this.left.is_some() => return this.poll_break(cx),
                None => return Poll::Ready(None),
                Some(frame) => this.pending = frame.into_data().unwrap_or_default(),
            }
            if this.is_corrupted && !this.pending.is_empty() {
                this.pending = corrupted(&this.pending);
                this.is_corrupted = false;
            }
        }
        let portion = this.pending.split_to(this.pending.len().min(this.portion()));
        if let Some(left) = &mut this.left {
            *left = left.saturating_sub(portion.len() as u64);
        }
        match &mut this.pace {
            Some((per_second, pace)) => {
                let length = portion.len();
                pace.hold(portion, length, *per_second);
                pace.poll(cx).map(|portion| portion.map(|portion| Ok(Frame::data(portion))))
            }
            None => Poll::Ready(Some(Ok(Frame::data(portion)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        let holds_nothing =
            self.pending.is_empty() && self.pace.as_ref().is_none_or(|(_, pace)| pace.is_empty());
        self.left.is_none() && holds_nothing && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // hyper calls this before the first read, when nothing is held.
        let is_whole = self.left.is_none() && self.pending.is_empty() && self.pace.is_none();
        if is_whole { self.body.size_hint() } else { SizeHint::default() }
    }
}
