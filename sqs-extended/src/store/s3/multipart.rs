//! Writing in parts.
//!
//! ```text
//! source -> ready (one part) -> tasks (at most `in_flight`, one part each) -> done -> Complete
//!   any error, or dropped: tasks are stopped, then Abort, in a task of its own
//! ```

use aws_sdk_s3::types::{ChecksumAlgorithm, CompletedMultipartUpload, CompletedPart};
use base64_simd::STANDARD;
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinHandle, JoinSet};

use super::attempts::Attempts;
use super::error::{Asked, What, causes};
use super::object::{About, describe};
use super::part::Part;
use super::put::length;
use super::source::{MAX_PARTS, Source};
use super::{S3Store, chain};
use crate::pointer::Pointer;
use crate::store::{StoreError, StoreErrorKind};

/// An upload that was begun and has to be completed or aborted.
struct Begun {
    store: S3Store,
    at: Pointer,
    id: String,
    tasks: JoinSet<Result<CompletedPart, StoreError>>,
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
    ) -> Result<(), StoreError> {
        let (about, mut begun) = self.begin(at, about).await?;
        match begun.send_all(first, &mut source).await {
            Ok(parts) => begun.complete(parts, &about).await,
            Err(error) => {
                begun.abort().await;
                Err(error)
            }
        }
    }

    /// In a task of its own: if nobody waits for its answer any more, the upload that it tells of is dropped, and so aborted.
    async fn begin(&self, at: &Pointer, about: About) -> Result<(About, Begun), StoreError> {
        let (store, place, runtime) = (self.clone(), at.clone(), Handle::current());
        let task = runtime.clone().spawn(async move {
            let request = describe!(store.client().create_multipart_upload(), store, place, about);
            let asked = Asked::of(What::Write, &place);
            let answer = request.checksum_algorithm(ChecksumAlgorithm::Sha256).send().await;
            let id = answer.map_err(|error| asked.failed(error))?.upload_id;
            let id = id.ok_or_else(|| asked.wrong(StoreErrorKind::Refused, "S3 gives no id of an upload"))?;
            Ok((about, Begun { store, at: place, id, tasks: JoinSet::new(), runtime, is_open: true }))
        });
        task.await.map_err(|error| stopped(at, &error))?
    }
}

impl Begun {
    async fn send_all(&mut self, first: Part, source: &mut Source) -> Result<Vec<CompletedPart>, StoreError> {
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

    fn send(&mut self, number: u32, part: Part) -> Result<(), StoreError> {
        let asked = Asked::of(What::Write, &self.at);
        if number > MAX_PARTS {
            let says = format!("more than {MAX_PARTS} parts; say the length beforehand, or set larger parts");
            return Err(asked.wrong(StoreErrorKind::Refused, says));
        }
        let (store, at, id) = (self.store.clone(), self.at.clone(), self.id.clone());
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        self.tasks.spawn_on(async move { store.send_part(&at, &id, number, &part).await }, &self.runtime);
        Ok(())
    }

    async fn complete(mut self, parts: Vec<CompletedPart>, about: &About) -> Result<(), StoreError> {
        let attempts = Attempts::default();
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let request = self.store.client().complete_multipart_upload().bucket(self.at.bucket());
        let request = request.key(self.at.key()).upload_id(&self.id).multipart_upload(parts);
        let request = request
            .set_if_none_match(self.store.if_none_match())
            .set_expected_bucket_owner(self.store.owner());
        let Err(error) = request.customize().interceptor(attempts.clone()).send().await else {
            self.is_open = false;
            return Ok(());
        };
        let (store, at) = (self.store.clone(), self.at.clone());
        let error = Asked::of(What::Write, &at).failed(error);
        // What could still be aborted was not completed.
        if self.abort().await || !attempts.maybe_applied() {
            return Err(error);
        }
        store.settle(&at, about, error).await
    }

    /// Says whether S3 has aborted it.
    async fn abort(mut self) -> bool {
        match self.abort_in_background() {
            Some(task) => task.await.unwrap_or_default(),
            None => false,
        }
    }

    fn abort_in_background(&mut self) -> Option<JoinHandle<bool>> {
        std::mem::take(&mut self.is_open).then(|| {
            let (store, at, id) = (self.store.clone(), self.at.clone(), std::mem::take(&mut self.id));
            let mut tasks = std::mem::take(&mut self.tasks);
            self.runtime.spawn(async move {
                tasks.shutdown().await;
                store.abort(&at, id).await
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
    ) -> Result<CompletedPart, StoreError> {
        let hash = STANDARD.encode_to_string(part.sha256().await);
        let request = self.client().upload_part().bucket(at.bucket()).key(at.key()).upload_id(id);
        let request = request.part_number(number).content_length(length(part)).checksum_sha256(&hash);
        let request = request.set_expected_bucket_owner(self.owner()).body(chain::body(part));
        let sent = request.send().await.map_err(|error| Asked::of(What::Write, at).failed(error))?;
        let part = CompletedPart::builder().part_number(number).set_e_tag(sent.e_tag);
        Ok(part.checksum_sha256(hash).build())
    }

    async fn abort(&self, at: &Pointer, id: String) -> bool {
        let request = self.client().abort_multipart_upload().bucket(at.bucket()).key(at.key());
        let answer = request.upload_id(&id).set_expected_bucket_owner(self.owner()).send().await;
        if let Err(error) = &answer {
            let cause = causes(error);
            tracing::warn!(bucket = at.bucket(), key = at.key(), upload = id, %cause, "an upload could not be aborted");
        }
        answer.is_ok()
    }
}

/// A task ends otherwise when the runtime does, and when it panics.
fn stopped(at: &Pointer, error: &JoinError) -> StoreError {
    let says = format!("the task of an upload has ended: {error}");
    Asked::of(What::Write, at).wrong(StoreErrorKind::Interrupted, says)
}
