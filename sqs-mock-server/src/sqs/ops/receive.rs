//! Receiving messages, and converting them for the response.

use std::collections::HashMap;

use sqs_client::operation::receive_message::ReceiveMessage;
use sqs_client::types::{Message, MessageSystemAttributeName as Name};
use sqs_client::wire::checksum::md5_of_attributes;
use sqs_client::wire::validate::Validate;

use super::poll::Poll;
use super::selection::Selection;
use super::serve::break_sum;
use super::{Context, Serve, Served, Service, seconds};
use crate::sqs::engine::{Delivery, PeekedMessage, Receive, Room};

impl Serve for ReceiveMessage {
    async fn serve(service: &Service, context: &Context, mut input: Self::Input) -> Served<Self> {
        let queue = service.queue::<Self>(context, &mut input.queue_url)?;
        input.validate()?;
        let request = Receive {
            at_most: input.max_number_of_messages.map_or(1, |most| usize::try_from(most).unwrap_or(1)),
            visibility_timeout: input.visibility_timeout.map(seconds),
            attempt_id: input.receive_request_attempt_id(),
            wait: input.wait_time_seconds.map(seconds),
            redeliver: context.redeliver,
            dead_letter_queue_exists: false,
            room: Room::default(),
        };
        let poll = Poll { shared: &service.shared, context, queue: &queue, request };
        let deliveries = poll.receive().await?;
        if deliveries.is_empty() && tracing::enabled!(tracing::Level::DEBUG) {
            let why = service.why_empty(queue.arn());
            tracing::debug!(queue = %queue.arn(), %why, "nothing to receive");
        }
        let selection = Selection::of(&input);
        let messages = deliveries.into_iter();
        let messages: Vec<_> = messages
            .map(|Delivery { message, receipt_handle }| received(&message, receipt_handle, selection))
            .collect();
        let messages = Some(messages).filter(|messages| !messages.is_empty());
        Ok(Self::Output::builder().set_messages(messages).build())
    }

    fn delivers(output: &Self::Output) -> bool {
        !output.messages().is_empty()
    }

    fn corrupt(output: &mut Self::Output) -> bool {
        let messages = output.messages.iter_mut().flatten();
        messages.map(|message| break_sum(&mut message.md5_of_body)).fold(false, |any, broken| any | broken)
    }
}

/// A message in the form in which a receive returns it.
pub(super) fn received(message: &PeekedMessage, receipt_handle: String, selection: Selection<'_>) -> Message {
    let chosen = message.payload.attributes().and_then(|all| selection.message_attributes(all));
    let system = system_attributes(message, selection);
    // The checksum of the returned attributes, which can be fewer than those sent.
    let md5_of_chosen = match (&chosen, message.payload.attributes()) {
        (Some(chosen), Some(all)) if chosen.len() == all.len() => message.payload.md5_of_attributes(),
        (chosen, _) => chosen.as_ref().and_then(md5_of_attributes),
    };
    Message::builder()
        .message_id(message.id.to_string())
        .receipt_handle(receipt_handle)
        .md5_of_body(message.payload.md5_of_body())
        .body(&*message.payload.body)
        .set_attributes(Some(system).filter(|system| !system.is_empty()))
        .set_md5_of_message_attributes(md5_of_chosen.map(String::from))
        .set_message_attributes(chosen)
        .build()
}

/// The requested system attributes that the message has.
fn system_attributes(message: &PeekedMessage, selection: Selection<'_>) -> HashMap<Name, String> {
    if selection.is_without_system() {
        return HashMap::new();
    }
    let text = |value: Option<&str>| value.map(str::to_owned);
    let all = [
        (Name::SenderId, text(Some(&message.payload.sender))),
        (Name::SentTimestamp, Some(message.sent.as_millis().to_string())),
        (Name::ApproximateReceiveCount, Some(message.receive_count.to_string())),
        (Name::ApproximateFirstReceiveTimestamp, message.first_received.map(|at| at.as_millis().to_string())),
        (Name::MessageGroupId, text(message.group.as_deref())),
        (Name::MessageDeduplicationId, text(message.deduplication_id.as_deref())),
        (Name::SequenceNumber, message.sequence_number.map(|number| number.to_string())),
        (Name::AwsTraceHeader, text(message.payload.trace_header())),
        (Name::DeadLetterQueueSourceArn, message.dead_letter_source.as_ref().map(ToString::to_string)),
    ];
    let requested = all.into_iter().filter(|(name, _)| selection.has_system(name));
    requested.filter_map(|(name, value)| Some((name, value?))).collect()
}
