//! Deletes and visibility changes: SQS first, by its own receipt handles; then the objects of deleted messages.

use std::collections::HashSet;

use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::change_message_visibility::ChangeMessageVisibility;
use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatch;
use sqs_client::operation::delete_message::DeleteMessage;
use sqs_client::operation::delete_message_batch::DeleteMessageBatch;

use crate::client::{ExtendedClient, Rewritten, Shared};
use crate::error::Error;
use crate::format::{ExtendedHandle, ends_with_uuid, strip};
use crate::pointer::Pointer;
use crate::receive::{ExtendedMessage, MessagePayload};

fn has_pointer(handle: &str) -> bool {
    ExtendedHandle::parse(handle).is_some()
}

impl Rewritten for DeleteMessage {
    fn concerns<H: Execute>(_: &ExtendedClient<H>, input: &Self::Input) -> bool {
        input.receipt_handle().is_some_and(has_pointer)
    }

    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: Self::Input,
        options: CallOptions,
    ) -> Result<Self::Output, Error> {
        let pointer = input.receipt_handle.as_mut().and_then(strip);
        let output = client.below::<Self>(&input, options).await?;
        client.shared.clean_up(pointer).await;
        Ok(output)
    }
}

impl Rewritten for DeleteMessageBatch {
    fn concerns<H: Execute>(_: &ExtendedClient<H>, input: &Self::Input) -> bool {
        input.entries().iter().any(|entry| has_pointer(entry.receipt_handle()))
    }

    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: Self::Input,
        options: CallOptions,
    ) -> Result<Self::Output, Error> {
        let entries = input.entries.iter_mut().flatten();
        let pointers: Vec<_> =
            entries.filter_map(|entry| Some((entry.id.clone(), strip(&mut entry.receipt_handle)?))).collect();
        let output = client.below::<Self>(&input, options).await?;
        let mut deleted: HashSet<_> = output.successful.iter().map(|entry| entry.id.as_str()).collect();
        for failed in &output.failed {
            deleted.remove(failed.id.as_str());
        }
        let pointers = pointers.into_iter().filter(|(id, _)| deleted.contains(id.as_str()));
        client.shared.clean_up(pointers.map(|(_, pointer)| pointer)).await;
        Ok(output)
    }
}

impl Rewritten for ChangeMessageVisibility {
    fn concerns<H: Execute>(_: &ExtendedClient<H>, input: &Self::Input) -> bool {
        input.receipt_handle().is_some_and(has_pointer)
    }

    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: Self::Input,
        options: CallOptions,
    ) -> Result<Self::Output, Error> {
        input.receipt_handle.as_mut().and_then(strip);
        client.below::<Self>(&input, options).await
    }
}

impl Rewritten for ChangeMessageVisibilityBatch {
    fn concerns<H: Execute>(_: &ExtendedClient<H>, input: &Self::Input) -> bool {
        input.entries().iter().any(|entry| has_pointer(entry.receipt_handle()))
    }

    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: Self::Input,
        options: CallOptions,
    ) -> Result<Self::Output, Error> {
        for entry in input.entries.iter_mut().flatten() {
            strip(&mut entry.receipt_handle);
        }
        client.below::<Self>(&input, options).await
    }
}

impl Shared {
    /// Deletes the objects of deleted messages, unless they are retained. Failed deletes are retried in the background.
    ///
    /// The sender chose the pointer, so only keys that end in a UUID in allowed buckets are deleted.
    async fn clean_up(&self, pointers: impl IntoIterator<Item = Pointer>) {
        let settings = &self.settings;
        if settings.clean_up {
            let is_allowed = |pointer: &Pointer| {
                settings.allowed_buckets.contains(pointer.bucket()) && ends_with_uuid(pointer.key())
            };
            self.cleaner.delete(pointers.into_iter().filter(is_allowed)).await;
        }
    }
}

impl ExtendedMessage {
    /// Deletes the object of a payload, for messages that are not deleted through the client: AWS Lambda deletes the messages of a
    /// successful invocation itself. The object of a [`Failed`](MessagePayload::Failed) payload is kept. If the message comes
    /// again, its object is missing.
    ///
    /// A failed delete is retried in the background. [`retain`](crate::ExtendedClientBuilder::retain) keeps the object.
    ///
    /// # Cancel safety
    /// If the future is dropped, the object is deleted in the background.
    pub async fn delete_payload(&self) {
        if let MessagePayload::Loaded(payload) | MessagePayload::Lazy(payload) = &self.payload {
            self.shared.clean_up([payload.pointer().clone()]).await;
        }
    }
}
