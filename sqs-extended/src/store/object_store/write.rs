//! Writing an object, in one request if it fits into one part.
//!
//! ```text
//! source -> parts -> one part:   put
//!                    more parts: begin -> several at a time -> complete     or abort, also on drop
//!   in doubt: look for the object with our mark
//! ```

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::{Error as Foreign, MultipartUpload, ObjectStore};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::error::failed;
use super::path;
use super::target::{Target, Unwritten, payload};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::Upload;
use crate::store::parts::{MAX_PARTS, Part, Source};

const PART: usize = 8 << 20;
/// Parts that are uploaded at a time.
const IN_FLIGHT: usize = 4;

pub(super) async fn write(store: &Arc<dyn ObjectStore>, at: &Pointer, upload: Upload) -> Result<(), Error> {
    let Upload { body, length, content_type, metadata } = upload;
    let (store, path, at) = (Arc::clone(store), path(at)?, at.clone());
    let target = Arc::new(Target { store, at, path, content_type, metadata });
    let mut source = Source::new(body, length, PART);
    let first = source.part().await?.unwrap_or_default();
    let written = if source.is_done() {
        target.put(&first).await
    } else {
        Parts::begin(&target).await?.send(first, source).await
    };
    match written {
        Ok(()) => Ok(()),
        Err(Unwritten::Certainly(error)) => Err(error),
        Err(Unwritten::Possibly(error)) => target.settle(error).await,
    }
}

/// A multipart upload. It is aborted on drop.
struct Parts {
    /// `None` after it was completed or aborted.
    upload: Option<Box<dyn MultipartUpload>>,
    target: Arc<Target>,
    runtime: Handle,
}

impl Parts {
    /// Runs in a separate task: if the caller is dropped, the task drops the new upload, which aborts it.
    async fn begin(target: &Arc<Target>) -> Result<Self, Error> {
        let (target, runtime) = (Arc::clone(target), Handle::current());
        let what = target.what();
        let task = runtime.clone().spawn(async move {
            let upload = target.begin().await.map_err(|error| failed(&target.what(), error))?;
            Ok(Self { upload: Some(upload), target, runtime })
        });
        task.await.map_err(|error| {
            Error::new(ErrorKind::Unavailable, format!("{what}: a task of the upload ended: {error}"))
        })?
    }

    /// Writes all parts and completes the upload. After a failure, it is aborted. The outcome is unknown if completing
    /// it failed.
    async fn send(mut self, first: Part, source: Source) -> Result<(), Unwritten> {
        let sent = match self.send_parts(first, source).await {
            Ok(()) => self.complete().await.map_err(Unwritten::Possibly),
            Err(error) => Err(Unwritten::Certainly(error)),
        };
        if let Some(task) = self.abort_in_background() {
            // The task fails only if the runtime ends.
            let _ = task.await;
        }
        sent
    }

    async fn send_parts(&mut self, first: Part, source: Source) -> Result<(), Error> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        let what = &self.target.what();
        let rest = stream::try_unfold(source, |mut source| async {
            Ok::<_, Error>(source.part().await?.map(|part| (part, source)))
        });
        let sending = stream::iter([Ok(first)]).chain(rest).enumerate().map(|(number, part)| {
            let part = part?;
            if number as u64 >= u64::from(MAX_PARTS) {
                let text = format!("{what}: more than {MAX_PARTS} parts: set the length of the payload");
                return Err(Error::new(ErrorKind::Rejected, text));
            }
            let sent = upload.put_part(payload(&part));
            Ok(async move { sent.await.map_err(|error| failed(what, error)) })
        });
        sending.try_buffer_unordered(IN_FLIGHT).try_collect::<()>().await
    }

    async fn complete(&mut self) -> Result<(), Error> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        upload.complete().await.map_err(|error| failed(&self.target.what(), error))?;
        self.upload = None;
        Ok(())
    }

    fn abort_in_background(&mut self) -> Option<JoinHandle<()>> {
        let (mut upload, target) = (self.upload.take()?, Arc::clone(&self.target));
        Some(self.runtime.spawn(async move {
            match upload.abort().await {
                // The upload was completed before.
                Ok(()) | Err(Foreign::NotFound { .. }) => {}
                Err(error) => {
                    let (bucket, key) = (target.at.bucket(), target.at.key());
                    tracing::warn!(bucket, key, %error, "an upload could not be aborted");
                }
            }
        }))
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.abort_in_background();
    }
}
