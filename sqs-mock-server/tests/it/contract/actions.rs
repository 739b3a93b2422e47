//! Section 2: inputs and outputs of all actions.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;

use super::answers::keys;
use super::code::{MISSING, NO_QUEUE, PARAMETER};
use crate::session::{BOTH, Session};

/// Every action with a queue URL, with its other members.
fn on_a_queue() -> Vec<(&'static str, Value)> {
    let entry = json!([{ "Id": "a", "MessageBody": "x", "ReceiptHandle": "h", "VisibilityTimeout": 1 }]);
    vec![
        ("AddPermission", json!({ "Label": "l", "AWSAccountIds": ["123456789012"], "Actions": ["*"] })),
        ("ChangeMessageVisibility", json!({ "ReceiptHandle": "h", "VisibilityTimeout": 1 })),
        ("ChangeMessageVisibilityBatch", json!({ "Entries": entry })),
        ("DeleteMessage", json!({ "ReceiptHandle": "h" })),
        ("DeleteMessageBatch", json!({ "Entries": entry })),
        ("DeleteQueue", json!({})),
        ("GetQueueAttributes", json!({ "AttributeNames": ["All"] })),
        ("ListDeadLetterSourceQueues", json!({})),
        ("ListQueueTags", json!({})),
        ("PurgeQueue", json!({})),
        ("ReceiveMessage", json!({})),
        ("RemovePermission", json!({ "Label": "l" })),
        ("SendMessage", json!({ "MessageBody": "x" })),
        ("SendMessageBatch", json!({ "Entries": entry })),
        ("SetQueueAttributes", json!({ "Attributes": { "DelaySeconds": "1" } })),
        ("TagQueue", json!({ "Tags": { "a": "b" } })),
        ("UntagQueue", json!({ "TagKeys": ["a"] })),
    ]
}

/// 2, 3.3, 4.2, 9.2
#[tokio::test]
async fn every_action_on_a_queue_rejects_unknown_and_missing_queues() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let message = match protocol {
            Protocol::AwsJson => "The specified queue does not exist.",
            Protocol::Query => "The specified queue does not exist for this wsdl version.",
        };
        let unknown = s.server.queue_url("unknown");
        for (action, mut input) in on_a_queue() {
            s.refused(action, &input).await.says(action, NO_QUEUE, message);
            input["QueueUrl"] = unknown.as_str().into();
            s.refused(action, &input).await.says(action, NO_QUEUE, message);
        }
        s.queue("q", json!({})).await;
        for input in [
            json!({ "QueueName": "unknown" }),
            json!({ "QueueName": "q", "QueueOwnerAWSAccountId": "123456789012" }),
        ] {
            // Not recorded: the text of the Query protocol is from a log of AWS.
            let message = match protocol {
                Protocol::AwsJson => message,
                Protocol::Query => "The specified queue does not exist or you do not have access to it.",
            };
            s.refused("GetQueueUrl", &input).await.says("GetQueueUrl", NO_QUEUE, message);
        }
    }
}

/// 2: the column "Output" of the actions on queues.
#[tokio::test]
async fn actions_on_queues_have_the_outputs_of_the_table() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let created =
            json!({ "QueueName": "q", "Attributes": { "DelaySeconds": "0" }, "tags": { "a": "b" } });
        let created = s.done("CreateQueue", &created).await;
        let url = &created["QueueUrl"];
        assert_eq!(keys(&created), ["QueueUrl"]);
        for (action, input, output) in [
            ("GetQueueUrl", json!({ "QueueName": "q" }), json!({ "QueueUrl": url })),
            (
                "GetQueueUrl",
                json!({ "QueueName": "q", "QueueOwnerAWSAccountId": "000000000000" }),
                json!({ "QueueUrl": url }),
            ),
            ("ListQueues", json!({}), json!({ "QueueUrls": [url] })),
            ("ListQueues", json!({ "QueueNamePrefix": "q" }), json!({ "QueueUrls": [url] })),
            ("ListQueues", json!({ "QueueNamePrefix": "Q" }), json!({})),
            ("ListQueueTags", json!({ "QueueUrl": url }), json!({ "Tags": { "a": "b" } })),
            ("TagQueue", json!({ "QueueUrl": url, "Tags": { "c": "d" } }), Value::Null),
            ("UntagQueue", json!({ "QueueUrl": url, "TagKeys": ["a", "c"] }), Value::Null),
            ("ListQueueTags", json!({ "QueueUrl": url }), json!({})),
            (
                "SetQueueAttributes",
                json!({ "QueueUrl": url, "Attributes": { "DelaySeconds": "1" } }),
                Value::Null,
            ),
            (
                "GetQueueAttributes",
                json!({ "QueueUrl": url, "AttributeNames": ["DelaySeconds"] }),
                json!({ "Attributes": { "DelaySeconds": "1" } }),
            ),
            (
                "AddPermission",
                json!({ "QueueUrl": url, "Label": "l", "AWSAccountIds": ["123456789012"], "Actions": ["*"] }),
                Value::Null,
            ),
            ("RemovePermission", json!({ "QueueUrl": url, "Label": "l" }), Value::Null),
            ("PurgeQueue", json!({ "QueueUrl": url }), Value::Null),
            ("DeleteQueue", json!({ "QueueUrl": url }), Value::Null),
            ("ListQueues", json!({}), json!({})),
        ] {
            assert_eq!(s.done(action, &input).await, output, "{protocol:?} {action} {input}");
        }
    }
}

/// 2: the column "Output" of the actions on messages.
#[tokio::test]
async fn actions_on_messages_have_the_outputs_of_the_table() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let sent = s.put(&url, "x").await;
        assert_eq!(keys(&sent), ["MD5OfMessageBody", "MessageId"]);
        let trace = json!({ "AWSTraceHeader": { "DataType": "String", "StringValue": "Root=1" } });
        let attributes = json!({ "a": { "DataType": "String", "StringValue": "b" } });
        let fifo = s.fifo("q.fifo", json!({})).await;
        let everything = json!({
            "QueueUrl": fifo, "MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d",
            "MessageAttributes": attributes, "MessageSystemAttributes": trace,
        });
        let expected = [
            "MD5OfMessageAttributes",
            "MD5OfMessageBody",
            "MD5OfMessageSystemAttributes",
            "MessageId",
            "SequenceNumber",
        ];
        assert_eq!(keys(&s.done("SendMessage", &everything).await), expected);
        let batch = json!({ "QueueUrl": url, "Entries": [{ "Id": "a", "MessageBody": "y" }] });
        let batch = s.done("SendMessageBatch", &batch).await;
        assert_eq!(keys(&batch), ["Successful"]);
        assert_eq!(keys(&batch["Successful"][0]), ["Id", "MD5OfMessageBody", "MessageId"]);

        let received = s.take(&url, json!({ "MaxNumberOfMessages": 10 })).await;
        assert_eq!(keys(&received[0]), ["Body", "MD5OfBody", "MessageId", "ReceiptHandle"]);
        let handles: Vec<_> = received.iter().map(|message| &message["ReceiptHandle"]).collect();
        let one = json!({ "QueueUrl": url, "ReceiptHandle": handles[0], "VisibilityTimeout": 9 });
        assert_eq!(s.done("ChangeMessageVisibility", &one).await, Value::Null);
        let entries = json!([{ "Id": "a", "ReceiptHandle": handles[0], "VisibilityTimeout": 9 }]);
        let batch = json!({ "QueueUrl": url, "Entries": entries });
        let succeeded = json!({ "Successful": [{ "Id": "a" }] });
        assert_eq!(s.done("ChangeMessageVisibilityBatch", &batch).await, succeeded);
        let one = json!({ "QueueUrl": url, "ReceiptHandle": handles[0] });
        assert_eq!(s.done("DeleteMessage", &one).await, Value::Null);
        let entries = json!([{ "Id": "a", "ReceiptHandle": handles[1] }]);
        assert_eq!(
            s.done("DeleteMessageBatch", &json!({ "QueueUrl": url, "Entries": entries })).await,
            succeeded
        );
    }
}

/// 2
#[tokio::test]
async fn failed_entries_have_id_fault_code_and_message_in_a_response_with_status_200() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let entries = json!([{ "Id": "a", "MessageBody": "x" }, { "Id": "b", "MessageBody": "\u{1}" }]);
        let mixed = s.done("SendMessageBatch", &json!({ "QueueUrl": url, "Entries": entries })).await;
        assert_eq!(mixed["Successful"][0]["Id"], "a");
        let failed = &mixed["Failed"][0];
        assert_eq!(keys(failed), ["Code", "Id", "Message", "SenderFault"]);
        assert_eq!((&failed["Id"], &failed["SenderFault"]), (&json!("b"), &json!(true)));
        assert_eq!(failed["Code"], "InvalidMessageContents");
    }
}

/// 2: members marked with `*`, omitted one by one; 3.3 for the first four.
/// Not recorded: `Label`, `AWSAccountIds`, `Actions`, `Attributes`, `Tags`, `TagKeys`, `SourceArn`, `TaskHandle`.
#[tokio::test]
async fn missing_required_member_is_named() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for (action, input, member) in [
            ("SendMessage", json!({}), "MessageBody"),
            ("DeleteMessage", json!({}), "ReceiptHandle"),
            ("ChangeMessageVisibility", json!({ "VisibilityTimeout": 1 }), "ReceiptHandle"),
            ("ChangeMessageVisibility", json!({ "ReceiptHandle": "h" }), "VisibilityTimeout"),
            ("AddPermission", json!({ "AWSAccountIds": ["123456789012"], "Actions": ["*"] }), "Label"),
            ("AddPermission", json!({ "Label": "l", "Actions": ["*"] }), "AWSAccountIds"),
            ("AddPermission", json!({ "Label": "l", "AWSAccountIds": ["123456789012"] }), "Actions"),
            ("RemovePermission", json!({}), "Label"),
            ("SetQueueAttributes", json!({}), "Attributes"),
            ("TagQueue", json!({}), "Tags"),
            ("UntagQueue", json!({}), "TagKeys"),
            ("StartMessageMoveTask", json!({}), "SourceArn"),
            ("ListMessageMoveTasks", json!({}), "SourceArn"),
            ("CancelMessageMoveTask", json!({}), "TaskHandle"),
        ] {
            let mut input = input;
            input["QueueUrl"] = url.as_str().into();
            let message = format!("The request must contain the parameter {member}.");
            s.refused(action, &input).await.says(action, MISSING, &message);
        }
        for action in ["CreateQueue", "GetQueueUrl"] {
            for input in [json!({}), json!({ "QueueName": "" })] {
                s.refused(action, &input).await.is(action, PARAMETER);
            }
        }
    }
}
