//! Publishing messages.

use crate::control::faults::fault::FailingEntry;
use crate::query::xml::Xml;
use crate::query::{Call, Origin, Output, QueryError};
use crate::sns::actions::Place;
use crate::sns::deliveries::Signed;
use crate::sns::engine::invalid;
use crate::sns::engine::message::{Message, check_batch_ids};
use crate::sns::engine::topic::{Published, Receipt, Topic};
use crate::sns::inspect::PublishedMessage;
use crate::sns::{SharedTopic, Sns, deliveries, engine};

pub(crate) fn one(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let target = call.form.get("TopicArn").or(call.form.get("TargetArn"));
    let Some(target) = target else { return to_phone(sns, call) };
    if target.split(':').nth(5).is_some_and(|resource| resource.starts_with("endpoint/")) {
        return Err(invalid("TargetArn Reason: No endpoint found for the target arn specified"));
    }
    let topic = sns.topics.get(&engine::topic("TopicArn", target, call.region)?)?;
    let draft = Place::default().draft(call.form)?;
    let (receipt, notes) = publish_message(sns, call.origin, &topic, Message::new(draft)?)?;
    Ok(Output { notes, ..Output::of(|xml| write_receipt(xml, receipt)) })
}

/// Publishes a message to a topic. Returns notes about its deliveries.
///
/// # Errors
/// `InvalidParameter`.
pub(crate) fn publish_message(
    sns: &Sns,
    origin: Origin<'_>,
    topic: &SharedTopic,
    message: Message,
) -> Result<(Receipt, Vec<String>), QueryError> {
    let signed = deliveries::sign(sns, origin, topic, &message);
    let (mut topic, _whole) = sns.lock_to_deliver(topic);
    topic.check(&message)?;
    Ok(publish(sns, origin, &mut topic, (message, &signed)))
}

/// Text messages are accepted and recorded, not sent.
fn to_phone(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let number = call.form.get("PhoneNumber");
    let number =
        number.ok_or_else(|| invalid("TopicArn or TargetArn Reason: no value for required parameter"))?;
    Message::new(Place::default().draft(call.form)?)?;
    let receipt = Receipt { id: sns.new_id(), sequence_number: None };
    let notes = vec![format!("text message to {number:?} is recorded, not sent")];
    Ok(Output { notes, ..Output::of(|xml| write_receipt(xml, receipt)) })
}

pub(crate) fn batch(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let form = call.form;
    let topic = crate::sns::actions::find(sns, call)?;
    let places = Place::entries(form);
    let ids: Vec<_> = places.iter().map(|place| place.required(form, "Id")).collect::<Result<_, _>>()?;
    check_batch_ids(&ids)?;
    let messages = places.iter().map(|place| Message::new(place.draft(form)?));
    let messages: Vec<_> = messages.collect::<Result<_, _>>()?;
    let signed = messages.iter().map(|message| deliveries::sign(sns, call.origin, &topic, message));
    let signed: Vec<_> = signed.collect();
    let (mut notes, mut receipts) = (Vec::new(), Vec::new());
    {
        let (mut topic, _whole) = sns.lock_to_deliver(&topic);
        topic.check_batch(&messages)?;
        let entries = ids.iter().zip(messages.into_iter().zip(&signed));
        for (index, (id, message)) in entries.enumerate() {
            if call.failing.iter().any(|failing| failing.index == index) {
                continue;
            }
            let (receipt, more) = publish(sns, call.origin, &mut topic, message);
            notes.extend(more);
            receipts.push((*id, receipt));
        }
    }
    let is_shown = |id: &str| !call.omitted.iter().any(|omitted| omitted == id);
    let output = Output::of(|xml| {
        let failed = call.failing.iter().filter_map(|failing| Some((*ids.get(failing.index)?, failing)));
        xml.list("Failed", failed, |member, (id, failing)| write_failure(member, id, failing));
        let successful = receipts.iter().filter(|(id, _)| is_shown(id));
        xml.list("Successful", successful, |member, (id, receipt)| {
            member.leaf("Id", id);
            write_receipt(member, *receipt);
        });
    });
    Ok(Output { notes, ..output })
}

/// Takes a message that was checked, and delivers it unless it is a duplicate. Returns notes about its deliveries.
fn publish(
    sns: &Sns,
    origin: Origin<'_>,
    topic: &mut Topic,
    (mut message, signed): (Message, &Signed),
) -> (Receipt, Vec<String>) {
    let now = sns.clock.now();
    let Published { receipt, is_new } = topic.publish(now, signed.id, &mut message);
    if !is_new {
        return (receipt, Vec::new());
    }
    let notes = deliveries::deliver(sns, origin, topic, receipt, (&message, signed));
    sns.published.record(|| {
        let Message { text, subject, attributes, group, deduplication_id, .. } = message;
        PublishedMessage {
            topic: topic.arn().clone(),
            id: receipt.id,
            time: now,
            message: text,
            subject,
            attributes,
            group,
            deduplication_id,
            sequence_number: receipt.sequence_number,
            notes: notes.clone(),
        }
    });
    (receipt, notes)
}

fn write_failure(xml: &mut Xml, id: &str, failing: &FailingEntry) {
    let error = QueryError::injected(failing.failure.clone());
    xml.leaf("Id", id);
    xml.leaf("Code", &error.code);
    xml.leaf("Message", &error.message);
    let is_of_sender = failing.sender_fault.unwrap_or(error.status < 500);
    xml.leaf("SenderFault", if is_of_sender { "true" } else { "false" });
}

fn write_receipt(xml: &mut Xml, receipt: Receipt) {
    xml.leaf("MessageId", &receipt.id.to_string());
    let number = receipt.sequence_number.map(|number| number.to_string());
    xml.optional("SequenceNumber", number.as_deref());
}
