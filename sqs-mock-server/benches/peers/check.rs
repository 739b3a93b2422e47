//! Checks that a server behaves like SQS before it is measured.

use std::net::SocketAddr;

use serde_json::Value;
use sqs_client::wire::checksum::md5_of_body;

use crate::BoxError;
use crate::wire::{Connection, request};

/// Creates the queue of all operations and returns its URL.
pub(crate) fn create_queue(address: SocketAddr) -> Result<String, BoxError> {
    let input = r#"{"QueueName":"peers","Attributes":{"VisibilityTimeout":"600"}}"#;
    let response = call(address, "CreateQueue", input)?;
    Ok(response["QueueUrl"].as_str().ok_or("CreateQueue returned no queue URL")?.to_owned())
}

/// Sends a message, receives it unchanged, and deletes it.
pub(crate) fn keeps_messages(address: SocketAddr, queue: &str) -> Result<(), BoxError> {
    let body = "tea & \"coffee\" \u{e4}\u{1d11e}\n";
    let md5 = md5_of_body(body);
    let input = serde_json::json!({ "QueueUrl": queue, "MessageBody": body }).to_string();
    let sent = call(address, "SendMessage", &input)?;
    expect("MD5OfMessageBody of SendMessage", &sent["MD5OfMessageBody"], md5.as_str())?;
    let input = serde_json::json!({ "QueueUrl": queue, "MaxNumberOfMessages": 10 }).to_string();
    let received = call(address, "ReceiveMessage", &input)?;
    let message = &received["Messages"][0];
    expect("Body of ReceiveMessage", &message["Body"], body)?;
    expect("MD5OfBody of ReceiveMessage", &message["MD5OfBody"], md5.as_str())?;
    expect(
        "MessageId of ReceiveMessage",
        &message["MessageId"],
        sent["MessageId"].as_str().unwrap_or("any"),
    )?;
    let entry = serde_json::json!({ "Id": "0", "ReceiptHandle": message["ReceiptHandle"] });
    let delete = serde_json::json!({ "QueueUrl": queue, "Entries": [entry] }).to_string();
    let deleted = call(address, "DeleteMessageBatch", &delete)?;
    expect("Id of DeleteMessageBatch", &deleted["Successful"][0]["Id"], "0")?;
    let names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"];
    let input = serde_json::json!({ "QueueUrl": queue, "AttributeNames": names }).to_string();
    let counts = call(address, "GetQueueAttributes", &input)?;
    names.into_iter().try_for_each(|name| expect(name, &counts["Attributes"][name], "0"))
}

fn call(address: SocketAddr, action: &str, input: &str) -> Result<Value, BoxError> {
    let mut connection = Connection::new(address);
    let response = connection.exchange(&request(address, action, input));
    Ok(serde_json::from_slice(response.map_err(|error| format!("{action}: {error}"))?)?)
}

fn expect(member: &str, found: &Value, expected: &str) -> Result<(), BoxError> {
    if found.as_str() == Some(expected) {
        return Ok(());
    }
    Err(format!("{member} is {found}, expected {expected:?}").into())
}
