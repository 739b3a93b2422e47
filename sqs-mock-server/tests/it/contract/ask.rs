//! Requests and answers without types: the same JSON goes out in both protocols, the same comes back.
//!
//! Every answer is held against what sections 3.2, 3.3 and 4.2 say about all of them.

use std::time::Duration;

use serde_json::{Value, json};
use sqs_client::protocol::Protocol;
use sqs_mock_server::MockSqs;

use super::code::Code;
use super::form::form;
use super::xml::Element;
use crate::session::Session;
use crate::wire::Answer;

/// The nine actions without output.
const VOID: [&str; 9] = [
    "AddPermission",
    "ChangeMessageVisibility",
    "DeleteMessage",
    "DeleteQueue",
    "PurgeQueue",
    "RemovePermission",
    "SetQueueAttributes",
    "TagQueue",
    "UntagQueue",
];

const NAMESPACE: &str = "xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\"";

/// An error answer.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// Code of the Query protocol, from the header or from the XML.
    pub(super) query: String,
    /// `__type`, in AWS JSON.
    pub(super) type_name: Option<String>,
    pub(super) message: String,
}

impl Refusal {
    /// Asserts which error it is; `row` names the case.
    pub(super) fn is(&self, row: &str, code: Code) {
        assert_eq!((self.status, self.query.as_str()), (code.status, code.query), "{row}: {self:?}");
        if let Some(type_name) = &self.type_name {
            assert_eq!(*type_name, format!("{}#{}", code.namespace, code.shape), "{row}: {self:?}");
        }
    }

    /// Asserts which error it is, and its words.
    pub(super) fn says(&self, row: &str, code: Code, message: &str) {
        self.is(row, code);
        assert_eq!(self.message, message, "{row}");
    }
}

impl Session {
    /// A server whose clock moves only when it is told to.
    pub(super) async fn frozen(protocol: Protocol) -> Self {
        Self::with(MockSqs::builder().clock_frozen(), protocol).await
    }

    /// Makes time pass.
    pub(super) fn pass(&self, seconds: u64) {
        self.server.clock().advance(Duration::from_secs(seconds));
    }

    /// Asks for an action, and gives its output or its refusal.
    pub(super) async fn ask(&mut self, action: &str, input: &Value) -> Result<Value, Refusal> {
        match self.protocol {
            Protocol::AwsJson => output_of_json(action, &self.wire.json(action, input.to_string()).await),
            Protocol::Query => output_of_xml(action, &self.wire.form("/", form(action, input)).await),
        }
    }

    /// Asks for an action that must succeed.
    pub(super) async fn done(&mut self, action: &str, input: &Value) -> Value {
        let protocol = self.protocol;
        self.ask(action, input)
            .await
            .unwrap_or_else(|refusal| panic!("{protocol:?} {action} {input}: {refusal:?}"))
    }

    /// Asks for an action that must be refused.
    pub(super) async fn refused(&mut self, action: &str, input: &Value) -> Refusal {
        let protocol = self.protocol;
        match self.ask(action, input).await {
            Ok(output) => panic!("{protocol:?} {action} {input} was not refused but answered {output}"),
            Err(refusal) => refusal,
        }
    }

    /// Makes a queue and gives its URL.
    pub(super) async fn queue(&mut self, name: &str, attributes: Value) -> String {
        let output = self.done("CreateQueue", &json!({ "QueueName": name, "Attributes": attributes })).await;
        output["QueueUrl"].as_str().expect("a URL").to_owned()
    }

    /// Makes a FIFO queue with these attributes besides.
    pub(super) async fn fifo(&mut self, name: &str, mut attributes: Value) -> String {
        attributes["FifoQueue"] = "true".into();
        self.queue(name, attributes).await
    }

    /// Sends a body.
    pub(super) async fn put(&mut self, url: &str, body: &str) -> Value {
        self.done("SendMessage", &json!({ "QueueUrl": url, "MessageBody": body })).await
    }

    /// Sends a body, which is its deduplication id too, into a group.
    pub(super) async fn put_in(&mut self, url: &str, group: &str, body: &str) -> Value {
        let input = json!({
            "QueueUrl": url, "MessageBody": body, "MessageGroupId": group, "MessageDeduplicationId": body,
        });
        self.done("SendMessage", &input).await
    }

    /// Receives with these parameters besides the queue.
    pub(super) async fn take(&mut self, url: &str, mut parameters: Value) -> Vec<Value> {
        parameters["QueueUrl"] = url.into();
        let mut output = self.done("ReceiveMessage", &parameters).await;
        output["Messages"].take().as_array_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Receives while the clock goes on, a second at a time, and says how many seconds it took.
    pub(super) async fn take_while_time_passes(&mut self, url: &str, parameters: Value) -> (Vec<Value>, u64) {
        let clock = self.server.clock().clone();
        let receive = self.take(url, parameters);
        tokio::pin!(receive);
        let mut seconds = 0;
        loop {
            // Not to wait for anything, but to let the server have its turn.
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

    /// Receives up to ten messages, and gives their bodies.
    pub(super) async fn bodies(&mut self, url: &str) -> Vec<String> {
        let messages = self.take(url, json!({ "MaxNumberOfMessages": 10 })).await;
        messages.iter().map(|message| text(&message["Body"])).collect()
    }

    /// Receives one message, and gives its handle.
    pub(super) async fn handle(&mut self, url: &str) -> String {
        let messages = self.take(url, json!({})).await;
        text(&messages.first().expect("there is a message")["ReceiptHandle"])
    }

    /// Receives one message with all system attributes.
    pub(super) async fn with_attributes(&mut self, url: &str) -> Value {
        let messages = self.take(url, json!({ "AttributeNames": ["All"] })).await;
        messages.into_iter().next().expect("there is a message")
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

    /// Visible, in flight, delayed.
    pub(super) async fn counts(&mut self, url: &str) -> [String; 3] {
        let attributes = self.attributes(url).await;
        ["", "NotVisible", "Delayed"]
            .map(|kind| text(&attributes[format!("ApproximateNumberOfMessages{kind}")]))
    }
}

/// The text of a value that must be one.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn request_id(answer: &Answer) -> String {
    let id = answer.header("x-amzn-requestid");
    let lengths: Vec<_> = id.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{id:?} is a UUID");
    id.to_owned()
}

pub(super) fn output_of_json(action: &str, answer: &Answer) -> Result<Value, Refusal> {
    request_id(answer);
    assert_eq!(answer.header("content-type"), "application/x-amz-json-1.0", "{action}");
    if answer.status != 200 {
        return Err(refusal_of_json(answer));
    }
    if VOID.contains(&action) {
        assert_eq!((answer.text(), answer.header("content-length")), ("", "0"), "{action} has no output");
        return Ok(Value::Null);
    }
    let output: Value = serde_json::from_slice(&answer.body).expect("output is JSON");
    assert!(output.is_object(), "{action}: {output}");
    Ok(output)
}

fn refusal_of_json(answer: &Answer) -> Refusal {
    let body: Value = serde_json::from_slice(&answer.body).expect("refusals are JSON");
    let header = answer.header("x-amzn-query-error");
    let (query, fault) = header.split_once(';').expect("a code and who is at fault");
    assert_eq!(fault, if answer.status < 500 { "Sender" } else { "Receiver" });
    Refusal {
        status: answer.status,
        query: query.to_owned(),
        type_name: Some(text(&body["__type"])),
        message: body["message"].as_str().unwrap_or_default().to_owned(),
    }
}

pub(super) fn output_of_xml(action: &str, answer: &Answer) -> Result<Value, Refusal> {
    assert_eq!(answer.header("content-type"), "text/xml", "{action}");
    let root = Element::parse(answer.text());
    assert_eq!(root.attributes, NAMESPACE, "{action}");
    if answer.status != 200 {
        return Err(refusal_of_xml(answer, &root));
    }
    assert_eq!(root.name, format!("{action}Response"));
    let metadata = root.child("ResponseMetadata").expect("there is metadata");
    assert_eq!(metadata.child_text("RequestId"), request_id(answer));
    let result = root.child(&format!("{action}Result"));
    assert_eq!(result.is_none(), VOID.contains(&action), "{action}: {root:?}");
    Ok(result.map_or(Value::Null, |result| result.to_json(action)))
}

fn refusal_of_xml(answer: &Answer, root: &Element) -> Refusal {
    assert_eq!(root.name, "ErrorResponse");
    assert_eq!(root.child_text("RequestId"), request_id(answer));
    let error = root.child("Error").expect("it says what is wrong");
    assert_eq!(error.child_text("Type"), if answer.status < 500 { "Sender" } else { "Receiver" });
    assert!(error.child("Detail").is_some(), "{root:?}");
    let (query, message) = (error.child_text("Code").to_owned(), error.child_text("Message").to_owned());
    Refusal { status: answer.status, query, type_name: None, message }
}
