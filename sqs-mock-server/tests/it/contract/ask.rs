//! Untyped requests and responses: the same JSON for both protocols.

use std::time::Duration;

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::MockSqs;

use super::answers::{Refusal, output_of_json, output_of_xml, text};
use super::form::form;
use crate::session::Session;

impl Session {
    /// A server with a frozen clock.
    pub(super) async fn frozen(protocol: Protocol) -> Self {
        Self::with(MockSqs::builder().strict().clock_frozen(), protocol).await
    }

    /// Advances the clock.
    pub(super) fn pass(&self, seconds: u64) {
        self.server.clock().advance(Duration::from_secs(seconds));
    }

    /// Calls an action and returns its output or its error.
    pub(super) async fn ask(&mut self, action: &str, input: &Value) -> Result<Value, Refusal> {
        match self.protocol {
            Protocol::AwsJson => output_of_json(action, &self.wire.json(action, input.to_string()).await),
            Protocol::Query => output_of_xml(action, &self.wire.form("/", form(action, input)).await),
        }
    }

    /// Calls an action that must succeed.
    pub(super) async fn done(&mut self, action: &str, input: &Value) -> Value {
        let protocol = self.protocol;
        self.ask(action, input)
            .await
            .unwrap_or_else(|refusal| panic!("{protocol:?} {action} {input}: {refusal:?}"))
    }

    /// Calls an action that must fail.
    pub(super) async fn refused(&mut self, action: &str, input: &Value) -> Refusal {
        let protocol = self.protocol;
        match self.ask(action, input).await {
            Ok(output) => panic!("{protocol:?} {action} {input} succeeded with {output}"),
            Err(refusal) => refusal,
        }
    }

    /// Creates a queue and returns its URL.
    pub(super) async fn queue(&mut self, name: &str, attributes: Value) -> String {
        let output = self.done("CreateQueue", &json!({ "QueueName": name, "Attributes": attributes })).await;
        output["QueueUrl"].as_str().expect("a URL").to_owned()
    }

    /// Creates a FIFO queue with additional attributes.
    pub(super) async fn fifo(&mut self, name: &str, mut attributes: Value) -> String {
        attributes["FifoQueue"] = "true".into();
        self.queue(name, attributes).await
    }

    /// Sends a message.
    pub(super) async fn put(&mut self, url: &str, body: &str) -> Value {
        self.done("SendMessage", &json!({ "QueueUrl": url, "MessageBody": body })).await
    }

    /// Sends a message to a group, with the body as its deduplication id.
    pub(super) async fn put_in(&mut self, url: &str, group: &str, body: &str) -> Value {
        let input = json!({
            "QueueUrl": url, "MessageBody": body, "MessageGroupId": group, "MessageDeduplicationId": body,
        });
        self.done("SendMessage", &input).await
    }

    /// Receives with additional parameters.
    pub(super) async fn take(&mut self, url: &str, mut parameters: Value) -> Vec<Value> {
        parameters["QueueUrl"] = url.into();
        let mut output = self.done("ReceiveMessage", &parameters).await;
        output["Messages"].take().as_array_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Receives while the clock advances second by second, and returns the number of seconds.
    pub(super) async fn take_while_time_passes(&mut self, url: &str, parameters: Value) -> (Vec<Value>, u64) {
        let clock = self.server.clock().clone();
        let receive = self.take(url, parameters);
        tokio::pin!(receive);
        let mut seconds = 0;
        loop {
            // Lets the server run.
            let turn = tokio::time::sleep(Duration::from_millis(1));
            tokio::select! {
                messages = &mut receive => return (messages, seconds),
                () = turn => {
                    clock.advance(Duration::from_secs(1));
                    seconds += 1;
                }
            }
        }
    }

    /// Receives up to ten messages and returns their bodies.
    pub(super) async fn bodies(&mut self, url: &str) -> Vec<String> {
        let messages = self.take(url, json!({ "MaxNumberOfMessages": 10 })).await;
        messages.iter().map(|message| text(&message["Body"])).collect()
    }

    /// Receives one message and returns its handle.
    pub(super) async fn handle(&mut self, url: &str) -> String {
        let messages = self.take(url, json!({})).await;
        text(&messages.first().expect("a message")["ReceiptHandle"])
    }

    /// Receives one message with all system attributes.
    pub(super) async fn with_attributes(&mut self, url: &str) -> Value {
        let messages = self.take(url, json!({ "AttributeNames": ["All"] })).await;
        messages.into_iter().next().expect("a message")
    }

    pub(super) async fn delete(&mut self, url: &str, handle: &str) {
        self.done("DeleteMessage", &json!({ "QueueUrl": url, "ReceiptHandle": handle })).await;
    }

    pub(super) async fn hide(&mut self, url: &str, handle: &str, seconds: u32) {
        let input = json!({ "QueueUrl": url, "ReceiptHandle": handle, "VisibilityTimeout": seconds });
        self.done("ChangeMessageVisibility", &input).await;
    }

    pub(super) async fn set(&mut self, url: &str, attributes: Value) {
        let input = json!({ "QueueUrl": url, "Attributes": attributes });
        self.done("SetQueueAttributes", &input).await;
    }

    /// The attributes of a queue.
    pub(super) async fn attributes(&mut self, url: &str) -> Value {
        let input = json!({ "QueueUrl": url, "AttributeNames": ["All"] });
        self.done("GetQueueAttributes", &input).await["Attributes"].take()
    }

    /// The counts of visible, in-flight and delayed messages.
    pub(super) async fn counts(&mut self, url: &str) -> [String; 3] {
        let attributes = self.attributes(url).await;
        ["", "NotVisible", "Delayed"]
            .map(|kind| text(&attributes[format!("ApproximateNumberOfMessages{kind}")]))
    }
}
