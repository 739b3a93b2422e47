//! Delivers messages to subscribers. Those outside of this server get nothing; the recorded request notes it.

use std::cell::LazyCell;

use super::Sns;
use crate::query::Call;
use crate::service::arn::QueueArn;
use crate::service::delivery::{Delivery, Source, Undelivered};
use crate::service::policies::Why;
use crate::sns::engine::Receipt;
use crate::sns::engine::envelope::Envelope;
use crate::sns::engine::message::Message;
use crate::sns::engine::protocol::{Endpoint, Protocol};
use crate::sns::engine::subscription::Subscription;
use crate::sns::engine::topic::Topic;
use crate::sns::signing::Key;

/// The sender that queues show for messages of SNS.
const SENDER: &str = "AROAJFWZWTE5KRAMGW5A2:AWS-CLOUDCAST";
/// The maximum number of notes about one message.
const MAX_NOTES: usize = 20;

/// What a queue gets.
struct ForQueue<'a> {
    source: Source<'a>,
    body: &'a str,
    message: &'a Message,
    is_raw: bool,
    of_fifo: bool,
    trace_header: Option<&'a str>,
}

/// Delivers a message to its subscribers, and returns notes about those that did not get it.
pub(super) fn deliver(
    sns: &Sns,
    call: &Call<'_>,
    topic: &Topic,
    receipt: Receipt,
    message: &Message,
) -> Vec<String> {
    let envelope = envelope(sns, call, topic);
    // Raw deliveries need no signature.
    let notification = LazyCell::new(|| envelope.notification(Protocol::Sqs, receipt, message));
    let topic_arn = topic.arn().to_string();
    let source = source(&topic_arn, topic);
    let notes = topic.recipients(message).filter_map(|subscription| match &subscription.endpoint {
        Endpoint::Queue(queue) => {
            let is_raw = subscription.is_raw();
            let enveloped = (!is_raw).then(|| notification.text(&subscription.arn));
            let message = ForQueue {
                source,
                body: enveloped.as_deref().unwrap_or_else(|| message.text(Protocol::Sqs)),
                message,
                is_raw,
                of_fifo: topic.arn().is_fifo(),
                trace_header: call.trace_header,
            };
            to_queue(sns, queue, subscription.dead_letter_queue(), &message)
        }
        Endpoint::Outside(protocol, address) => {
            Some(format!("{} to {address} is recorded, not sent", protocol.as_str()))
        }
    });
    bounded(notes)
}

/// Sends the request for confirmation to a queue of another account. Returns notes: for a queue that does not get it, the
/// reason; otherwise the link.
pub(super) fn ask_to_confirm(
    sns: &Sns,
    call: &Call<'_>,
    (topic, subscription): (&Topic, &Subscription),
    token: &str,
) -> Vec<String> {
    let envelope = envelope(sns, call, topic);
    let link =
        format!("{} is pending; confirm it with {}", subscription.arn, envelope.confirmation_url(token));
    let Endpoint::Queue(queue) = &subscription.endpoint else { return vec![link] };
    let body = envelope.confirmation(sns.new_id(), token);
    let topic_arn = topic.arn().to_string();
    match sns.queues.deliver(Delivery { body: &body, ..empty(queue, source(&topic_arn, topic)) }) {
        Ok(denial) => denial.map(|why| delivered_anyway(queue, &why)).into_iter().chain([link]).collect(),
        Err(undelivered) => {
            vec![format!("request for confirmation is not delivered to {queue}: {}", reason(&undelivered))]
        }
    }
}

/// The source that policies see.
fn source<'a>(topic_arn: &'a str, topic: &'a Topic) -> Source<'a> {
    Source { service: "sns.amazonaws.com", arn: topic_arn, account: &topic.arn().account }
}

fn envelope<'a>(sns: &Sns, call: &Call<'a>, topic: &'a Topic) -> Envelope<'a, Key> {
    Envelope {
        topic: topic.arn(),
        time: sns.clock.now(),
        base_url: call.base_url,
        signature_version: topic.signature_version(),
        signer: &Key,
    }
}

/// Puts a message into a queue, or into the dead-letter queue of the subscription. Returns a note if it is not in the
/// first, or AWS denies it.
fn to_queue(
    sns: &Sns,
    queue: &QueueArn,
    dead_letter_queue: Option<&QueueArn>,
    message: &ForQueue<'_>,
) -> Option<String> {
    let reason = match sns.queues.deliver(message.delivery(queue)) {
        Ok(denial) => return denial.map(|why| delivered_anyway(queue, &why)),
        Err(undelivered) => reason(&undelivered),
    };
    let Some(dead_letter_queue) = dead_letter_queue else {
        return Some(format!("dropped for {queue}: {reason}"));
    };
    Some(match sns.queues.deliver(message.delivery(dead_letter_queue)) {
        Ok(denial) => {
            let denial = denial.map(|why| format!("; {}", delivered_anyway(dead_letter_queue, &why)));
            let denial = denial.unwrap_or_default();
            format!("moved from {queue} to the dead-letter queue {dead_letter_queue}: {reason}{denial}")
        }
        Err(undelivered) => format!(
            "dropped for {queue}: {reason}; dead-letter queue {dead_letter_queue}: {}",
            self::reason(&undelivered)
        ),
    })
}

impl<'a> ForQueue<'a> {
    fn delivery(&self, queue: &'a QueueArn) -> Delivery<'a> {
        let Self { source, body, message, is_raw, of_fifo, trace_header } = *self;
        let attributes = Some(&message.attributes).filter(|attributes| is_raw && !attributes.is_empty());
        // Standard queues get neither id from a FIFO topic, but the group from a standard topic.
        let keeps_group = queue.is_fifo() || !of_fifo;
        Delivery {
            body,
            attributes,
            group: message.group.as_deref().filter(|_| keeps_group),
            deduplication_id: message.deduplication_id.as_deref().filter(|_| queue.is_fifo()),
            trace_header,
            ..empty(queue, source)
        }
    }
}

fn empty<'a>(queue: &'a QueueArn, source: Source<'a>) -> Delivery<'a> {
    Delivery {
        queue,
        source,
        body: "",
        attributes: None,
        group: None,
        deduplication_id: None,
        trace_header: None,
        sender: SENDER,
    }
}

fn delivered_anyway(queue: &QueueArn, why: &Why) -> String {
    format!("delivered to {queue}, but AWS denies it: {why}")
}

fn reason(undelivered: &Undelivered) -> String {
    match undelivered {
        Undelivered::NoQueue => "the queue does not exist".to_owned(),
        Undelivered::Denied(why) => why.to_string(),
        Undelivered::Refused(error) => error.to_string(),
    }
}

/// The first notes, and the number of the others.
fn bounded(notes: impl Iterator<Item = String>) -> Vec<String> {
    let mut notes = notes.fuse();
    let mut first: Vec<_> = notes.by_ref().take(MAX_NOTES).collect();
    let others = notes.count();
    if others > 0 {
        first.push(format!("and {others} more"));
    }
    first
}
