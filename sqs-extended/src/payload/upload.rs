//! Writes a payload into a store.

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;

use super::checks::{Checks, Hash, checked};
use super::source::{Content, Payload};
use super::{Pieces, file};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::{Bounded, Upload, UploadBody};

/// The media type of texts.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
const BINARY: &str = "application/octet-stream";
/// Bytes of a body in memory between two calls of a progress callback.
const STEP: usize = 1 << 20;

/// The result of an upload.
#[derive(Debug)]
pub(crate) struct Uploaded {
    pub(crate) length: u64,
    /// In hex.
    pub(crate) sha256: Option<String>,
}

impl Payload {
    /// Writes the payload to a new object.
    ///
    /// # Errors
    /// [`ErrorKind::Source`], [`TooLarge`](ErrorKind::TooLarge), [`NotText`](ErrorKind::NotText), and those of the store. After an
    /// error there is no object, unless [`Error::is_outcome_unknown`].
    pub(crate) async fn put(self, store: &Bounded, at: &Pointer) -> Result<Uploaded, Error> {
        let (upload, ended) = self.open().await?;
        store.put(at, upload).await?;
        ended.await.map_err(|_| {
            let text = format!("writing {at}: the store did not read the payload to its end");
            Error::new(ErrorKind::Rejected, text).outcome_unknown()
        })
    }

    /// The upload, and a receiver for its length and hash. They are sent when the whole payload was read.
    async fn open(self) -> Result<(Upload, oneshot::Receiver<Uploaded>), Error> {
        let Self { content, length, is_binary, is_hashed, limit, listener } = self;
        let has_listener = listener.is_some();
        let (found, whole, pieces) = match content {
            Content::Path(path) => {
                let (length, pieces) = file::read(path).await?;
                (length, None, pieces)
            }
            Content::Pieces(pieces) => (None, None, pieces),
            Content::Bytes(bytes) => (None, Some(bytes.clone()), in_steps(bytes)),
        };
        let length = length.or(found);
        let mut checks = Checks::new(length, limit, is_binary);
        (checks.listener, checks.wrong_length) = (listener, ErrorKind::Source);
        if is_hashed {
            checks.hash = Hash::Computed(Sha256::new());
        }
        checks.begin()?;
        let (told, ended) = oneshot::channel();
        let tell = |length, sha256| {
            // An error means that the upload was dropped.
            let _ = told.send(Uploaded { length, sha256 });
        };
        let mut pieces = checked(pieces, checks, tell);
        let body = match whole.filter(|_| !has_listener) {
            Some(bytes) => {
                while pieces.try_next().await?.is_some() {
                    // Hashing a step takes about a millisecond: other tasks run in between.
                    tokio::task::yield_now().await;
                }
                UploadBody::Bytes(bytes)
            }
            None => UploadBody::Stream(pieces),
        };
        let mut upload = Upload::new(body);
        upload.length = length;
        upload.content_type = Some(if is_binary { BINARY } else { TEXT }.to_owned());
        Ok((upload, ended))
    }
}

fn in_steps(bytes: Bytes) -> Pieces {
    let steps = stream::unfold(bytes, |mut bytes| async move {
        let step = bytes.split_to(bytes.len().min(STEP));
        (!step.is_empty()).then_some((Ok(step), bytes))
    });
    steps.boxed()
}
