//! The SQS event of AWS Lambda, and its response.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use sqs_client::primitives::Blob;
use sqs_client::types::{Message, MessageAttributeValue, MessageSystemAttributeName};

use crate::consume::HandlerError;

/// An SQS event: up to 10 messages of a FIFO queue, up to 10,000 of a standard queue.
///
/// Source: <https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html>
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SqsEvent {
    /// The messages, in order.
    #[serde(rename = "Records")]
    pub records: Vec<SqsRecord>,
}

/// One message of an [`SqsEvent`].
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SqsRecord {
    /// Message id that SQS assigned.
    pub message_id: String,
    /// Receipt handle of this receive.
    #[serde(default)]
    pub receipt_handle: String,
    /// Message body.
    #[serde(default)]
    pub body: String,
    /// System attributes, such as `ApproximateReceiveCount`. All values are text.
    #[serde(default)]
    pub attributes: HashMap<String, String>,
    /// Message attributes by name.
    #[serde(default)]
    pub message_attributes: HashMap<String, SqsRecordAttribute>,
    /// MD5 of the body, 32 lower-case hex digits.
    #[serde(default)]
    pub md5_of_body: String,
    /// MD5 of the message attributes, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub md5_of_message_attributes: Option<String>,
    /// `aws:sqs`.
    #[serde(default)]
    pub event_source: String,
    /// ARN of the queue.
    #[serde(default, rename = "eventSourceARN")]
    pub event_source_arn: String,
    /// Region of the queue.
    #[serde(default)]
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
    /// Of data type `Binary`, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary_value: Option<String>,
    /// `String`, `Number` or `Binary`, with an optional custom label such as `Number.int`.
    #[serde(default)]
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

    /// The trace context that the message carries. A [`LambdaHandler`](crate::LambdaHandler) runs handlers in it. See
    /// [`trace_context`](crate::trace_context).
    #[cfg(feature = "opentelemetry")]
    pub fn trace_context(&self) -> opentelemetry::Context {
        use crate::trace_context::{Fields, extract_onto};

        let header = self.attributes.get(MessageSystemAttributeName::AwsTraceHeader.as_str());
        let attributes = self.message_attributes.iter();
        let texts =
            attributes.filter_map(|(name, value)| Some((name.as_str(), value.string_value.as_deref()?)));
        let fields = Fields::new(header.map(String::as_str), texts);
        extract_onto(&opentelemetry::Context::new(), &fields)
    }

    /// The message as a receive would return it.
    ///
    /// # Errors
    /// A binary attribute is not base64.
    pub fn to_message(&self) -> Result<Message, HandlerError> {
        let system = |(name, value): (&String, &String)| (name.as_str().into(), value.clone());
        let mut attributes = HashMap::new();
        for (name, attribute) in &self.message_attributes {
            attributes.insert(name.clone(), attribute.to_value(name)?);
        }
        let mut message = Message::default();
        message.message_id = Some(self.message_id.clone());
        message.receipt_handle = Some(self.receipt_handle.clone());
        message.md5_of_body = Some(self.md5_of_body.clone());
        message.body = Some(self.body.clone());
        message.attributes = Some(self.attributes.iter().map(system).collect());
        message.md5_of_message_attributes.clone_from(&self.md5_of_message_attributes);
        message.message_attributes = Some(attributes);
        Ok(message)
    }
}

impl SqsRecordAttribute {
    fn to_value(&self, name: &str) -> Result<MessageAttributeValue, HandlerError> {
        let binary = self.binary_value.as_deref().map(|text| base64_simd::STANDARD.decode_to_vec(text));
        let binary =
            binary.transpose().map_err(|_| format!("the binary message attribute `{name}` is not base64"))?;
        let mut value = MessageAttributeValue::default();
        value.data_type.clone_from(&self.data_type);
        value.string_value.clone_from(&self.string_value);
        value.binary_value = binary.map(Blob::new);
        Ok(value)
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
        let message = record.to_message().unwrap();
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
        let record: SqsRecord = serde_json::from_str(record).unwrap();
        let error = record.to_message().unwrap_err();
        assert_eq!(error.to_string(), "the binary message attribute `seal` is not base64");
    }

    #[test]
    fn response_names_the_failed_messages_as_lambda_reads_them() {
        let none = serde_json::to_string(&SqsBatchResponse::default()).unwrap();
        assert_eq!(none, r#"{"batchItemFailures":[]}"#);
        let failure = BatchItemFailure { item_identifier: "7".to_owned() };
        let one = serde_json::to_string(&SqsBatchResponse { batch_item_failures: vec![failure] }).unwrap();
        assert_eq!(one, r#"{"batchItemFailures":[{"itemIdentifier":"7"}]}"#);
    }
}
