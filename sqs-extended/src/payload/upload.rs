//! A payload on its way into a store.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::checks::{Checks, checked};
use super::source::{Content, Payload};
use super::utf8::Utf8;
use super::{PayloadError, Pieces, file, sha256};
use crate::pointer::Pointer;
use crate::store::{PayloadStore, StoreError, Upload, UploadBody};

const TEXT: &str = "text/plain; charset=utf-8";
const BINARY: &str = "application/octet-stream";
/// How much of a body that is in memory passes between two calls of a progress listener.
const STEP: usize = 1 << 20;

impl Payload {
    /// Writes it into a store as an object that does not exist yet, and says how many bytes it has, before compression.
    ///
    /// # Errors
    /// [`Source`](crate::PayloadErrorKind::Source) when it cannot be read, [`TooLarge`](crate::PayloadErrorKind::TooLarge),
    /// [`NotText`](crate::PayloadErrorKind::NotText), [`Damaged`](crate::PayloadErrorKind::Damaged) when it is of another
    /// length than it was said to be, [`Store`](crate::PayloadErrorKind::Store) when the store fails. No object is there then,
    /// unless [`StoreError::is_outcome_unknown`].
    ///
    /// # Cancel safety
    /// Dropped before its end, it leaves no object; see [`PayloadStore::put`].
    pub async fn put<S: PayloadStore>(self, store: &S, at: &Pointer) -> Result<u64, PayloadError> {
        let (upload, taken) = self.open().await?;
        store.put(at, upload).await?;
        Ok(taken.load(Ordering::Relaxed))
    }

    /// What a store takes, and a count of what has passed.
    async fn open(self) -> Result<(Upload, Arc<AtomicU64>), PayloadError> {
        let Self { content, length, is_binary, limit, encoding, listener } = self;
        let mut metadata = HashMap::new();
        let mut whole = None;
        let (found, pieces) = match content {
            Content::Path(path) => file::read(path).await?,
            Content::Pieces(pieces) => (None, pieces),
            Content::Bytes(bytes) => {
                metadata.insert(sha256::METADATA.to_owned(), sha256::of(&bytes).await);
                let pieces = in_steps(bytes.clone());
                whole = Some(bytes).filter(|_| encoding.is_plain() && listener.is_none());
                (None, pieces)
            }
        };
        let length = length.or(found);
        let utf8 = (!is_binary).then(Utf8::default);
        let mut checks = Checks::new(length, limit, utf8, listener);
        checks.begin()?;
        let taken = Arc::new(AtomicU64::new(0));
        let body = if let Some(bytes) = whole {
            checks.take(&bytes)?;
            checks.end()?;
            taken.store(checks.taken(), Ordering::Relaxed);
            UploadBody::Bytes(bytes)
        } else {
            let count = Arc::clone(&taken);
            let pieces = checked(pieces, checks, move |taken| count.store(taken, Ordering::Relaxed));
            UploadBody::Stream(encoding.encode(pieces).map_err(StoreError::from).boxed())
        };
        let mut upload = Upload::new(body);
        upload.length = length.filter(|_| encoding.is_plain());
        upload.content_type = Some(if is_binary { BINARY } else { TEXT }.to_owned());
        upload.content_encoding = encoding.name().map(str::to_owned);
        upload.metadata = metadata;
        Ok((upload, taken))
    }
}

fn in_steps(bytes: Bytes) -> Pieces {
    let steps = stream::unfold(bytes, |mut bytes| async move {
        let step = bytes.split_to(bytes.len().min(STEP));
        (!step.is_empty()).then_some((Ok(step), bytes))
    });
    steps.boxed()
}
