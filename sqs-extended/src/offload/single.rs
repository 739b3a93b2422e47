//! Sends one message.

use sqs_client::client::Execute;
use sqs_client::operation::send_message::{SendMessageInput, SendMessageOutput};

use super::stored::{Keep, Original, Parts, Stored, is_refused};
use crate::client::ExtendedClient;
use crate::error::Error;

impl<H: Execute> ExtendedClient<H> {
    /// Stores the payload of a message.
    pub(crate) async fn before_send(
        &self,
        input: &mut SendMessageInput,
        keep: Keep,
    ) -> Result<Stored, Error> {
        let queue_url = input.queue_url.clone().unwrap_or_default();
        let mut body = input.message_body.take().unwrap_or_default();
        let parts = Parts {
            body: &mut body,
            attributes: &mut input.message_attributes,
            deduplication_id: &mut input.message_deduplication_id,
        };
        let (guard, stored) = self.offload_body(&queue_url, parts, keep).await?;
        input.message_body = Some(body);
        // From here on, the message may exist.
        guard.keep();
        Ok(stored)
    }

    /// Stores a new object for a repeated request. `None` if that fails.
    pub(crate) async fn before_send_again(
        &self,
        input: &mut SendMessageInput,
        stored: &mut Stored,
    ) -> Option<()> {
        let object = self.upload(stored.content.clone()?).await.ok()?;
        self.readdress(stored, input.message_body.get_or_insert_default(), object);
        Some(())
    }

    /// Deletes the payload of a rejected message, and sets the checksums of the original message.
    pub(crate) async fn after_send(&self, stored: Stored, result: &mut Result<SendMessageOutput, Error>) {
        match result {
            Ok(output) => stored.original.show(output),
            Err(error) if is_refused(error) => self.shared.cleaner.delete([stored.pointer]).await,
            Err(_) => self.keep_in_doubt(&stored.pointer),
        }
    }
}

impl Original {
    fn show(self, output: &mut SendMessageOutput) {
        // Some services return no checksums.
        if output.md5_of_message_body.is_some() {
            output.md5_of_message_body = Some(self.md5_of_body.into());
        }
        if output.md5_of_message_attributes.is_some() {
            output.md5_of_message_attributes = self.md5_of_attributes.map(Into::into);
        }
    }
}
