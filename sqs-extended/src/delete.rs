//! Deletes and visibility changes: SQS first, by its own receipt handles; then the objects of deleted messages.

use sqs_client::client::{CallOptions, Execute};
use sqs_client::operation::change_message_visibility::ChangeMessageVisibility;
use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatch;
use sqs_client::operation::delete_message::DeleteMessage;
use sqs_client::operation::delete_message_batch::{DeleteMessageBatch, DeleteMessageBatchOutput};

use crate::cleaner::{UncertainObject, UnneededObject};
use crate::client::{ExtendedClient, Rewritten, Shared};
use crate::error::{Error, ErrorKind};
use crate::format::pointer::{ExtendedHandle, strip};
use crate::format::pointer::{Pointer, ends_with_uuid};
use crate::receive::{ExtendedMessage, MessagePayload};

fn has_pointer(handle: &str) -> bool {
    ExtendedHandle::parse(handle).is_some()
}

impl Rewritten for DeleteMessage {
    fn needs_rewrite<H: Execute>(_: &ExtendedClient<H>, input: &Self::Input) -> bool {
        input.receipt_handle().is_some_and(has_pointer)
    }

    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: Self::Input,
        options: CallOptions,
    ) -> Result<Self::Output, Error> {
        let pointer = input.receipt_handle.as_mut().and_then(strip);
        let object = pointer.and_then(|pointer| client.shared.object(pointer));
        let result = client.below::<Self>(&input, options).await;
        if let Some(object) = object {
            match &result {
                Ok(_) => drop(client.shared.unneeded(object)),
                Err(error) if error.is_refusal() => object.needed(),
                Err(_) => drop(object),
            }
        }
        result
    }
}

impl Rewritten for DeleteMessageBatch {
    fn needs_rewrite<H: Execute>(_: &ExtendedClient<H>, input: &Self::Input) -> bool {
        input.entries().iter().any(|entry| has_pointer(entry.receipt_handle()))
    }

    async fn run<H: Execute>(
        client: &ExtendedClient<H>,
        mut input: Self::Input,
        options: CallOptions,
    ) -> Result<Self::Output, Error> {
        let entries = input.entries.iter_mut().flatten();
        let objects: Vec<_> = entries
            .filter_map(|entry| {
                let pointer = strip(&mut entry.receipt_handle)?;
                Some((entry.id.clone(), client.shared.object(pointer)?))
            })
            .collect();
        let result = client.below::<Self>(&input, options).await;
        for (id, object) in objects {
            if let Some(object) = of_deleted(&result, &id, object) {
                drop(client.shared.unneeded(object));
            }
        }
        result
    }
}

/// The object, if its message is deleted. An entry in both lists counts as failed, and an entry in neither as unknown.
fn of_deleted(
    result: &Result<DeleteMessageBatchOutput, Error>,
    id: &str,
    object: UncertainObject,
) -> Option<UncertainObject> {
    let is_failed = match result {
        Ok(output) => output.failed.iter().any(|failed| failed.id == id),
        Err(error) => error.is_refusal(),
    };
    if is_failed {
        object.needed();
        return None;
    }
    let is_deleted = |output: &DeleteMessageBatchOutput| output.successful.iter().any(|entry| entry.id == id);
    result.as_ref().is_ok_and(is_deleted).then_some(object)
}

impl Rewritten for ChangeMessageVisibility {
    fn needs_rewrite<H: Execute>(_: &ExtendedClient<H>, input: &Self::Input) -> bool {
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
    fn needs_rewrite<H: Execute>(_: &ExtendedClient<H>, input: &Self::Input) -> bool {
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
    /// The object of a message that is about to be deleted, unless objects are retained.
    fn object(&self, pointer: Pointer) -> Option<UncertainObject> {
        self.settings.clean_up.then(|| self.cleaner.object(pointer))
    }

    /// The object of a deleted message. It is deleted in the background, unless its pointer is not trusted.
    fn unneeded(&self, object: UncertainObject) -> Option<UnneededObject> {
        match object.pointer().map_or(Ok(()), |pointer| self.check(pointer)) {
            Ok(()) => Some(object.unneeded()),
            Err(error) => {
                object.give_up(&error);
                None
            }
        }
    }

    /// The sender chose the pointer, so only keys in allowed buckets are deleted that end in a UUID, or have the configured prefix.
    fn check(&self, pointer: &Pointer) -> Result<(), Error> {
        let refuse =
            |kind, why: &str| Err(Error::new(kind, format!("{pointer} is not deleted: {why}")).at(pointer));
        if !self.settings.pointers.allowed_buckets.contains(pointer.bucket()) {
            return refuse(ErrorKind::ForeignBucket, "its bucket is not allowed (see allow_bucket)");
        }
        let has_prefix = |prefix: &String| pointer.key().starts_with(prefix.as_str());
        if !ends_with_uuid(pointer.key()) && !self.settings.delete_prefix.as_ref().is_some_and(has_prefix) {
            let why = "its key does not end in a UUID (see delete_keys_with_prefix)";
            return refuse(ErrorKind::BadPointer, why);
        }
        Ok(())
    }
}

impl ExtendedMessage {
    /// Deletes the object of a payload, for messages that are not deleted through the client: AWS Lambda deletes the
    /// messages of a successful invocation itself. Call it last: if the message is delivered again, its object is
    /// missing.
    ///
    /// The objects of [`Failed`](MessagePayload::Failed) payloads and of SNS notifications are kept. A failed delete is retried in
    /// the background. [`retain`](crate::settings::ExtendedClientBuilder::retain) keeps all objects.
    ///
    /// # Cancel safety
    /// If the future is dropped, the object is deleted in the background.
    pub async fn delete_payload(&self) {
        if let MessagePayload::Loaded(payload) | MessagePayload::Lazy(payload) = &self.payload
            && !payload.is_in_notification()
            && let Some(object) = self.shared.object(payload.pointer().clone())
            && let Some(object) = self.shared.unneeded(object)
        {
            object.delete_now().await;
        }
    }
}
