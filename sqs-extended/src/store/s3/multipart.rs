//! Writes an object as a multipart upload.
//!
//! ```text
//! source -> ready (one part) -> tasks (at most `in_flight`, one part each) -> done -> Complete
//!   an error or a drop: the tasks are stopped, then Abort in its own task
//! ```

use aws_sdk_s3::operation::abort_multipart_upload::AbortMultipartUploadError;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle, JoinSet};

use super::attempts::Attempts;
use super::checksum::{Checksum, with_checksum};
use super::error::{Asked, What, causes};
use super::object::{About, describe};
use super::put::length;
use super::{S3Store, chain};
use crate::error::{Error, ErrorKind};
use crate::pointer::Pointer;
use crate::store::parts::{MAX_PARTS, Part, Source};

/// A multipart upload. It is aborted on drop.
struct Begun {
    store: S3Store,
    at: Pointer,
    id: String,
    tasks: JoinSet<Result<CompletedPart, Error>>,
    runtime: Handle,
    is_open: bool,
}

impl S3Store {
    pub(super) async fn put_parts(
        &self,
        at: &Pointer,
        about: About,
        first: Part,
        mut source: Source,
    ) -> Result<(), Error> {
        let (about, mut begun) = self.begin(at, about).await?;
        match begun.send_all(first, &mut source).await {
            Ok(parts) => begun.complete(parts, &about).await,
            Err(error) => {
                begun.abort().await;
                Err(error)
            }
        }
    }

    /// Runs in a separate task: if the caller is dropped, the task drops the new upload, which aborts it.
    async fn begin(&self, at: &Pointer, about: About) -> Result<(About, Begun), Error> {
        let (store, place, runtime) = (self.clone(), at.clone(), Handle::current());
        let task = runtime.clone().spawn(async move {
            let request =
                describe!(store.client(place.bucket()).create_multipart_upload(), store, place, about);
            let asked = Asked::of(What::Write, &place);
            let answer = request.set_checksum_algorithm(store.settings().checksum.algorithm()).send().await;
            let id = answer.map_err(|error| asked.failed(error))?.upload_id;
            let id = id.ok_or_else(|| asked.wrong(ErrorKind::Rejected, "S3 returned no upload id"))?;
            Ok((about, Begun { store, at: place, id, tasks: JoinSet::new(), runtime, is_open: true }))
        });
        task.await.map_err(|error| stopped(at, &error))?
    }
}

impl Begun {
    async fn send_all(&mut self, first: Part, source: &mut Source) -> Result<Vec<CompletedPart>, Error> {
        let in_flight = self.store.settings().in_flight;
        let (mut ready, mut number, mut done, mut ended) = (Some(first), 0, Vec::new(), false);
        while !(ended && ready.is_none() && self.tasks.is_empty()) {
            if self.tasks.len() < in_flight
                && let Some(part) = ready.take()
            {
                number += 1;
                self.send(number, part)?;
            }
            tokio::select! {
                part = source.part(), if ready.is_none() && !ended => {
                    ready = part?;
                    ended = ready.is_none();
                }
                Some(part) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    done.push(part.map_err(|error| stopped(&self.at, &error))??);
                }
                else => {}
            }
        }
        done.sort_unstable_by_key(|part: &CompletedPart| part.part_number);
        Ok(done)
    }

    fn send(&mut self, number: u32, part: Part) -> Result<(), Error> {
        let asked = Asked::of(What::Write, &self.at);
        if number > MAX_PARTS {
            let says =
                format!("more than {MAX_PARTS} parts: set the length of the payload, or a larger part_size");
            return Err(asked.wrong(ErrorKind::Rejected, says));
        }
        let (store, at, id) = (self.store.clone(), self.at.clone(), self.id.clone());
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        self.tasks.spawn_on(async move { store.send_part(&at, &id, number, &part).await }, &self.runtime);
        Ok(())
    }

    async fn complete(mut self, parts: Vec<CompletedPart>, about: &About) -> Result<(), Error> {
        let attempts = Attempts::default();
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let (store, at) = (self.store.clone(), self.at.clone());
        let request = store.client(at.bucket()).complete_multipart_upload().bucket(at.bucket());
        let request = request.key(at.key()).upload_id(&self.id).multipart_upload(parts);
        let request = request
            .set_if_none_match(store.if_none_match())
            .set_expected_bucket_owner(store.owner(at.bucket()));
        let Err(error) = request.customize().interceptor(attempts.clone()).send().await else {
            self.is_open = false;
            return Ok(());
        };
        let error = Asked::of(What::Write, &at).failed(error);
        // Some services respond with 204 to the abort of a completed upload, so the response says nothing about the
        // object.
        self.abort().await;
        if attempts.maybe_applied() { store.settle(&at, about, error).await } else { Err(error) }
    }

    async fn abort(mut self) {
        if let Some(task) = self.abort_in_background() {
            // The task fails only if the runtime ends.
            let _ = task.await;
        }
    }

    fn abort_in_background(&mut self) -> Option<JoinHandle<()>> {
        std::mem::take(&mut self.is_open).then(|| {
            let (store, at, id) = (self.store.clone(), self.at.clone(), std::mem::take(&mut self.id));
            let mut tasks = std::mem::take(&mut self.tasks);
            self.runtime.spawn(async move {
                tasks.shutdown().await;
                store.abort(&at, id).await;
            })
        })
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.abort_in_background();
    }
}

impl S3Store {
    async fn send_part(
        &self,
        at: &Pointer,
        id: &str,
        number: i32,
        part: &Part,
    ) -> Result<CompletedPart, Error> {
        let checksum = self.settings().checksum;
        let sum = checksum.of(part).await;
        let request = self.client(at.bucket()).upload_part().bucket(at.bucket()).key(at.key()).upload_id(id);
        let request = request.part_number(number).content_length(length(part)).body(chain::body(part));
        let request = request.set_checksum_algorithm(checksum.algorithm());
        let request = with_checksum!(request, sum).set_expected_bucket_owner(self.owner(at.bucket()));
        let sent = request.customize().config_override(self.checksums()).send().await;
        let sent = sent.map_err(|error| Asked::of(What::Write, at).failed(error))?;
        let completed = CompletedPart::builder().part_number(number).set_e_tag(sent.e_tag);
        Ok(with_checksum!(completed, sum).build())
    }

    async fn abort(&self, at: &Pointer, id: String) {
        let request = self.client(at.bucket()).abort_multipart_upload().bucket(at.bucket()).key(at.key());
        let answer = request.upload_id(&id).set_expected_bucket_owner(self.owner(at.bucket())).send().await;
        match answer {
            Ok(_) => {}
            // The upload was completed or aborted before.
            Err(error)
                if error.as_service_error().is_some_and(AbortMultipartUploadError::is_no_such_upload) => {}
            Err(error) => {
                let cause = causes(&error);
                tracing::warn!(bucket = at.bucket(), key = at.key(), upload = id, %cause, "an upload could not be aborted");
            }
        }
    }
}

/// A task ends early if the runtime ends or it panics.
fn stopped(at: &Pointer, error: &JoinError) -> Error {
    let says = format!("a task of the upload ended: {error}");
    Asked::of(What::Write, at).wrong(ErrorKind::Unavailable, says)
}
