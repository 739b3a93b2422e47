//! Section 2: what each action takes and gives.

use serde_json::{Value, json};
use sqs_client::protocol::Protocol;

use super::ask::text;
use super::code::{MISSING, NO_QUEUE, PARAMETER};
use crate::session::{BOTH, Session};

/// Every action that takes a queue URL, with its other members.
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
async fn every_action_on_a_queue_says_when_it_is_unknown_or_not_named() {
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
        let refusal = s.refused("GetQueueUrl", &json!({ "QueueName": "unknown" })).await;
        refusal.says("GetQueueUrl", NO_QUEUE, message);
    }
}

fn keys(output: &Value) -> Vec<&str> {
    output.as_object().map(|members| members.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// 2: the column "Output" of the actions on queues.
#[tokio::test]
async fn actions_on_queues_give_what_the_table_says() {
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
async fn actions_on_messages_give_what_the_table_says() {
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
async fn failed_entries_tell_id_fault_code_and_message_in_an_answer_of_200() {
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

/// 2: `NextToken` of both lists; no token without `MaxResults`.
#[tokio::test]
async fn lists_have_a_next_page_only_for_who_asks_for_pages() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let dead = s.queue("dead", json!({})).await;
        let policy =
            json!({ "deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:dead", "maxReceiveCount": 1 });
        for number in 0..5 {
            s.queue(&format!("q{number}"), json!({ "RedrivePolicy": policy.to_string() })).await;
        }
        for (action, member, mut input) in [
            ("ListQueues", "QueueUrls", json!({ "QueueNamePrefix": "q" })),
            ("ListDeadLetterSourceQueues", "queueUrls", json!({ "QueueUrl": dead })),
        ] {
            let all = s.done(action, &input).await;
            assert_eq!(keys(&all), [member], "{action}");
            let mut seen = Vec::new();
            input["MaxResults"] = 2.into();
            for page in 0..3 {
                let output = s.done(action, &input).await;
                seen.extend(output[member].as_array().unwrap().iter().map(text));
                assert_eq!(output.get("NextToken").is_some(), page < 2, "{action}: page {page}");
                input["NextToken"] = output["NextToken"].clone();
            }
            assert_eq!(json!(seen), all[member], "{action}");
        }
    }
}

/// 2
#[tokio::test]
async fn list_without_a_page_size_ends_after_1000_queues() {
    let mut s = Session::start(Protocol::AwsJson).await;
    for number in 0..=1_000 {
        s.done("CreateQueue", &json!({ "QueueName": format!("q{number:04}") })).await;
    }
    for protocol in BOTH {
        s.protocol = protocol;
        let list = s.done("ListQueues", &json!({})).await;
        assert_eq!((keys(&list).len(), list["QueueUrls"].as_array().unwrap().len()), (1, 1_000));
        let list = s.done("ListQueues", &json!({ "MaxResults": 1_000 })).await;
        assert!(list["NextToken"].is_string(), "one more remains");
    }
}

/// 2: `MaxResults 1..1000`.
/// Not recorded: the texts.
#[tokio::test]
async fn page_sizes_are_from_1_to_1000() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for size in [-1, 0, 1_001] {
            s.refused("ListQueues", &json!({ "MaxResults": size })).await.is("ListQueues", PARAMETER);
            let input = json!({ "QueueUrl": url, "MaxResults": size });
            s.refused("ListDeadLetterSourceQueues", &input).await.is("sources", PARAMETER);
        }
        for size in [1, 1_000] {
            s.done("ListQueues", &json!({ "MaxResults": size })).await;
        }
        let refusal = s.refused("ListQueues", &json!({ "MaxResults": 1, "NextToken": "none of ours" })).await;
        refusal.is("token", PARAMETER);
    }
}

/// 2: members marked with `*`, one after the other left out; 3.3 for the first four.
/// Not recorded: `Label`, `AWSAccountIds`, `Actions`, `Attributes`, `Tags`, `TagKeys`, `SourceArn`, `TaskHandle`.
#[tokio::test]
async fn required_members_are_missed_by_name() {
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
