//! Section 2: the two lists with pages.

use serde_json::json;
use sqs_client::wire::protocol::Protocol;

use super::answers::{keys, text};
use super::code::PARAMETER;
use crate::session::{BOTH, Session};

/// 2: `NextToken` of both lists; no token without `MaxResults`.
#[tokio::test]
async fn lists_return_a_token_only_with_max_results() {
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
async fn list_without_max_results_has_at_most_1000_queues() {
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
