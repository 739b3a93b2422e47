//! Uploads in parts: several at a time, in bounded memory, aborted on failure and on drop. For S3, `object_store`, and stores of
//! applications.
//!
//! ```text
//! body -> parts -> ready (one) -> tasks (at most `in_flight`, one part each) -> done -> complete
//!   an error or a drop: the tasks are stopped, then abort in a task of its own
//! ```

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle, JoinSet};

use crate::error::{Error, ErrorKind};
use crate::format::pointer::Pointer;
use crate::store::{Background, ByteStream, StoreFuture, Upload, UploadBody, within};

/// The maximum number of parts of an object, as in S3.
const MAX_PARTS: u32 = 10_000;

/// The four calls by which a store takes an object in parts. [`Parts::upload`] makes them: several parts at a time, and `abort` if a
/// call fails or the upload is dropped.
///
/// Calls must retry transient failures themselves.
pub trait MultipartStore: Clone + Send + Sync + 'static {
    /// An upload that has begun.
    type Upload: Send + Sync + 'static;
    /// What completing the upload needs to know of a part.
    type Part: Send + 'static;

    /// Begins an upload. `content_type` is the media type, if it is known.
    ///
    /// # Errors
    /// The store failed or rejected the call.
    fn begin<'a>(&'a self, at: &'a Pointer, content_type: Option<String>) -> StoreFuture<'a, Self::Upload>;

    /// Sends a part. The calls are in order, `number` counts from 1; the futures run in tasks of their own at the same time.
    ///
    /// # Errors
    /// The store failed or rejected the call.
    fn part(&self, upload: &Arc<Self::Upload>, number: u32, part: Part) -> StoreFuture<'static, Self::Part>;

    /// Completes an upload: the object has all parts, in this order, and `length` bytes.
    ///
    /// # Errors
    /// The store failed or rejected the call. If it may have executed the call, [`Error::outcome_unknown`].
    fn complete<'a>(
        &'a self,
        upload: &'a Arc<Self::Upload>,
        parts: Vec<Self::Part>,
        length: u64,
    ) -> StoreFuture<'a, ()>;

    /// Removes an upload and its parts. It may be called after `complete` has failed.
    ///
    /// # Errors
    /// The store failed or rejected the call: the parts remain. A warning is logged.
    fn abort<'a>(&'a self, upload: &'a Arc<Self::Upload>) -> StoreFuture<'a, ()>;
}

/// A part of an object: pieces that follow each other. Clones share the bytes.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pieces: Arc<[Bytes]>,
    length: usize,
}

impl Part {
    pub(crate) fn new(pieces: Vec<Bytes>) -> Self {
        Self { length: pieces.iter().map(Bytes::len).sum(), pieces: pieces.into() }
    }

    /// The pieces, without copies.
    pub fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// The length in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// All bytes in one buffer. Copies them if there are several pieces.
    pub fn into_bytes(self) -> Bytes {
        match &*self.pieces {
            [whole] => whole.clone(),
            pieces => pieces.concat().into(),
        }
    }
}

/// The body of an upload, in parts of equal length.
pub struct Parts {
    body: Option<ByteStream>,
    buffer: PartBuffer,
    first: Option<Part>,
    taken: u64,
    length: Option<u64>,
    content_type: Option<String>,
    background: Background,
}

impl Parts {
    /// The body of an upload, in parts of `size` bytes; 0 counts as 1. If its length is known and it needs more than 10,000 of them,
    /// they are larger.
    pub fn new(upload: Upload, size: usize) -> Self {
        let Upload { body, length, content_type, background } = upload;
        let body = match body {
            UploadBody::Bytes(bytes) => stream::iter([Ok(bytes)]).boxed(),
            UploadBody::Stream(body) => body,
        };
        let least = length.map_or(0, |length| length.div_ceil(u64::from(MAX_PARTS)));
        let size = usize::try_from(least).unwrap_or(usize::MAX).max(size);
        let (body, buffer) = (Some(body), PartBuffer::new(size));
        Self { body, buffer, first: None, taken: 0, length, content_type, background }
    }

    /// The media type, if it is known.
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// The whole body, if it is a single part: a store can write it with one call. Call this first.
    ///
    /// # Errors
    /// The body failed, or does not have the length that was set.
    pub async fn whole(&mut self) -> Result<Option<Part>, Error> {
        let first = self.next().await?.unwrap_or_default();
        if self.body.is_none() && self.buffer.is_empty() {
            return Ok(Some(first));
        }
        self.first = Some(first);
        Ok(None)
    }

    /// Sends all parts, at most `in_flight` at a time; 0 counts as 1. One more part is in memory.
    ///
    /// # Errors
    /// The body or a call of the store failed, or the body has more than 10,000 parts. The upload is aborted.
    ///
    /// # Cancel safety
    /// If the future is dropped, the upload is aborted in the background.
    pub async fn upload<S: MultipartStore>(
        mut self,
        store: &S,
        at: &Pointer,
        in_flight: usize,
    ) -> Result<(), Error> {
        let (content_type, background) = (self.content_type.take(), self.background.clone());
        let mut begun = Begun::begin(store.clone(), at, content_type, background).await?;
        let sent = match begun.send_all(&mut self, in_flight.max(1)).await {
            Ok(parts) => begun.complete(parts, self.taken).await,
            Err(error) => Err(error),
        };
        if let Some(abort) = begun.abort() {
            // The task fails only if the runtime ends.
            let _ = abort.await;
        }
        sent
    }

    /// The next part, full except the last one. `None` at the end, also after errors.
    ///
    /// # Cancel safety
    /// No bytes are lost if the future is dropped.
    async fn next(&mut self) -> Result<Option<Part>, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        loop {
            if let Some(part) = self.buffer.full() {
                return Ok(Some(part));
            }
            let Some(body) = &mut self.body else { return Ok(self.buffer.rest()) };
            match body.next().await {
                Some(Ok(piece)) => self.take(piece)?,
                Some(Err(error)) => return Err(error),
                None => self.end()?,
            }
        }
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        self.taken += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        match self.length {
            Some(length) if self.taken > length => Err(wrong_length(length, "is longer")),
            _ => {
                self.buffer.push(piece);
                Ok(())
            }
        }
    }

    fn end(&mut self) -> Result<(), Error> {
        self.body = None;
        match self.length {
            Some(length) if self.taken < length => {
                Err(wrong_length(length, &format!("ends after {}", self.taken)))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("length", &self.length)
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

fn wrong_length(length: u64, what: &str) -> Error {
    Error::new(ErrorKind::Source, format!("the body should have {length} bytes, but {what}"))
}

/// An upload that has begun. It is aborted on drop.
struct Begun<S: MultipartStore> {
    store: S,
    at: Pointer,
    /// `None` after it was completed or aborted.
    upload: Option<Arc<S::Upload>>,
    /// The parts with their numbers.
    tasks: JoinSet<Result<(u32, S::Part), Error>>,
    runtime: Handle,
    background: Background,
}

impl<S: MultipartStore> Begun<S> {
    /// Runs in a separate task: if the caller is dropped, the task drops the new upload, which aborts it.
    async fn begin(
        store: S,
        at: &Pointer,
        content_type: Option<String>,
        background: Background,
    ) -> Result<Self, Error> {
        let (runtime, place) = (Handle::current(), at.clone());
        // Dropped after the upload, whose abort has a token of its own.
        let token = background.tasks.token();
        let task = runtime.clone().spawn(async move {
            let beginning = store.begin(&place, content_type);
            let upload = within(background.timeout, || format!("writing {place}"), beginning).await?;
            let (upload, tasks) = (Some(Arc::new(upload)), JoinSet::new());
            Ok((Self { store, at: place, upload, tasks, runtime, background }, token))
        });
        let begun: Result<_, Error> = task.await.map_err(|error| stopped(at, &error))?;
        begun.map(|(begun, _token)| begun)
    }

    async fn send_all(&mut self, parts: &mut Parts, in_flight: usize) -> Result<Vec<S::Part>, Error> {
        let (mut ready, mut number, mut done, mut ended) = (None, 0, Vec::new(), false);
        while !(ended && ready.is_none() && self.tasks.is_empty()) {
            if self.tasks.len() < in_flight
                && let Some(part) = ready.take()
            {
                number += 1;
                self.send(number, part)?;
            }
            tokio::select! {
                biased;
                part = parts.next(), if ready.is_none() && !ended => {
                    ready = part?;
                    ended = ready.is_none();
                }
                Some(part) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    done.push(part.map_err(|error| stopped(&self.at, &error))??);
                }
                else => {}
            }
        }
        done.sort_unstable_by_key(|(number, _)| *number);
        Ok(done.into_iter().map(|(_, part)| part).collect())
    }

    fn send(&mut self, number: u32, part: Part) -> Result<(), Error> {
        let Some(upload) = &self.upload else { return Ok(()) };
        if number > MAX_PARTS {
            let at = &self.at;
            let text = format!(
                "writing {at}: more than {MAX_PARTS} parts: set the length of the payload, or a larger part size"
            );
            return Err(Error::new(ErrorKind::Rejected, text));
        }
        let sending = self.store.part(upload, number, part);
        self.tasks.spawn_on(async move { Ok((number, sending.await?)) }, &self.runtime);
        Ok(())
    }

    async fn complete(&mut self, parts: Vec<S::Part>, length: u64) -> Result<(), Error> {
        let Some(upload) = &self.upload else { return Ok(()) };
        self.store.complete(upload, parts, length).await?;
        self.upload = None;
        Ok(())
    }

    fn abort(&mut self) -> Option<JoinHandle<()>> {
        let (upload, store, at) = (self.upload.take()?, self.store.clone(), self.at.clone());
        let (mut tasks, limit) = (std::mem::take(&mut self.tasks), self.background.timeout);
        let aborting = async move {
            tasks.shutdown().await;
            let aborted =
                within(limit, || format!("aborting the upload of {at}"), store.abort(&upload)).await;
            if let Err(error) = aborted {
                tracing::warn!(
                    bucket = at.bucket(),
                    key = at.key(),
                    ?error,
                    "an upload could not be aborted"
                );
            }
        };
        Some(self.background.tasks.spawn_on(aborting, &self.runtime))
    }
}

impl<S: MultipartStore> Drop for Begun<S> {
    fn drop(&mut self) {
        self.abort();
    }
}

/// A task ends early if the runtime ends or it panics.
fn stopped(at: &Pointer, error: &JoinError) -> Error {
    Error::new(ErrorKind::Unavailable, format!("writing {at}: a task of the upload ended: {error}"))
}

/// Shorter pieces are joined, because each piece has a cost of its own.
const SHORT_PIECE: usize = 16 << 10;

/// The length of joined pieces.
const JOINED: usize = 256 << 10;

/// Buffers pieces until they fill a part. Holds at most one part after [`full`](Self::full) has returned `None`.
#[derive(Debug)]
struct PartBuffer {
    size: usize,
    pieces: VecDeque<Bytes>,
    short: BytesMut,
    length: usize,
}

impl PartBuffer {
    fn new(size: usize) -> Self {
        Self { size: size.max(1), pieces: VecDeque::new(), short: BytesMut::new(), length: 0 }
    }

    /// Adds a piece of any length.
    fn push(&mut self, piece: Bytes) {
        self.length += piece.len();
        if piece.len() < SHORT_PIECE {
            self.join(&piece);
        } else {
            self.end_short();
            self.pieces.push_back(piece);
        }
    }

    /// The next full part, if more bytes follow it.
    fn full(&mut self) -> Option<Part> {
        (self.length > self.size).then(|| self.take(self.size))
    }

    /// The rest at the end: at most one part; `None` if it is empty.
    fn rest(&mut self) -> Option<Part> {
        (self.length > 0).then(|| self.take(self.size))
    }

    fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn join(&mut self, piece: &Bytes) {
        if self.short.len() + piece.len() > JOINED {
            self.end_short();
        }
        if self.short.capacity() == 0 {
            self.short.reserve(JOINED.min(self.size));
        }
        self.short.extend_from_slice(piece);
    }

    fn end_short(&mut self) {
        if !self.short.is_empty() {
            self.pieces.push_back(std::mem::take(&mut self.short).freeze());
        }
    }

    fn take(&mut self, size: usize) -> Part {
        self.end_short();
        let mut pieces = Vec::with_capacity(self.pieces.len());
        let mut length = 0;
        while let Some(mut piece) = self.pieces.pop_front() {
            if length + piece.len() > size {
                let head = piece.split_to(size - length);
                self.pieces.push_front(piece);
                length = size;
                pieces.extend((!head.is_empty()).then_some(head));
                break;
            }
            length += piece.len();
            pieces.push(piece);
        }
        self.length -= length;
        Part::new(pieces)
    }
}

#[cfg(test)]
mod part_buffer_tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(part: &Part) -> Vec<u8> {
        part.pieces().concat()
    }

    #[test]
    fn full_part_is_returned_only_if_more_bytes_follow() {
        let mut part_buffer = PartBuffer::new(4);
        part_buffer.push(Bytes::from_static(b"abcd"));
        assert!(part_buffer.full().is_none());
        part_buffer.push(Bytes::from_static(b"e"));
        assert_eq!(bytes(&part_buffer.full().unwrap()), b"abcd");
        assert_eq!(bytes(&part_buffer.rest().unwrap()), b"e");
        assert!(part_buffer.rest().is_none());
    }

    #[test]
    fn long_pieces_are_not_copied() {
        let piece = Bytes::from(vec![7; SHORT_PIECE]);
        let mut part_buffer = PartBuffer::new(1 << 20);
        part_buffer.push(piece.clone());
        assert_eq!(part_buffer.rest().unwrap().pieces()[0].as_ptr(), piece.as_ptr());
    }

    #[test]
    fn short_pieces_are_joined() {
        let mut part_buffer = PartBuffer::new(1 << 20);
        for _ in 0..1 << 20 {
            part_buffer.push(Bytes::from_static(b"x"));
        }
        assert_eq!(part_buffer.rest().unwrap().pieces().len(), (1 << 20) / JOINED);
    }

    proptest! {
        #[test]
        fn parts_hold_all_bytes_in_order_and_only_the_last_may_be_short(
            lengths in prop::collection::vec(prop_oneof![0_usize..40, 16_000_usize..40_000], 0..12),
            size in prop_oneof![1_000_usize..2_000, 10_000_usize..70_000],
        ) {
            let mut part_buffer = PartBuffer::new(size);
            let mut expected = Vec::new();
            let mut parts = Vec::new();
            for (fill, length) in (1_u8..).zip(lengths) {
                expected.extend(vec![fill; length]);
                part_buffer.push(Bytes::from(vec![fill; length]));
                parts.extend(std::iter::from_fn(|| part_buffer.full()));
            }
            let last = part_buffer.rest();
            prop_assert!(part_buffer.rest().is_none());
            prop_assert!(parts.iter().all(|part| part.length() == size));
            prop_assert!(last.as_ref().is_none_or(|part| part.length() <= size && part.length() > 0));
            parts.extend(last);
            prop_assert!(parts.iter().all(|part| bytes(part).len() == part.length()));
            prop_assert_eq!(parts.iter().flat_map(bytes).collect::<Vec<_>>(), expected);
        }
    }
}

#[cfg(test)]
mod parts_tests {
    use super::*;

    fn parts(pieces: &'static [&'static [u8]], length: Option<u64>) -> Parts {
        let body = stream::iter(pieces.iter().map(|piece| Ok(Bytes::from_static(piece)))).boxed();
        let mut upload = Upload::new(UploadBody::Stream(body));
        upload.length = length;
        Parts::new(upload, 4)
    }

    #[tokio::test]
    async fn body_of_one_part_is_whole() {
        assert_eq!(parts(&[b"ab", b"cd"], None).whole().await.unwrap().unwrap().into_bytes(), "abcd");
        assert_eq!(parts(&[], None).whole().await.unwrap().unwrap().length(), 0);
    }

    #[tokio::test]
    async fn body_of_more_parts_is_not_whole_and_loses_none() {
        let mut parts = parts(&[b"abcde"], None);
        assert!(parts.whole().await.unwrap().is_none());
        assert_eq!(parts.next().await.unwrap().unwrap().into_bytes(), "abcd");
        assert_eq!(parts.next().await.unwrap().unwrap().into_bytes(), "e");
        assert!(parts.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn body_of_another_length_than_declared_is_an_error() {
        for (length, says) in [(2, "is longer"), (4, "ends after 3")] {
            let error = parts(&[b"abc"], Some(length)).whole().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Source);
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[tokio::test]
    async fn parts_grow_so_that_at_most_10_000_are_needed() {
        assert_eq!(parts(&[b"abcdefghijk"], Some(11)).buffer.size, 4);
        assert_eq!(parts(&[], Some(u64::from(MAX_PARTS) * 5)).buffer.size, 5);
    }
}
