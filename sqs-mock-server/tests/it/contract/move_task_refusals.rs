//! Section 7.5: errors of starting, listing and cancelling move tasks.

use serde_json::json;
use sqs_client::wire::protocol::Protocol;

use super::answers::output_of_json;
use super::code::{NO_RESOURCE, OVER_LIMIT, PARAMETER};
use super::move_tasks::{ARN, begin, newest, start};
use crate::session::{BOTH, Session};
use crate::wire::JSON;

/// 2 and 7.5: ranges, unknown queues, queues that are not dead-letter queues.
#[tokio::test]
async fn invalid_tasks_are_rejected() {
    for protocol in BOTH {
        let (mut s, ..) = start(protocol, 0).await;
        let dead = format!("{ARN}dead");
        let text = "Source queue must be configured as a Dead Letter Queue.";
        let input = json!({ "SourceArn": format!("{ARN}source") });
        s.refused("StartMessageMoveTask", &input).await.says("no dead letters", PARAMETER, text);
        let input = json!({ "SourceArn": format!("{ARN}none") });
        let text = "The resource that you specified for the SourceArn parameter doesn't exist.";
        for action in ["StartMessageMoveTask", "ListMessageMoveTasks"] {
            s.refused(action, &input).await.says(action, NO_RESOURCE, text);
        }
        let input = json!({ "SourceArn": dead, "DestinationArn": format!("{ARN}none") });
        s.refused("StartMessageMoveTask", &input).await.is("unknown destination", NO_RESOURCE);
        for bad in [0, 501] {
            let input = json!({ "SourceArn": dead, "MaxNumberOfMessagesPerSecond": bad });
            s.refused("StartMessageMoveTask", &input).await.is("rate", PARAMETER);
        }
        for bad in [0, 11] {
            let input = json!({ "SourceArn": dead, "MaxResults": bad });
            s.refused("ListMessageMoveTasks", &input).await.is("MaxResults", PARAMETER);
        }
    }
}

/// 7.5: sources, destinations and tasks of other accounts.
/// Not recorded: AWS documents that there are no permissions across accounts, so they do not exist for the caller.
#[tokio::test]
async fn tasks_and_queues_of_other_accounts_and_regions_do_not_exist() {
    let (mut s, ..) = start(Protocol::AwsJson, 2).await;
    let handle = begin(&mut s, json!({ "MaxNumberOfMessagesPerSecond": 1 })).await;
    let source = json!({ "SourceArn": format!("{ARN}dead") });
    for scope in ["123456789012/20260102/us-east-1", "AKID/20260102/eu-west-1"] {
        let signed = format!(
            "authorization: AWS4-HMAC-SHA256 Credential={scope}/sqs/aws4_request, SignedHeaders=host, Signature=0\r\n"
        );
        for (action, input) in [
            ("StartMessageMoveTask", &source),
            ("ListMessageMoveTasks", &source),
            ("CancelMessageMoveTask", &json!({ "TaskHandle": handle })),
        ] {
            let headers = format!("{JSON}x-amz-target: AmazonSQS.{action}\r\n{signed}");
            let answer = s.wire.exchange("POST /", &headers, input.to_string().as_bytes()).await;
            output_of_json(action, &answer).unwrap_err().is(&format!("{scope} {action}"), NO_RESOURCE);
        }
    }
    let abroad = json!({ "SourceArn": format!("{ARN}dead"), "DestinationArn": "arn:aws:sqs:eu-west-1:000000000000:q" });
    s.refused("StartMessageMoveTask", &abroad).await.is("destination", NO_RESOURCE);
    s.done("CancelMessageMoveTask", &json!({ "TaskHandle": handle })).await;
}

/// 7.5: invalid destinations.
/// Not recorded.
#[tokio::test]
async fn destination_must_match_the_source() {
    for protocol in BOTH {
        let (mut s, ..) = start(protocol, 0).await;
        s.fifo("other.fifo", json!({})).await;
        for name in ["dead", "other.fifo"] {
            let input =
                json!({ "SourceArn": format!("{ARN}dead"), "DestinationArn": format!("{ARN}{name}") });
            s.refused("StartMessageMoveTask", &input).await.is(name, PARAMETER);
        }
    }
}

fn handle(id: &str, source: &str) -> String {
    base64_simd::STANDARD.encode_to_string(json!({ "taskId": id, "sourceArn": source }).to_string())
}

/// 7.5: "Handle garbage"; "well-formed but unknown task"; "source that does not exist, or of another account".
#[tokio::test]
async fn handle_must_identify_a_task() {
    for protocol in BOTH {
        let (mut s, ..) = start(protocol, 0).await;
        let not_ours = base64_simd::STANDARD.encode_to_string("{}");
        for bad in ["x", "e30", &not_ours, &handle("00000000-0000-4000-8000-000000000000", "no arn")] {
            let text = "Value for parameter TaskHandle is invalid.";
            s.refused("CancelMessageMoveTask", &json!({ "TaskHandle": bad }))
                .await
                .says(bad, PARAMETER, text);
        }
        let no_task = "Task does not exist.";
        let no_source = "The resource that you specified for the SourceArn parameter doesn't exist.";
        for (source, text) in [
            (format!("{ARN}dead"), no_task),
            (format!("{ARN}source"), no_task),
            (format!("{ARN}none"), no_source),
            ("arn:aws:sqs:us-east-1:123456789012:dead".to_owned(), no_source),
        ] {
            let unknown = handle("00000000-0000-4000-8000-000000000000", &source);
            let input = json!({ "TaskHandle": unknown });
            s.refused("CancelMessageMoveTask", &input).await.says(&source, NO_RESOURCE, text);
        }
    }
}

/// 7.5: "Cancelling a finished task".
/// Not recorded: emulators do this.
#[tokio::test]
async fn finished_task_cannot_be_cancelled() {
    for protocol in BOTH {
        let (mut s, ..) = start(protocol, 0).await;
        let handle = begin(&mut s, json!({})).await;
        newest(&mut s, "COMPLETED").await;
        let text = "Only active tasks can be cancelled.";
        let input = json!({ "TaskHandle": handle });
        s.refused("CancelMessageMoveTask", &input).await.says("finished", PARAMETER, text);
    }
}

/// 7.5: "<= 100 active per account".
/// Not recorded: code and text.
#[tokio::test]
async fn account_has_at_most_100_active_tasks() {
    let mut s = Session::frozen(Protocol::AwsJson).await;
    s.queue("other", json!({})).await;
    for number in 0..=100 {
        let name = format!("dead{number}");
        let dead = s.queue(&name, json!({})).await;
        let policy = json!({ "deadLetterTargetArn": format!("{ARN}{name}"), "maxReceiveCount": 1 });
        s.queue(&format!("source{number}"), json!({ "RedrivePolicy": policy.to_string() })).await;
        for body in ["at once", "a second later"] {
            s.put(&dead, body).await;
        }
        let input = json!({
            "SourceArn": format!("{ARN}{name}"), "DestinationArn": format!("{ARN}other"),
            "MaxNumberOfMessagesPerSecond": 1,
        });
        match s.ask("StartMessageMoveTask", &input).await {
            Ok(_) => assert!(number < 100, "more than 100 tasks were started"),
            Err(refusal) => {
                assert_eq!(number, 100, "{refusal:?}");
                refusal.is("task 101", OVER_LIMIT);
            }
        }
    }
}
