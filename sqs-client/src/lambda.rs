//! The SQS event of AWS Lambda, and its response: for functions that SQS invokes.
//!
//! ```
//! use sqs_client::lambda::SqsEvent;
//! use sqs_client::types::Message;
//!
//! let event = r#"{"Records": [{"messageId": "7f2c", "receiptHandle": "AQEB", "body": "one apple"}]}"#;
//! let event: SqsEvent = serde_json::from_str(event)?; // or the payload of a `lambda_runtime::LambdaEvent<SqsEvent>`
//! for record in event.records {
//!     let message = Message::from(record);
//!     assert_eq!(message.body(), Some("one apple"));
//! }
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::collections::HashMap;
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::primitives::Blob;
use crate::types::{Message, MessageAttributeValue, MessageSystemAttributeName};
use crate::wire::types::message::blob;

/// An SQS event: up to 10 messages of a FIFO queue, up to 10,000 of a standard queue.
///
/// It is read from the event of an event source mapping, `{"Records": [..]}`, and from that of `EventBridge` Pipes, the list
/// alone.
///
/// Sources: <https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html>,
/// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-sqs.html>
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SqsEvent {
    /// The messages, in order.
    #[serde(rename = "Records")]
    pub records: Vec<SqsRecord>,
}

impl<'de> Deserialize<'de> for SqsEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = SqsEvent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an SQS event: an object with `Records`, or a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, records: A) -> Result<SqsEvent, A::Error> {
        Ok(SqsEvent { records: Vec::deserialize(SeqAccessDeserializer::new(records))? })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<SqsEvent, A::Error> {
        let mut records = None;
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "Records" => records = Some(members.next_value()?),
                "Messages" => {
                    return Err(A::Error::custom(
                        "unexpected `Messages`: this is the output of ReceiveMessage, such as from a Step Functions task; an SQS \
                         event has `Records`",
                    ));
                }
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(SqsEvent { records: records.ok_or_else(|| A::Error::missing_field("Records"))? })
    }
}

/// A member that some sources send as `null` instead of leaving it out.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// One message of an [`SqsEvent`].
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SqsRecord {
    /// Message id that SQS assigned.
    pub message_id: String,
    /// Receipt handle of this receive.
    #[serde(default, deserialize_with = "or_default")]
    pub receipt_handle: String,
    /// Message body.
    #[serde(default, deserialize_with = "or_default")]
    pub body: String,
    /// System attributes, such as `ApproximateReceiveCount`. All values are text.
    #[serde(default, deserialize_with = "or_default")]
    pub attributes: HashMap<String, String>,
    /// Message attributes by name.
    #[serde(default, deserialize_with = "or_default")]
    pub message_attributes: HashMap<String, SqsRecordAttribute>,
    /// MD5 of the body, 32 lower-case hex digits.
    #[serde(default, deserialize_with = "or_default")]
    pub md5_of_body: String,
    /// MD5 of the message attributes, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub md5_of_message_attributes: Option<String>,
    /// `aws:sqs`.
    #[serde(default, deserialize_with = "or_default")]
    pub event_source: String,
    /// ARN of the queue.
    #[serde(default, deserialize_with = "or_default", rename = "eventSourceARN")]
    pub event_source_arn: String,
    /// Region of the queue.
    #[serde(default, deserialize_with = "or_default")]
    pub aws_region: String,
}

/// A message attribute of an [`SqsRecord`].
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SqsRecordAttribute {
    /// Of data types `String` and `Number`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub string_value: Option<String>,
    /// Of data type `Binary`. In base64 in the event.
    #[serde(default, with = "blob::option", skip_serializing_if = "Option::is_none")]
    pub binary_value: Option<Blob>,
    /// `String`, `Number` or `Binary`, with an optional custom label such as `Number.int`.
    #[serde(default, deserialize_with = "or_default")]
    pub data_type: String,
}

impl SqsRecord {
    /// Whether the queue is a FIFO queue.
    pub fn is_fifo(&self) -> bool {
        self.event_source_arn.ends_with(".fifo")
    }

    /// The message group id. FIFO queues always have one.
    pub fn group_id(&self) -> Option<&str> {
        self.attributes.get(MessageSystemAttributeName::MessageGroupId.as_str()).map(String::as_str)
    }
}

/// The message as a receive would return it.
impl From<SqsRecord> for Message {
    fn from(record: SqsRecord) -> Self {
        let attributes: HashMap<_, _> =
            record.attributes.into_iter().map(|(name, value)| (name.as_str().into(), value)).collect();
        let message_attributes: HashMap<_, _> =
            record.message_attributes.into_iter().map(|(name, value)| (name, value.into())).collect();
        Self {
            message_id: Some(record.message_id),
            receipt_handle: Some(record.receipt_handle).filter(|handle| !handle.is_empty()),
            md5_of_body: Some(record.md5_of_body).filter(|md5| !md5.is_empty()),
            body: Some(record.body),
            attributes: Some(attributes).filter(|attributes| !attributes.is_empty()),
            md5_of_message_attributes: record.md5_of_message_attributes,
            message_attributes: Some(message_attributes).filter(|attributes| !attributes.is_empty()),
        }
    }
}

impl From<SqsRecordAttribute> for MessageAttributeValue {
    fn from(attribute: SqsRecordAttribute) -> Self {
        Self {
            data_type: attribute.data_type,
            string_value: attribute.string_value,
            binary_value: attribute.binary_value,
            ..Self::default()
        }
    }
}

/// The response of a function to an [`SqsEvent`]: the messages that SQS must deliver again.
///
/// It has an effect only if the event source mapping has `FunctionResponseTypes` = `ReportBatchItemFailures`. Otherwise, Lambda
/// deletes all messages of the event, including the failed ones.
///
/// Source: <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html>
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SqsBatchResponse {
    /// The failed messages. Lambda deletes the others.
    pub batch_item_failures: Vec<BatchItemFailure>,
}

impl SqsBatchResponse {
    /// A response that names the ids of failed messages.
    pub fn failed(message_ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let failure = |id: _| BatchItemFailure { item_identifier: Into::into(id) };
        Self { batch_item_failures: message_ids.into_iter().map(failure).collect() }
    }
}

/// A message that SQS must deliver again.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BatchItemFailure {
    /// The message id.
    pub item_identifier: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_of_a_fifo_queue_becomes_messages() {
        let event = r#"{"Records": [{
            "messageId": "7f2c0f6e-70e9-4c2c-a5a3-0d2b1c9f1e11",
            "receiptHandle": "AQEBkitchen",
            "body": "{\"id\":7}",
            "attributes": {
                "ApproximateReceiveCount": "2",
                "SentTimestamp": "1700000000123",
                "SequenceNumber": "18849496460467696128",
                "MessageGroupId": "table 4",
                "SenderId": "AIDAEXAMPLE",
                "MessageDeduplicationId": "soup",
                "ApproximateFirstReceiveTimestamp": "1700000000456"
            },
            "messageAttributes": {
                "tenant": {"stringValue": "acme", "stringListValues": [], "binaryListValues": [], "dataType": "String"},
                "seal": {"binaryValue": "AAEC", "stringListValues": [], "binaryListValues": [], "dataType": "Binary.png"}
            },
            "md5OfBody": "e4da3b7fbbce2345d7772b0674a318d5",
            "md5OfMessageAttributes": "0cc175b9c0f1b6a831c399e269772661",
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:orders.fifo",
            "awsRegion": "eu-central-1"
        }]}"#;
        let event: SqsEvent = serde_json::from_str(event).unwrap();
        let record = &event.records[0];
        assert_eq!((record.is_fifo(), record.group_id()), (true, Some("table 4")));
        let message = Message::from(record.clone());
        assert_eq!(message.message_id(), Some("7f2c0f6e-70e9-4c2c-a5a3-0d2b1c9f1e11"));
        assert_eq!((message.body(), message.receipt_handle()), (Some(r#"{"id":7}"#), Some("AQEBkitchen")));
        let system = message.attributes().unwrap();
        assert_eq!(system[&MessageSystemAttributeName::ApproximateReceiveCount], "2");
        let attributes = message.message_attributes().unwrap();
        assert_eq!(attributes["tenant"], MessageAttributeValue::string("acme"));
        assert_eq!(attributes["seal"].binary_value, Some(Blob::new([0, 1, 2])));
        assert_eq!(attributes["seal"].data_type, "Binary.png");
        let again: SqsEvent = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
        assert_eq!(again, event);
    }

    #[test]
    fn record_needs_a_message_id_and_valid_base64() {
        let error = serde_json::from_str::<SqsEvent>(r#"{"Records":[{"body":"soup"}]}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `messageId`"), "{error}");
        let error = serde_json::from_str::<SqsEvent>(r#"{"records":[]}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `Records`"), "{error}");
        let record =
            r#"{"messageId":"1","messageAttributes":{"seal":{"binaryValue":"!","dataType":"Binary"}}}"#;
        let error = serde_json::from_str::<SqsRecord>(record).unwrap_err();
        assert!(error.to_string().contains("the binary value is not valid base64"), "{error}");
    }

    #[test]
    fn event_of_a_pipe_is_a_list_and_may_have_nulls() {
        let record = r#"{"messageId":"1","body":"soup","attributes":null,"messageAttributes":null,"md5OfMessageAttributes":null,
            "receiptHandle":null,"awsRegion":null}"#;
        let list: SqsEvent = serde_json::from_str(&format!("[{record},{record}]")).unwrap();
        let object: SqsEvent =
            serde_json::from_str(&format!(r#"{{"other":[1],"Records":[{record},{record}]}}"#)).unwrap();
        assert_eq!((list.records.len(), &list), (2, &object));
        assert_eq!(Message::from(list.records[0].clone()).body(), Some("soup"));
    }

    #[test]
    fn other_events_are_named_in_the_error() {
        let error = serde_json::from_str::<SqsEvent>(r#"{"Messages":[{"Body":"soup"}]}"#).unwrap_err();
        assert!(error.to_string().contains("output of ReceiveMessage"), "{error}");
        let error = serde_json::from_str::<SqsEvent>("7").unwrap_err();
        assert!(error.to_string().contains("an object with `Records`, or a list of records"), "{error}");
    }

    #[test]
    fn response_names_the_failed_messages_as_lambda_reads_them() {
        let none = serde_json::to_string(&SqsBatchResponse::default()).unwrap();
        assert_eq!(none, r#"{"batchItemFailures":[]}"#);
        let one = serde_json::to_string(&SqsBatchResponse::failed(["7"])).unwrap();
        assert_eq!(one, r#"{"batchItemFailures":[{"itemIdentifier":"7"}]}"#);
    }
}
