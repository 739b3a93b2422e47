//! Single messages: sent, deleted, hidden for another while.

use std::sync::Arc;

use sqs_client::operation::change_message_visibility::{
    ChangeMessageVisibility, ChangeMessageVisibilityInput, ChangeMessageVisibilityOutput,
};
use sqs_client::operation::delete_message::{DeleteMessage, DeleteMessageInput, DeleteMessageOutput};
use sqs_client::operation::send_message::{SendMessage, SendMessageInput, SendMessageOutput};
use sqs_client::types::{
    MessageSystemAttributeNameForSends as SystemName, MessageSystemAttributeValue,
    SendMessageBatchRequestEntry,
};
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes};
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::{Draft, Validate};

use super::{Context, Serve, Service, seconds};
use crate::service::clock::Timestamp;
use crate::sqs::engine::{NewMessage, Payload, Queue, Sent};

/// Writes what the sender is told, an [`Accepted`], into the builder of an output or of an entry of a batch: two
/// types that have the same setters.
macro_rules! with_receipt {
    ($builder:expr, $accepted:expr) => {
        $builder
            .message_id($accepted.sent.id.to_string())
            .md5_of_message_body($accepted.md5_of_body)
            .set_md5_of_message_attributes($accepted.md5_of_attributes.map(String::from))
            .set_md5_of_message_system_attributes($accepted.md5_of_system_attributes.map(String::from))
            .set_sequence_number($accepted.sent.sequence_number.map(|number| number.to_string()))
    };
}
pub(super) use with_receipt;

impl Serve for SendMessage {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: SendMessageInput,
    ) -> Result<SendMessageOutput, ServiceError> {
        let queue = service.queue(context, &mut input.queue_url)?;
        input.validate()?;
        Draft::from(&input).validate_for(&queue.rules())?;
        let outgoing = Outgoing::new(input.into(), context, &context.account.as_str().into());
        let accepted = queue.with(context, |queue| outgoing.send(queue, service.shared.clock.now()))??;
        Ok(with_receipt!(SendMessageOutput::builder(), accepted).build())
    }
}

/// A message on its way into a queue, with all that costs time done before the queue is locked.
#[derive(Debug)]
pub(super) struct Outgoing {
    message: NewMessage,
    md5_of_system_attributes: Option<Md5Hex>,
}

/// What the sender is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    pub(super) sent: Sent,
    pub(super) md5_of_body: Md5Hex,
    pub(super) md5_of_attributes: Option<Md5Hex>,
    pub(super) md5_of_system_attributes: Option<Md5Hex>,
}

impl Outgoing {
    pub(super) fn new(entry: SendMessageBatchRequestEntry, context: &Context, sender: &Arc<str>) -> Self {
        let system = entry.message_system_attributes.as_ref();
        let trace_header =
            trace_header(system.and_then(|system| system.get(&SystemName::AwsTraceHeader)), context);
        Self {
            md5_of_system_attributes: system.and_then(md5_of_attributes),
            message: NewMessage {
                payload: Payload::new(
                    entry.message_body,
                    entry.message_attributes,
                    trace_header,
                    Arc::clone(sender),
                ),
                delay: entry.delay_seconds.map(seconds),
                group: entry.message_group_id,
                deduplication_id: entry.message_deduplication_id,
            },
        }
    }

    pub(super) fn send(self, queue: &mut Queue, now: Timestamp) -> Result<Accepted, ServiceError> {
        let md5_of_body = self.message.payload.md5_of_body;
        let md5_of_attributes = self.message.payload.md5_of_attributes();
        let sent = queue.send(now, self.message)?;
        let md5_of_system_attributes = self.md5_of_system_attributes;
        Ok(Accepted { sent, md5_of_body, md5_of_attributes, md5_of_system_attributes })
    }
}

/// What the message says goes before what the header of the request says.
fn trace_header(given: Option<&MessageSystemAttributeValue>, context: &Context) -> Option<String> {
    let given = given.and_then(MessageSystemAttributeValue::string_value);
    given.or(context.trace_header.as_deref()).map(str::to_owned)
}

impl Serve for DeleteMessage {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: DeleteMessageInput,
    ) -> Result<DeleteMessageOutput, ServiceError> {
        let queue = service.queue(context, &mut input.queue_url)?;
        input.validate()?;
        let handle = input.receipt_handle().unwrap_or_default();
        let deleted = queue.with(context, |queue| queue.delete(service.shared.clock.now(), handle))?;
        deleted.map_err(|refusal| refusal.of_request(handle))?;
        Ok(DeleteMessageOutput::default())
    }
}

impl Serve for ChangeMessageVisibility {
    async fn serve(
        service: &Service,
        context: &Context,
        mut input: ChangeMessageVisibilityInput,
    ) -> Result<ChangeMessageVisibilityOutput, ServiceError> {
        let queue = service.queue(context, &mut input.queue_url)?;
        input.validate()?;
        let handle = input.receipt_handle().unwrap_or_default();
        let timeout = seconds(input.visibility_timeout.unwrap_or_default());
        let changed = queue
            .with(context, |queue| queue.change_visibility(service.shared.clock.now(), handle, timeout))?;
        changed.map_err(|refusal| refusal.of_request(handle))?;
        Ok(ChangeMessageVisibilityOutput::default())
    }
}
