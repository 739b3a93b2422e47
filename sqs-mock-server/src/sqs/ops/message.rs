//! Sending, deleting and hiding single messages.

use std::sync::Arc;

use sqs_client::operation::change_message_visibility::ChangeMessageVisibility;
use sqs_client::operation::delete_message::DeleteMessage;
use sqs_client::operation::send_message::SendMessage;
use sqs_client::types::{
    MessageSystemAttributeNameForSends as SystemName, MessageSystemAttributeValue,
    SendMessageBatchRequestEntry,
};
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes, md5_of_body};
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::validate::{Draft, Validate};

use super::serve::break_sum;
use super::strict::Review;
use super::{Context, Serve, Served, Service, seconds};
use crate::service::clock::Timestamp;
use crate::service::faults::Entry;
use crate::sqs::engine::{Checksums, Metered, NewMessage, Payload, Queue, Room, Sent};

/// Writes an [`Accepted`] into the builder of an output or of a batch entry: two types with the same setters.
macro_rules! with_receipt {
    ($builder:expr, $accepted:expr) => {
        $builder
            .message_id($accepted.sent.id.to_string())
            .md5_of_message_body($accepted.checksums.md5_of_body)
            .set_md5_of_message_attributes($accepted.checksums.md5_of_attributes.map(String::from))
            .set_md5_of_message_system_attributes($accepted.md5_of_system_attributes.map(String::from))
            .set_sequence_number($accepted.sent.sequence_number.map(|number| number.to_string()))
    };
}
pub(super) use with_receipt;

impl Serve for SendMessage {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let draft = Draft::from(&input);
        let md5 = md5_of_body(draft.body);
        let prepared = Prepared::new(&draft, md5, context, &queue.sender(&context.account));
        let accepted = queue.with_room(context, |queue, room| {
            let now = service.shared.clock.now();
            queue.accept_call(now, Metered::Send)?;
            let has_id = input.message_deduplication_id().is_some();
            let sent = Draft::from(&input).validate_for(&queue.rules()).and_then(|()| {
                queue.accept_message(now, input.message_group_id())?;
                prepared.send(input.into(), queue, now, room)
            });
            let review = Review { shared: &service.shared, context, now };
            review.send(queue, has_id, sent.as_ref().map(|accepted| accepted.sent));
            sent
        })??;
        Ok(with_receipt!(Self::Output::builder(), accepted).build())
    }

    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        vec![Entry {
            body: input.message_body(),
            group: input.message_group_id(),
            deduplication_id: input.message_deduplication_id(),
            ..Entry::default()
        }]
    }

    fn corrupt(output: &mut Self::Output) -> bool {
        break_sum(&mut output.md5_of_message_body)
    }
}

/// The expensive parts of a message, prepared before the queue is locked.
#[derive(Debug)]
pub(super) struct Prepared {
    checksums: Checksums,
    md5_of_system_attributes: Option<Md5Hex>,
    trace_header: Option<String>,
    sender: Arc<str>,
}

/// The result for the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    pub(super) sent: Sent,
    pub(super) checksums: Checksums,
    pub(super) md5_of_system_attributes: Option<Md5Hex>,
}

impl Prepared {
    pub(super) fn new(draft: &Draft<'_>, md5_of_body: Md5Hex, context: &Context, sender: &Arc<str>) -> Self {
        let system = draft.system_attributes;
        let trace_header = system.and_then(|system| system.get(&SystemName::AwsTraceHeader));
        Self {
            checksums: Checksums::new(md5_of_body, draft.attributes),
            md5_of_system_attributes: system.and_then(md5_of_attributes),
            trace_header: trace_header_of(trace_header, context),
            sender: Arc::clone(sender),
        }
    }

    pub(super) fn send(
        self,
        entry: SendMessageBatchRequestEntry,
        queue: &mut Queue,
        now: Timestamp,
        room: Room,
    ) -> Result<Accepted, ServiceError> {
        let Self { checksums, md5_of_system_attributes, trace_header, sender } = self;
        let (body, attributes) = (entry.message_body, entry.message_attributes);
        let message = NewMessage {
            payload: Payload::new(body, attributes, checksums, trace_header, sender),
            delay: entry.delay_seconds.map(seconds),
            group: entry.message_group_id,
            deduplication_id: entry.message_deduplication_id,
        };
        Ok(Accepted { sent: queue.send(now, room, message)?, checksums, md5_of_system_attributes })
    }
}

/// The trace header of the message overrides that of the request.
fn trace_header_of(given: Option<&MessageSystemAttributeValue>, context: &Context) -> Option<String> {
    let given = given.and_then(MessageSystemAttributeValue::string_value);
    given.or(context.trace_header.as_deref()).map(str::to_owned)
}

impl Serve for DeleteMessage {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let handle = input.receipt_handle().unwrap_or_default();
        queue.with(context, |queue| {
            let now = service.shared.clock.now();
            queue.accept_call(now, Metered::Delete)?;
            let deleted = queue.delete(now, handle).map_err(|refusal| refusal.of_request(handle))?;
            Review { shared: &service.shared, context, now }.delete(queue, deleted);
            Ok::<_, ServiceError>(())
        })??;
        Ok(Self::Output::default())
    }

    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        vec![Entry { receipt_handle: input.receipt_handle(), ..Entry::default() }]
    }
}

impl Serve for ChangeMessageVisibility {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let handle = input.receipt_handle().unwrap_or_default();
        let timeout = seconds(input.visibility_timeout.unwrap_or_default());
        queue.with(context, |queue| {
            let now = service.shared.clock.now();
            queue.accept_call(now, Metered::ChangeVisibility)?;
            queue.change_visibility(now, handle, timeout).map_err(|refusal| refusal.of_request(handle))
        })??;
        Ok(Self::Output::default())
    }

    fn entries(input: &Self::Input) -> Vec<Entry<'_>> {
        vec![Entry { receipt_handle: input.receipt_handle(), ..Entry::default() }]
    }
}
