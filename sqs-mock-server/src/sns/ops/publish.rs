//! Publishing messages.

use super::Sns;
use super::deliver;
use super::topics::SharedTopic;
use crate::query::{Call, Output, Xml};
use crate::service::query_error::QueryError;
use crate::sns::engine::Receipt;
use crate::sns::engine::arn;
use crate::sns::engine::batch::check_ids;
use crate::sns::engine::message::Message;
use crate::sns::engine::refusal::invalid;
use crate::sns::wire::Place;

pub(super) fn one(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let form = call.form;
    let target = form.get("TopicArn").or(form.get("TargetArn"));
    let place = Place::default();
    let Some(target) = target else {
        return to_phone(sns, call);
    };
    if target.split(':').nth(5).is_some_and(|resource| resource.starts_with("endpoint/")) {
        return Err(invalid("TargetArn Reason: No endpoint found for the target arn specified"));
    }
    let topic = sns.topics.get(&arn::topic("TopicArn", target, call.region)?)?;
    let mut message = Message::new(place.draft(form)?)?;
    let mut notes = Vec::new();
    let receipt = {
        let mut topic = topic.lock();
        topic.check(&message)?;
        let published = topic.publish(sns.clock.now(), sns.new_id(), &mut message);
        if published.is_new {
            notes = deliver::deliver(sns, call, &topic, published.receipt, &message);
        }
        published.receipt
    };
    Ok(Output { notes, ..Output::of(|xml| write_receipt(xml, receipt)) })
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

pub(super) fn batch(sns: &Sns, call: &Call<'_>) -> Result<Output, QueryError> {
    let form = call.form;
    let topic: SharedTopic = super::topic::find(sns, call)?;
    let places = Place::entries(form);
    let ids: Vec<_> = places.iter().map(|place| place.required(form, "Id")).collect::<Result<_, _>>()?;
    check_ids(&ids)?;
    let messages = places.iter().map(|place| Message::new(place.draft(form)?));
    let mut messages: Vec<_> = messages.collect::<Result<_, _>>()?;
    let (mut notes, mut receipts) = (Vec::new(), Vec::new());
    {
        let mut topic = topic.lock();
        topic.check_batch(&messages)?;
        for message in &mut messages {
            let published = topic.publish(sns.clock.now(), sns.new_id(), message);
            if published.is_new {
                notes.extend(deliver::deliver(sns, call, &topic, published.receipt, message));
            }
            receipts.push(published.receipt);
        }
    }
    let output = Output::of(|xml| {
        xml.list("Failed", [(); 0], |_, ()| {});
        xml.list("Successful", ids.iter().zip(receipts), |member, (id, receipt)| {
            member.leaf("Id", id);
            write_receipt(member, receipt);
        });
    });
    Ok(Output { notes, ..output })
}

fn write_receipt(xml: &mut Xml, receipt: Receipt) {
    xml.leaf("MessageId", &receipt.id.to_string());
    let number = receipt.sequence_number.map(|number| number.to_string());
    xml.optional("SequenceNumber", number.as_deref());
}
