//! Delivers messages to subscribers. Those outside of this server get nothing; the recorded request notes it.

use std::cell::LazyCell;

use super::Sns;
use super::topics::SharedTopic;
use crate::query::Origin;
use crate::service::arn::{QueueArn, TopicArn};
use crate::service::delivery::{Delivery, Source};
use crate::service::seed::Uuid;
use crate::sns::engine::Receipt;
use crate::sns::engine::backlog::Group;
use crate::sns::engine::envelope::{Envelope, Notification};
use crate::sns::engine::message::Message;
use crate::sns::engine::protocol::{Endpoint, Protocol};
use crate::sns::engine::subscription::Subscription;
use crate::sns::engine::topic::Topic;

/// The sender that queues show for messages of SNS.
const SENDER: &str = "AROAJFWZWTE5KRAMGW5A2:AWS-CLOUDCAST";
/// The maximum number of notes about one message.
const MAX_NOTES: usize = 20;

/// The id of a message, with its notification if a queue needs that.
pub(super) struct Signed {
    pub(super) id: Uuid,
    notification: Option<Notification>,
}

/// Prepares a message before its topic is locked for deliveries: a signature takes longer than all the rest. FIFO topics do
/// not sign.
pub(super) fn sign(sns: &Sns, origin: Origin<'_>, topic: &SharedTopic, message: &Message) -> Signed {
    let id = sns.new_id();
    let (arn, signature_version) = {
        let topic = sns.lock(topic);
        if topic.arn().is_fifo() || !topic.has_envelope(message) {
            return Signed { id, notification: None };
        }
        (topic.arn().clone(), topic.settings().signature_version().to_owned())
    };
    let envelope = envelope(sns, origin, &arn, &signature_version);
    let receipt = Receipt { id, sequence_number: None };
    Signed { id, notification: Some(envelope.notification(Protocol::Sqs, receipt, message)) }
}

/// Delivers a message to its subscribers, and returns notes about those that did not get it.
pub(super) fn deliver(
    sns: &Sns,
    origin: Origin<'_>,
    topic: &Topic,
    receipt: Receipt,
    (message, signed): (&Message, &Signed),
) -> Vec<String> {
    let envelope = envelope(sns, origin, topic.arn(), topic.settings().signature_version());
    // On FIFO topics, and if a subscription is new.
    let unsigned = LazyCell::new(|| envelope.notification(Protocol::Sqs, receipt, message));
    let notification = || signed.notification.as_ref().unwrap_or_else(|| &unsigned);
    let topic_arn = topic.arn().to_string();
    let notes = topic.recipients(message).filter_map(|subscription| match &subscription.endpoint {
        Endpoint::Queue(queue) => {
            let is_raw = subscription.attributes.raw;
            let enveloped = (!is_raw).then(|| notification().text(&subscription.arn));
            let of_fifo = topic.arn().is_fifo();
            // Standard queues get neither id from a FIFO topic, but the group from a standard topic.
            let keeps_group = queue.is_fifo() || !of_fifo;
            let delivery = Delivery {
                body: enveloped.as_deref().unwrap_or_else(|| message.text(Protocol::Sqs)),
                attributes: Some(&message.attributes).filter(|all| is_raw && !all.is_empty()),
                group: message.group.as_deref().filter(|_| keeps_group),
                deduplication_id: message.deduplication_id.as_deref().filter(|_| queue.is_fifo()),
                trace_header: origin.trace_header,
                ..empty(queue, topic, &topic_arn)
            };
            let group = of_fifo.then(|| Group {
                subscription: subscription.arn.id.clone(),
                name: message.group.as_deref().unwrap_or_default().into(),
            });
            sns.deliveries.deliver(group, delivery, subscription.attributes.dead_letter_queue.as_ref())
        }
        Endpoint::Outside(protocol, address) => {
            sns.deliveries.count("not_sent");
            Some(format!("{} to {address} is recorded, not sent", protocol.as_str()))
        }
    });
    bounded(notes)
}

/// Sends the request for confirmation to a queue of another account. Returns notes: the link, and why a queue does not get
/// it.
pub(super) fn ask_to_confirm(
    sns: &Sns,
    origin: Origin<'_>,
    (topic, subscription): (&Topic, &Subscription),
    token: &str,
) -> Vec<String> {
    let envelope = envelope(sns, origin, topic.arn(), topic.settings().signature_version());
    let link =
        format!("{} is pending; confirm it with {}", subscription.arn, envelope.confirmation_url(token));
    let Endpoint::Queue(queue) = &subscription.endpoint else { return vec![link] };
    let body = envelope.confirmation(sns.new_id(), token);
    let topic_arn = topic.arn().to_string();
    let delivery = Delivery { body: &body, ..empty(queue, topic, &topic_arn) };
    sns.deliveries.deliver(None, delivery, None).into_iter().chain([link]).collect()
}

fn envelope<'a>(
    sns: &Sns,
    origin: Origin<'a>,
    topic: &'a TopicArn,
    signature_version: &'a str,
) -> Envelope<'a> {
    Envelope { topic, time: sns.clock.now(), base_url: origin.base_url, signature_version }
}

fn empty<'a>(queue: &'a QueueArn, topic: &'a Topic, topic_arn: &'a str) -> Delivery<'a> {
    Delivery {
        queue,
        // Policies see it.
        source: Source { service: "sns.amazonaws.com", arn: topic_arn, account: &topic.arn().account },
        body: "",
        attributes: None,
        group: None,
        deduplication_id: None,
        trace_header: None,
        sender: SENDER,
        keeps_size_limit: false,
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
