//! Stores the payload of a message.

use std::collections::HashMap;

use bytes::Bytes;
use sqs_client::ErrorKind as ClientErrorKind;
use sqs_client::client::Execute;
use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::{Md5Hex, content_deduplication_id, md5_of_attributes};

use crate::cleanup::DeleteOnDrop;
use crate::client::ExtendedClient;
use crate::digest::{Digests, SHA256_METADATA};
use crate::error::{Error, ErrorKind};
use crate::event::Event;
use crate::pointer::Pointer;
use crate::store::{Upload, UploadBody};

/// The parts of a message that change when its payload is stored.
pub(crate) struct Parts<'m> {
    pub(crate) body: &'m mut String,
    pub(crate) attributes: &'m mut Option<HashMap<String, MessageAttributeValue>>,
    pub(crate) deduplication_id: &'m mut Option<String>,
}

/// The checksums of the original message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Original {
    pub(crate) md5_of_body: Md5Hex,
    pub(crate) md5_of_attributes: Option<Md5Hex>,
}

/// The content of an object.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    payload: Bytes,
    sha256: String,
}

/// Whether payloads are kept in memory while their messages are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Keep {
    /// They are, to be stored anew when the request has to be made again.
    ForRepetition,
    /// There will be no other request.
    Nothing,
}

/// A payload in the store, whose message is being sent.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) pointer: Pointer,
    pub(crate) original: Original,
    /// `None` unless it is kept.
    pub(crate) content: Option<Content>,
}

/// Whether SQS certainly has not stored a message.
pub(crate) fn is_refused(error: &Error) -> bool {
    let is_damaged = error.client_error().is_some_and(|error| error.kind() == ClientErrorKind::Checksum);
    !is_damaged && !error.is_outcome_unknown()
}

impl<H: Execute> ExtendedClient<H> {
    /// Stores the body of a message and replaces it by a pointer. If that fails, the message must not be sent.
    pub(crate) async fn offload_body(
        &self,
        queue_url: &str,
        parts: Parts<'_>,
        keep: Keep,
    ) -> Result<(DeleteOnDrop, Stored), Error> {
        let Parts { body, attributes, deduplication_id } = parts;
        self.shared.envelope.check(body.len() as u64, attributes.as_ref())?;
        self.ensure_deduplication_id(queue_url, body, deduplication_id).await;
        let payload = Bytes::from(std::mem::take(body));
        let digests = Digests::of(&payload).await;
        let original = Original {
            md5_of_body: digests.md5,
            md5_of_attributes: md5_of_attributes(attributes.iter().flatten()),
        };
        let length = payload.len() as u64;
        let content = Content { payload, sha256: digests.sha256 };
        let kept = (keep == Keep::ForRepetition).then(|| content.clone());
        let (guard, pointer) = self.upload(content).await?;
        *body = self.shared.envelope.seal(&pointer, length, None, attributes);
        Ok((guard, Stored { pointer, original, content: kept }))
    }

    /// Replaces the object of a message before its request is repeated. SQS may have the first message: if both had the same object,
    /// deleting one would delete the payload of the other.
    pub(crate) fn readdress(&self, stored: &mut Stored, body: &mut String, object: (DeleteOnDrop, Pointer)) {
        let (guard, pointer) = object;
        *body = self.shared.envelope.body(&pointer);
        self.keep_in_doubt(&std::mem::replace(&mut stored.pointer, pointer));
        guard.keep();
    }

    /// Content-based deduplication would use the pointer, which is different each time. If the attributes of the queue are unknown, an
    /// id is set, too: a duplicate is worse than an id that is not needed.
    async fn ensure_deduplication_id(
        &self,
        queue_url: &str,
        body: &str,
        deduplication_id: &mut Option<String>,
    ) {
        if deduplication_id.is_some() || !queue_url.ends_with(".fifo") {
            return;
        }
        let facts = self.shared.queue_attributes.ask(&self.inner, queue_url).await;
        if facts.content_based_deduplication != Some(false) {
            *deduplication_id = Some(content_deduplication_id(body));
        }
    }

    /// Writes a payload to a new object.
    pub(crate) async fn upload(&self, content: Content) -> Result<(DeleteOnDrop, Pointer), Error> {
        let shared = &self.shared;
        let Content { payload, sha256 } = content;
        let (bytes, pointer) = (payload.len(), shared.envelope.address(&crate::random::uuid()));
        let mut upload = Upload::new(UploadBody::Bytes(payload));
        upload.content_type = Some("text/plain; charset=utf-8".to_owned());
        upload.metadata.insert(SHA256_METADATA.to_owned(), sha256);
        let guard = DeleteOnDrop::new(&shared.cleaner, pointer.clone());
        match shared.store.put(&pointer, upload).await {
            Ok(()) => {
                shared.tally.uploads.add(1);
                shared.tally.uploaded_bytes.add(bytes);
                Ok((guard, pointer))
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

    /// It is unknown whether SQS has the message of an object.
    pub(crate) fn keep_in_doubt(&self, pointer: &Pointer) {
        self.shared.tally.outcomes_unknown.add(1);
        self.shared.events.send(&Event::OutcomeUnknown { pointer });
    }
}

/// Deletes the object of a failed upload if it may exist. An object that existed before belongs to another upload.
pub(super) async fn undo(guard: DeleteOnDrop, error: &Error) {
    if error.is_outcome_unknown() && error.kind() != ErrorKind::Exists {
        guard.delete().await;
    } else {
        guard.keep();
    }
}
