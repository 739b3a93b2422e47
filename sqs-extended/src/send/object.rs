//! The object of a message: writes it, and puts its pointer into the message.

use bytes::Bytes;
use sqs_client::client::Execute;
use sqs_client::wire::checksum::Md5Hex;

use super::request::Parts;
use crate::cleanup::UnsentObject;
use crate::client::ExtendedClient;
use crate::digest::Digests;
use crate::error::{Error, ErrorKind};
use crate::event::Event;
use crate::payload::{Payload, TEXT, Uploaded};
use crate::pointer::Pointer;
use crate::store::{Upload, UploadBody};

/// An object whose message is not sent yet.
pub(super) struct NewObject {
    pub(super) guard: UnsentObject,
    pub(super) pointer: Pointer,
    pub(super) length: u64,
    /// In hex.
    sha256: Option<String>,
    /// Of a text.
    pub(super) md5: Option<Md5Hex>,
}

impl<H: Execute> ExtendedClient<H> {
    /// Writes the body of a message to a new object. If that fails, the message must not be sent.
    pub(super) async fn write_text(&self, text: Bytes) -> Result<NewObject, Error> {
        let Digests { sha256, md5 } = Digests::of(&text).await;
        let uploaded = Uploaded { length: text.len() as u64, sha256: Some(sha256) };
        let mut upload = Upload::new(UploadBody::Bytes(text));
        upload.content_type = Some(TEXT.to_owned());
        let write = async |at: &Pointer| self.shared.store.put(at, upload).await.map(|()| uploaded);
        let object = self.write(write).await?;
        Ok(NewObject { md5: Some(md5), ..object })
    }

    /// As [`write_text`](Self::write_text), for a stream.
    pub(super) async fn write_stream(&self, payload: Payload) -> Result<NewObject, Error> {
        self.write(async |at: &Pointer| payload.put(&self.shared.store, at).await).await
    }

    async fn write(
        &self,
        write: impl AsyncFnOnce(&Pointer) -> Result<Uploaded, Error>,
    ) -> Result<NewObject, Error> {
        let shared = &self.shared;
        let pointer = shared.envelope.address(&crate::random::uuid());
        let guard = shared.cleaner.guard(pointer.clone());
        match write(&pointer).await {
            Ok(Uploaded { length, sha256 }) => {
                shared.tally.uploads.add(1);
                shared.tally.uploaded_bytes.add(usize::try_from(length).unwrap_or(usize::MAX));
                Ok(NewObject { guard, pointer, length, sha256, md5: None })
            }
            Err(error) => {
                shared.tally.uploads_failed.add(1);
                undo(guard, &error).await;
                let error = error.not_sent(&pointer);
                shared.events.send(&Event::UploadFailed { error: &error });
                Err(error)
            }
        }
    }

    /// Puts the pointer into a message.
    ///
    /// Content-based deduplication would use the pointer, which is different each time; `sets_id` replaces it.
    pub(super) fn point(&self, object: &NewObject, message: Parts<'_>, sets_id: bool) {
        let sha256 = object.sha256.as_deref();
        *message.body =
            self.shared.envelope.seal(&object.pointer, object.length, sha256, message.attributes);
        if sets_id && message.deduplication_id.is_none() {
            *message.deduplication_id = sha256.map(str::to_owned);
        }
    }

    /// Whether messages without a deduplication id need one of their content. If the attributes of the queue are unknown, they do: a
    /// duplicate is worse than an id that is not needed.
    pub(super) async fn sets_ids(&self, queue_url: &str) -> bool {
        queue_url.ends_with(".fifo")
            && self.shared.queue_attributes.ask(&self.inner, queue_url).await.content_based_deduplication
                != Some(false)
    }
}

/// Deletes the object of a failed upload if it may exist. An object that existed before belongs to another upload.
async fn undo(guard: UnsentObject, error: &Error) {
    if error.is_outcome_unknown() && error.kind() != ErrorKind::Exists {
        guard.delete().await;
    } else {
        guard.keep();
    }
}
