//! The object of a message: writes it, and puts its pointer into the message.

use bytes::Bytes;
use sqs_client::client::Execute;
use sqs_client::types::SendMessageBatchRequestEntry;
use sqs_client::wire::checksum::Md5Hex;

use super::request::Parts;
use crate::cleanup::UnneededObject;
use crate::client::{ExtendedClient, Shared};
use crate::digest::Digests;
use crate::error::Error;
use crate::event::Event;
use crate::payload::{Payload, TEXT, Uploaded};
use crate::pointer::Pointer;
use crate::store::{Upload, UploadBody};

/// An object whose message is not sent yet.
pub(super) struct NewObject {
    pub(super) guard: UnneededObject,
    pub(super) pointer: Pointer,
    pub(super) length: u64,
    /// In hex.
    sha256: Option<String>,
    /// `None` for a stream.
    pub(super) md5: Option<Md5Hex>,
}

impl<H: Execute> ExtendedClient<H> {
    /// Writes the body of a message to a new object. If that fails, the message must not be sent.
    pub(super) async fn write_text(&self, text: Bytes) -> Result<NewObject, Error> {
        let Digests { sha256, md5 } = Digests::of(&text).await;
        let (pointer, guard) = self.new_object();
        let uploaded = Uploaded { length: text.len() as u64, sha256: Some(sha256) };
        let mut upload = Upload::new(UploadBody::Bytes(text));
        upload.content_type = Some(TEXT.to_owned());
        let result = self.shared.store.put(&pointer, upload).await.map(|()| uploaded);
        let object = self.written(pointer, guard, result).await?;
        Ok(NewObject { md5: Some(md5), ..object })
    }

    /// Like [`write_text`](Self::write_text), for a stream.
    pub(super) async fn write_stream(&self, payload: Payload) -> Result<NewObject, Error> {
        let (pointer, guard) = self.new_object();
        let result = payload.put(&self.shared.store, &pointer).await;
        self.written(pointer, guard, result).await
    }

    fn new_object(&self) -> (Pointer, UnneededObject) {
        let pointer = self.shared.envelope.address(&crate::random::uuid());
        (pointer.clone(), self.shared.cleaner.new_object(pointer))
    }

    async fn written(
        &self,
        pointer: Pointer,
        guard: UnneededObject,
        result: Result<Uploaded, Error>,
    ) -> Result<NewObject, Error> {
        let Shared { tally, events, .. } = &*self.shared;
        match result {
            Ok(Uploaded { length, sha256 }) => {
                tally.uploads.add(1);
                tally.uploaded_bytes.add(usize::try_from(length).unwrap_or(usize::MAX));
                Ok(NewObject { guard: guard.written(), pointer, length, sha256, md5: None })
            }
            Err(error) => {
                tally.uploads_failed.add(1);
                undo(guard, &error).await;
                let error = error.not_sent(&pointer);
                events.send(&Event::UploadFailed { error: &error });
                Err(error)
            }
        }
    }

    /// Puts the pointer into a message.
    ///
    /// Content-based deduplication would hash the pointer, which is different each time. With `sets_id`, the message
    /// gets an id from its payload instead.
    pub(super) fn point(&self, object: &NewObject, message: Parts<'_>, sets_id: bool) {
        let (Parts { body, attributes, deduplication_id }, sha256) = (message, object.sha256.as_deref());
        *body = self.shared.envelope.seal(&object.pointer, object.length, sha256, attributes);
        if sets_id && deduplication_id.is_none() {
            *deduplication_id = sha256.map(str::to_owned);
        }
    }

    /// Whether messages without a deduplication id need one from their content. If the attributes of the queue are
    /// unknown, they do: a duplicate is worse than an unnecessary id.
    pub(super) async fn sets_ids(&self, queue_url: &str) -> bool {
        queue_url.ends_with(".fifo")
            && self.shared.queue_attributes.ask(&self.inner, queue_url).await.content_based_deduplication
                != Some(false)
    }
}

/// Objects of entries that a layer above sends, perhaps several times.
impl<H: Execute> ExtendedClient<H> {
    /// Stores the body of an entry if it is over the threshold. Returns the entry with its pointer, and the object, which is
    /// deleted unless the entry is used.
    pub(crate) async fn stored(
        &self,
        queue_url: &str,
        entry: &SendMessageBatchRequestEntry,
    ) -> Result<Option<(SendMessageBatchRequestEntry, UnneededObject)>, Error> {
        let threshold = self.threshold(Some(queue_url)).await;
        let envelope = &self.shared.envelope;
        if !envelope.sizes(entry.message_body(), entry.message_attributes()).exceed(threshold) {
            return Ok(None);
        }
        envelope.check(entry.message_body().len() as u64, entry.message_attributes())?;
        let sets_id = self.sets_ids(queue_url).await;
        let mut stored = entry.clone();
        let object = self.write_text(Bytes::from(std::mem::take(&mut stored.message_body))).await?;
        let parts = Parts {
            body: &mut stored.message_body,
            attributes: &mut stored.message_attributes,
            deduplication_id: &mut stored.message_deduplication_id,
        };
        self.point(&object, parts, sets_id);
        Ok(Some((stored, object.guard)))
    }

    /// The object of an entry from [`stored`](Self::stored). If SQS may have the message, it is kept and reported instead.
    pub(crate) fn unneeded(
        &self,
        entry: &SendMessageBatchRequestEntry,
        is_maybe_sent: bool,
    ) -> Option<UnneededObject> {
        let pointer = Pointer::from_body(entry.message_body()).ok()?;
        let prefix = &self.shared.settings.key_prefix;
        if pointer.bucket() != self.shared.store.bucket() || !pointer.key().starts_with(prefix.as_str()) {
            return None;
        }
        let object = self.shared.cleaner.object(pointer);
        // Dropping it reports it.
        (!is_maybe_sent).then(|| object.unneeded())
    }
}

/// Deletes the object of a failed upload if it may exist.
async fn undo(guard: UnneededObject, error: &Error) {
    if error.is_outcome_unknown() {
        guard.delete().await;
    } else {
        guard.not_written();
    }
}
