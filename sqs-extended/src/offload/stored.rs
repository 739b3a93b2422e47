//! One payload on its way into the store and, with its message, into the queue.

use std::collections::HashMap;

use bytes::Bytes;
use sqs_client::ErrorKind as ClientErrorKind;
use sqs_client::checksum::{Md5Hex, content_deduplication_id, md5_of_attributes};
use sqs_client::client::Execute;
use sqs_client::types::MessageAttributeValue;

use crate::cleanup::Doomed;
use crate::client::ExtendedClient;
use crate::digest::{Digests, SHA256_METADATA};
use crate::error::Error;
use crate::event::Event;
use crate::store::{PayloadStore, StoreError, StoreErrorKind, Upload, UploadBody};

/// What is changed of a message when its payload goes through the store.
pub(crate) struct Parts<'m> {
    pub(crate) body: &'m mut String,
    pub(crate) attributes: &'m mut Option<HashMap<String, MessageAttributeValue>>,
    pub(crate) deduplication_id: &'m mut Option<String>,
}

/// Checksums of a message as its sender gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Original {
    pub(crate) md5_of_body: Md5Hex,
    pub(crate) md5_of_attributes: Option<Md5Hex>,
}

/// Whether it is certain that no attempt of the call has stored a message.
pub(crate) fn is_refused(error: &Error) -> bool {
    let is_damaged = error.client_error().is_some_and(|error| error.kind() == ClientErrorKind::Checksum);
    !is_damaged && !error.is_outcome_unknown()
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// Stores the body of a message and puts a pointer in its place. When that fails, the message is not to be sent.
    pub(crate) async fn stow(
        &self,
        queue_url: &str,
        parts: Parts<'_>,
    ) -> Result<(Doomed<S>, Original), Error> {
        let Parts { body, attributes, deduplication_id } = parts;
        self.shared.envelope.check(attributes.as_ref())?;
        self.name_content(queue_url, body, deduplication_id).await;
        let payload = Bytes::from(std::mem::take(body));
        let digests = Digests::of(&payload).await;
        let original = Original {
            md5_of_body: digests.md5,
            md5_of_attributes: md5_of_attributes(attributes.iter().flatten()),
        };
        let bytes = payload.len() as u64;
        let stored = self.upload(payload, digests.sha256).await?;
        let Some(pointer) = stored.pointer() else { return Ok((stored, original)) };
        *body = self.shared.envelope.seal(pointer, bytes, attributes);
        Ok((stored, original))
    }

    /// A FIFO queue that makes deduplication ids of the content would make one of the pointer, which never is the same.
    async fn name_content(&self, queue_url: &str, body: &str, deduplication_id: &mut Option<String>) {
        if deduplication_id.is_some() || !queue_url.ends_with(".fifo") {
            return;
        }
        let facts = self.shared.almanac.ask(&self.inner, queue_url).await;
        if facts.content_based_deduplication {
            *deduplication_id = Some(content_deduplication_id(body));
        }
    }

    async fn upload(&self, payload: Bytes, sha256: String) -> Result<Doomed<S>, Error> {
        let shared = &self.shared;
        let (bytes, pointer) = (payload.len(), shared.envelope.address(&crate::random::uuid()));
        let mut upload = Upload::new(UploadBody::Bytes(payload));
        upload.content_type = Some("text/plain; charset=utf-8".to_owned());
        upload.metadata.insert(SHA256_METADATA.to_owned(), sha256);
        let doomed = Doomed::new(&shared.cleaner, pointer.clone());
        match shared.store.put(&pointer, upload).await {
            Ok(()) => {
                shared.tally.uploads.add(1);
                shared.tally.uploaded_bytes.add(bytes);
                Ok(doomed)
            }
            Err(error) => {
                shared.tally.uploads_failed.add(1);
                undo(doomed, &error).await;
                let error = Error::upload(&pointer, error);
                shared.herald.tell(&Event::UploadFailed { error: &error });
                Err(error)
            }
        }
    }

    /// The message of an object was sent, and nobody knows whether it is in the queue.
    pub(crate) fn keep_in_doubt(&self, pointer: &crate::pointer::Pointer) {
        self.shared.tally.outcomes_unknown.add(1);
        self.shared.herald.tell(&Event::OutcomeUnknown { pointer });
    }
}

/// After most errors there is no object. One that was there before is not ours.
pub(super) async fn undo<S: PayloadStore>(doomed: Doomed<S>, error: &StoreError) {
    if error.is_outcome_unknown() && error.kind() != StoreErrorKind::Exists {
        doomed.delete().await;
    } else {
        doomed.spare();
    }
}
