//! One payload on its way into the store and, with its message, into the queue.

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

/// What is changed of a message when its payload goes through the store.
pub(crate) struct Parts<'m> {
    pub(crate) body: &'m mut String,
    pub(crate) attributes: &'m mut Option<HashMap<String, MessageAttributeValue>>,
    pub(crate) deduplication_id: &'m mut Option<String>,
}

/// A message as its sender gave it: what has to be known when its answer is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Original {
    pub(crate) md5_of_body: Md5Hex,
    pub(crate) md5_of_attributes: Option<Md5Hex>,
}

/// What goes into an object.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    payload: Bytes,
    sha256: String,
}

/// Whether payloads are kept while their messages are sent.
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
    /// There if it is kept.
    pub(crate) content: Option<Content>,
}

/// Whether it is certain that no attempt of the call has stored a message.
pub(crate) fn is_refused(error: &Error) -> bool {
    let is_damaged = error.client_error().is_some_and(|error| error.kind() == ClientErrorKind::Checksum);
    !is_damaged && !error.is_outcome_unknown()
}

impl<H: Execute> ExtendedClient<H> {
    /// Stores the body of a message and puts a pointer in its place. When that fails, the message is not to be sent.
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

    /// Gives a message another object, before it is sent once more. Nobody knows whether the message that has the first one is
    /// in the queue: with one object for both, who deletes one message would take the payload from the other.
    pub(crate) fn readdress(&self, stored: &mut Stored, body: &mut String, object: (DeleteOnDrop, Pointer)) {
        let (guard, pointer) = object;
        *body = self.shared.envelope.body(&pointer);
        self.keep_in_doubt(&std::mem::replace(&mut stored.pointer, pointer));
        guard.keep();
    }

    /// A FIFO queue that makes deduplication ids of the content would make one of the pointer, which never is the same. Any
    /// queue may do so that does not say that it does not: a message twice is worse than one id that was not needed.
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

    /// Puts a payload into a new object.
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

    /// The message of an object was sent, and nobody knows whether it is in the queue.
    pub(crate) fn keep_in_doubt(&self, pointer: &Pointer) {
        self.shared.tally.outcomes_unknown.add(1);
        self.shared.events.send(&Event::OutcomeUnknown { pointer });
    }
}

/// After most errors there is no object. One that was there before is not ours.
pub(super) async fn undo(guard: DeleteOnDrop, error: &Error) {
    if error.is_outcome_unknown() && error.kind() != ErrorKind::Exists {
        guard.delete().await;
    } else {
        guard.keep();
    }
}
