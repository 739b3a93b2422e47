//! A message that is sent alone.

use sqs_client::client::Execute;
use sqs_client::operation::send_message::{SendMessageInput, SendMessageOutput};

use super::stored::{Original, Parts, is_refused};
use crate::client::ExtendedClient;
use crate::error::Error;
use crate::pointer::Pointer;
use crate::store::PayloadStore;

/// A message whose payload is in the store, while it is being sent.
#[derive(Debug)]
pub(crate) struct Sent {
    pointer: Option<Pointer>,
    original: Original,
}

impl<S: PayloadStore, H: Execute> ExtendedClient<S, H> {
    /// Stores the payload of a message.
    pub(crate) async fn before_send(&self, input: &mut SendMessageInput) -> Result<Sent, Error> {
        let queue_url = input.queue_url.clone().unwrap_or_default();
        let mut body = input.message_body.take().unwrap_or_default();
        let parts = Parts {
            body: &mut body,
            attributes: &mut input.message_attributes,
            deduplication_id: &mut input.message_deduplication_id,
        };
        let (stored, original) = self.stow(&queue_url, parts).await?;
        input.message_body = Some(body);
        // From here on somebody may need the object.
        Ok(Sent { pointer: stored.spare(), original })
    }

    /// Deletes the payload of a message that was refused, and shows the checksums of what the caller gave.
    pub(crate) async fn after_send(&self, sent: Sent, result: &mut Result<SendMessageOutput, Error>) {
        match result {
            Ok(output) => sent.original.show(output),
            Err(error) if is_refused(error) => self.shared.cleaner.delete(sent.pointer).await,
            Err(_) => sent.pointer.iter().for_each(|pointer| self.keep_in_doubt(pointer)),
        }
    }
}

impl Original {
    fn show(self, output: &mut SendMessageOutput) {
        // Where the service gives no checksum, there is none to show.
        if output.md5_of_message_body.is_some() {
            output.md5_of_message_body = Some(self.md5_of_body.into());
        }
        if output.md5_of_message_attributes.is_some() {
            output.md5_of_message_attributes = self.md5_of_attributes.map(Into::into);
        }
    }
}
