//! Section 7.6: throughput quotas of FIFO queues, on a server with quotas.

use serde_json::{Value, json};
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::{MockSqs, QuotaScope, ThroughputQuotas};

use super::answers::text;
use super::code::REQUEST_THROTTLED;
use crate::session::{BOTH, Session};

fn quotas(calls: u32, high_throughput_calls: u32, group_messages: u32) -> ThroughputQuotas {
    let mut quotas = ThroughputQuotas::default();
    (quotas.calls, quotas.group_messages) = (calls, group_messages);
    quotas.high_throughput_calls = high_throughput_calls;
    quotas
}

async fn session(protocol: Protocol, quotas: ThroughputQuotas) -> Session {
    let session = Session::with(MockSqs::builder().clock_frozen(), protocol).await;
    session.server.set_throughput_quotas(QuotaScope::Server, quotas);
    session
}

async fn high_throughput(session: &mut Session) -> String {
    let attributes =
        json!({ "DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId" });
    session.fifo("jobs.fifo", attributes).await
}

async fn throttled(session: &mut Session, action: &str, input: &Value) {
    session.refused(action, input).await.says(action, REQUEST_THROTTLED, "Request is throttled.");
}

fn message(url: &str, group: &str, id: &str) -> Value {
    json!({ "QueueUrl": url, "MessageBody": "x", "MessageGroupId": group, "MessageDeduplicationId": id })
}

/// 7.6: "FIFO per API, no batching / batched: 300 / 3,000 messages/s per queue".
#[tokio::test]
async fn batch_is_one_call_and_shares_the_quota_of_its_single_action() {
    for protocol in BOTH {
        let mut session = session(protocol, ThroughputQuotas::default()).await;
        let url = session.fifo("jobs.fifo", json!({})).await;
        for batch in 0..299 {
            let entry = |place| {
                json!({
                    "Id": format!("{place}"), "MessageBody": "x", "MessageGroupId": "g",
                    "MessageDeduplicationId": format!("{batch}-{place}"),
                })
            };
            let entries: Vec<_> = (0..10).map(entry).collect();
            session.done("SendMessageBatch", &json!({ "QueueUrl": url, "Entries": entries })).await;
        }
        session.done("SendMessage", &message(&url, "g", "last")).await;
        throttled(&mut session, "SendMessage", &message(&url, "g", "one-more")).await;
        let entries =
            json!([{ "Id": "a", "MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "a" }]);
        let batch = json!({ "QueueUrl": url, "Entries": entries });
        throttled(&mut session, "SendMessageBatch", &batch).await;
        assert_eq!(session.counts(&url).await[0], "2991");
        session.pass(1);
        session.done("SendMessage", &message(&url, "g", "one-more")).await;
    }
}

/// Not recorded: the text for changes of visibility is from a log with an unknown quota.
#[tokio::test]
async fn each_action_has_its_own_quota() {
    for protocol in BOTH {
        let mut session = session(protocol, quotas(2, 9, 9)).await;
        let url = session.fifo("jobs.fifo", json!({})).await;
        for id in ["a", "b"] {
            session.put_in(&url, id, id).await;
        }
        let (first, second) = (session.handle(&url).await, session.handle(&url).await);
        let receive = json!({ "QueueUrl": url });
        throttled(&mut session, "ReceiveMessage", &receive).await;
        let hide = json!({ "QueueUrl": url, "ReceiptHandle": first, "VisibilityTimeout": 60 });
        let entry = json!({ "Id": "a", "ReceiptHandle": second, "VisibilityTimeout": 60 });
        session.done("ChangeMessageVisibility", &hide).await;
        let batch = json!({ "QueueUrl": url, "Entries": [entry] });
        session.done("ChangeMessageVisibilityBatch", &batch).await;
        let text = "Request throttled because message visibility configuration was updated too recently. Wait a short \
                    while and then retry the operation.";
        session.refused("ChangeMessageVisibility", &hide).await.says(
            "ChangeMessageVisibility",
            REQUEST_THROTTLED,
            text,
        );
        session.refused("ChangeMessageVisibilityBatch", &batch).await.says(
            "ChangeMessageVisibilityBatch",
            REQUEST_THROTTLED,
            text,
        );
        session.delete(&url, &first).await;
        let batch = json!({ "QueueUrl": url, "Entries": [{ "Id": "b", "ReceiptHandle": second }] });
        session.done("DeleteMessageBatch", &batch).await;
        let delete = json!({ "QueueUrl": url, "ReceiptHandle": second });
        throttled(&mut session, "DeleteMessage", &delete).await;
        throttled(&mut session, "DeleteMessageBatch", &batch).await;
    }
}

/// 7.6: "per group within high throughput: about 300/s". Not recorded: how AWS rejects entries of a batch.
#[tokio::test]
async fn batch_fails_only_for_groups_above_their_quota() {
    for protocol in BOTH {
        let mut session = session(protocol, quotas(0, 9, 2)).await;
        let url = high_throughput(&mut session).await;
        let entry = |id: &str, group: &str| json!({ "Id": id, "MessageBody": "x", "MessageGroupId": group, "MessageDeduplicationId": id });
        let entries = [("1", "a"), ("2", "b"), ("3", "a"), ("4", "a"), ("5", "b"), ("6", "c")]
            .map(|(id, group)| entry(id, group));
        let output = session.done("SendMessageBatch", &json!({ "QueueUrl": url, "Entries": entries })).await;
        let ids = |kind: &str| -> Vec<_> {
            output[kind].as_array().expect("a list").iter().map(|entry| text(&entry["Id"])).collect()
        };
        assert_eq!(
            (ids("Successful"), ids("Failed")),
            (["1", "2", "3", "5", "6"].map(String::from).to_vec(), vec!["4".to_owned()])
        );
        let failed = &output["Failed"][0];
        assert_eq!(text(&failed["Code"]), "RequestThrottled");
        assert_eq!(text(&failed["Message"]), "Request is throttled.");
        assert_eq!(failed["SenderFault"], true);
        throttled(&mut session, "SendMessage", &message(&url, "b", "7")).await;
        session.done("SendMessage", &message(&url, "c", "8")).await;
        session.pass(1);
        session.done("SendMessage", &message(&url, "a", "4")).await;
    }
}

/// 7.6: "FIFO high throughput, TPS per API".
#[tokio::test]
async fn queue_with_high_throughput_has_a_larger_quota_of_calls() {
    for protocol in BOTH {
        let mut session = session(protocol, quotas(1, 3, 9)).await;
        let url = high_throughput(&mut session).await;
        for _ in 0..3 {
            session.take(&url, json!({})).await;
        }
        throttled(&mut session, "ReceiveMessage", &json!({ "QueueUrl": url })).await;
    }
}

/// 7.6: "standard: nearly unlimited".
#[tokio::test]
async fn standard_queues_have_no_quota() {
    for protocol in BOTH {
        let mut session = session(protocol, quotas(0, 0, 0)).await;
        let url = session.queue("orders", json!({})).await;
        session.put(&url, "x").await;
        assert_eq!(session.bodies(&url).await, ["x"]);
    }
}
