//! Reads an object in ranges, several at a time: one connection to S3 is slower than the network.
//!
//! ```text
//! current (piece by piece) <- ahead: tasks, one range each, at most `at_once` - 1, in order <- ranges
//! ```

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio_util::task::AbortOnDropHandle;

use super::Pieces;
use super::resume::{Reading, Version};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::{Bounded, Object};

/// How an object is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) range: u64,
    pub(crate) at_once: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self { range: 4 << 20, at_once: 4 }
    }
}

/// Opens an object with a request for its first range.
pub(super) async fn open(store: &Bounded, at: &Pointer, is_empty: bool, plan: Plan) -> Result<Object, Error> {
    // An empty object has no byte that a range could select.
    if is_empty || plan.at_once <= 1 {
        return store.get(at, None, None).await;
    }
    let object = store.get(at, Some(0..plan.range), None).await?;
    if object.tag.is_none() && object.length > plan.range {
        // Without a tag, later ranges could be of another version.
        return store.get(at, None, None).await;
    }
    Ok(object)
}

/// The bytes of an opened object: all of one version, or an error at the end.
pub(super) fn pieces(store: Bounded, at: Pointer, object: Object, plan: Plan) -> Pieces {
    let Object { length, tag, body, .. } = object;
    let is_whole = plan.at_once <= 1 || tag.is_none();
    let first = if is_whole { length } else { length.min(plan.range) };
    let version = Arc::new(Version { store, at, tag, length });
    let current = Current::Reading(Reading::new(Arc::clone(&version), 0..first, Some(body)));
    let ranges = Ranges { version, plan, next: first, current, ahead: VecDeque::new() };
    stream::try_unfold(ranges, |mut ranges| async { Ok(ranges.next().await?.map(|piece| (piece, ranges))) })
        .boxed()
}

struct Ranges {
    version: Arc<Version>,
    plan: Plan,
    /// Where the next range begins.
    next: u64,
    current: Current,
    ahead: VecDeque<AbortOnDropHandle<Result<Vec<Bytes>, Error>>>,
}

enum Current {
    Reading(Reading),
    Read(std::vec::IntoIter<Bytes>),
}

impl Ranges {
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            self.read_ahead();
            let piece = match &mut self.current {
                Current::Reading(reading) => reading.next().await?,
                Current::Read(pieces) => pieces.next(),
            };
            if piece.is_some() {
                return Ok(piece);
            }
            let Some(task) = self.ahead.front_mut() else { return Ok(None) };
            let pieces = task.await.map_err(|error| {
                Error::new(ErrorKind::Unavailable, format!("a task of the download ended: {error}"))
            });
            self.ahead.pop_front();
            self.current = Current::Read(pieces??.into_iter());
        }
    }

    fn read_ahead(&mut self) {
        while self.ahead.len() + 1 < self.plan.at_once
            && let Some(range) = self.take_range()
        {
            let reading = Reading::new(Arc::clone(&self.version), range, None);
            self.ahead.push_back(AbortOnDropHandle::new(tokio::spawn(reading.all())));
        }
    }

    fn take_range(&mut self) -> Option<Range<u64>> {
        let end = self.version.length.min(self.next.saturating_add(self.plan.range));
        let range = std::mem::replace(&mut self.next, end)..end;
        (!range.is_empty()).then_some(range)
    }
}
