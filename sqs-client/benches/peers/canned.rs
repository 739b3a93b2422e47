//! The request bodies and the responses of the server.

use std::str::FromStr;

use sqs_client::operation::receive_message::{ReceiveMessage, ReceiveMessageOutput};
use sqs_client::operation::send_message::{SendMessage, SendMessageOutput};
use sqs_client::operation::send_message_batch::{SendMessageBatch, SendMessageBatchOutput};
use sqs_client::types::{Message, SendMessageBatchResultEntry};
use sqs_client::wire::checksum::md5_of_body;
use sqs_client::wire::protocol::{EncodedResponse, Protocol};

use crate::BoxError;
use crate::options::{Row, choices};

/// Messages per batch and per receive.
pub(crate) const MESSAGES: usize = 10;
/// Bytes per body.
const BYTES: usize = 1024;
const REQUEST_ID: &str = "7c9a3f0e-4b1d-5e2a-9f3c-2d6b8a1e0f47";

choices! {
    /// The content of the bodies.
    Body { Text => "text", Json => "json", }
}

impl Body {
    /// A body of 1 KiB.
    pub(crate) fn text(self) -> String {
        let unit = match self {
            Self::Text => "One apple, two pears, and 300 grams of plums for the cake. ",
            Self::Json => r#"{"id":4711,"kind":"apple","price":"0.30","tags":["red","sweet"]},"#,
        };
        unit.chars().cycle().take(BYTES).collect()
    }
}

pub(crate) fn queue_url(endpoint: &str) -> String {
    format!("{endpoint}/123456789012/orders")
}

/// The response to the request of a row.
pub(crate) fn response(row: Row, body: Body) -> Result<EncodedResponse, BoxError> {
    let body = body.text();
    let md5 = md5_of_body(&body);
    let message_id = |number: usize| format!("5fea7756-0ea4-451a-a703-a558b933{number:04}");
    let numbers = 0..MESSAGES;
    let encoded = match row {
        Row::Send => {
            let output = SendMessageOutput::builder().message_id(message_id(0)).md5_of_message_body(md5);
            Protocol::AwsJson.encode_response::<SendMessage>(&output.build(), REQUEST_ID)?
        }
        Row::Batch => {
            let entry = |number: usize| {
                let entry = SendMessageBatchResultEntry::builder().id(number.to_string());
                entry.message_id(message_id(number)).md5_of_message_body(md5).build()
            };
            let entries = numbers.map(entry).collect::<Result<_, _>>()?;
            let output = SendMessageBatchOutput::builder().set_successful(Some(entries));
            let output = output.set_failed(Some(Vec::new())).build()?;
            Protocol::AwsJson.encode_response::<SendMessageBatch>(&output, REQUEST_ID)?
        }
        Row::Receive => {
            // AWS's receipt handles have about this length.
            let handle = "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a".repeat(11);
            let message = |number| {
                let message = Message::builder().message_id(message_id(number)).receipt_handle(&handle);
                message.md5_of_body(md5).body(&body).build()
            };
            let output =
                ReceiveMessageOutput::builder().set_messages(Some(numbers.map(message).collect())).build();
            Protocol::AwsJson.encode_response::<ReceiveMessage>(&output, REQUEST_ID)?
        }
    };
    Ok(encoded)
}
