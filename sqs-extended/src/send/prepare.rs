//! Stores the body of an entry once, for all attempts to send it.

use bytes::Bytes;
use sqs_client::client::Execute;
use sqs_client::types::SendMessageBatchRequestEntry;

use super::request::Parts;
use crate::cleanup::UnneededObject;
use crate::client::ExtendedClient;
use crate::error::Error;
use crate::pointer::Pointer;

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
