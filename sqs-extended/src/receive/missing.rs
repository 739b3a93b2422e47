//! Messages whose object does not exist.

use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::change_message_visibility::{
    ChangeMessageVisibility, ChangeMessageVisibilityInput,
};
use sqs_client::operation::delete_message::{DeleteMessage, DeleteMessageInput};

use super::{ExtendedMessage, MessagePayload};
use crate::client::ExtendedClient;
use crate::config::MissingObject;
use crate::error::{Error, ErrorKind};
use crate::event::Event;
use crate::format::original_handle;

impl<H: Execute> ExtendedClient<H> {
    /// Releases or deletes a message whose object is missing, according to the policy. Otherwise returns it.
    pub(super) async fn apply_missing_policy(
        &self,
        message: ExtendedMessage,
        queue_url: &str,
    ) -> Option<ExtendedMessage> {
        let is_missing =
            matches!(&message.payload, MessagePayload::Failed(error) if error.kind() == ErrorKind::NotFound);
        if !is_missing {
            return Some(message);
        }
        let handle = original_handle(&message.message);
        let done = match self.shared.settings.missing_object {
            MissingObject::Surface => return Some(message),
            MissingObject::Release => self.release(queue_url, handle).await,
            MissingObject::DeleteMessage => self.forget(queue_url, handle).await,
        };
        let error = done.err()?;
        let message_id = message.message.message_id().unwrap_or_default();
        self.shared.events.send(&Event::PolicyFailed { message_id, error: &error });
        Some(message)
    }

    async fn release(&self, queue_url: &str, handle: Option<String>) -> Result<(), Error> {
        let mut input = ChangeMessageVisibilityInput::default();
        input.queue_url = Some(queue_url.to_owned());
        input.receipt_handle = handle;
        input.visibility_timeout = Some(0);
        self.below::<ChangeMessageVisibility>(&input, CallOptions::default()).await.map(drop)
    }

    async fn forget(&self, queue_url: &str, handle: Option<String>) -> Result<(), Error> {
        let mut input = DeleteMessageInput::default();
        input.queue_url = Some(queue_url.to_owned());
        input.receipt_handle = handle;
        self.below::<DeleteMessage>(&input, CallOptions::default()).await.map(drop)
    }
}
