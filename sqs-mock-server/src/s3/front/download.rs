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
    pace: Option<(u64, Pace<Bytes>)>,
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
        if let Some((_, pace)) = &mut this.pace
            && let Some(portion) = ready!(pace.poll(cx))
        {
            return Poll::Ready(Some(Ok(Frame::data(portion))));
        }
        if this.left == Some(0) {
            return this.poll_break(cx);
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
        let holds_nothing = self.due.is_empty() && self.pace.as_ref().is_none_or(|(_, pace)| pace.is_empty());
        self.left.is_none() && holds_nothing && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // hyper asks before it reads; what is held back then is nothing.
        let is_whole = self.left.is_none() && self.due.is_empty() && self.pace.is_none();
        if is_whole { self.body.size_hint() } else { SizeHint::default() }
    }
}
