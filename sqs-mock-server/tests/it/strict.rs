//! Strict mode: requests that work here but are mistakes on AWS.

use std::time::Duration;

use serde_json::{Value, json};
use sqs_client::operation::Action;
use sqs_client::operation::delete_message::DeleteMessageInput;
use sqs_client::operation::delete_message_batch::DeleteMessageBatchInput;
use sqs_client::operation::send_message::SendMessageInput;
use sqs_client::operation::send_message::builders::SendMessageInputBuilder;
use sqs_client::operation::send_message_batch::SendMessageBatchInput;
use sqs_client::types::QueueAttributeName::{ContentBasedDeduplication, FifoQueue, RedrivePolicy};
use sqs_client::types::{DeleteMessageBatchRequestEntry, SendMessageBatchRequestEntry};
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::inspect::{FindingKind, Leftovers};
use sqs_mock_server::{MockSqs, Verification};

use crate::session::{BOTH, Session};
use crate::wire::{FORM, JSON};

async fn strict(protocol: Protocol) -> Session {
    Session::with(MockSqs::builder().strict().clock_frozen(), protocol).await
}

impl Session {
    fn pass_seconds(&self, seconds: u64) {
        self.server.clock().advance(Duration::from_secs(seconds));
    }

    /// The findings with their kinds.
    fn findings(&self) -> Vec<(FindingKind, String)> {
        self.server.findings().iter().map(|finding| (finding.kind, finding.text.clone())).collect()
    }

    /// The warnings of the latest request.
    fn warnings(&self) -> Vec<String> {
        self.server.requests().all().last().expect("a request").warnings().to_vec()
    }

    async fn fifo_queue(&mut self, by_content: &str) -> String {
        self.create("jobs.fifo", &[(FifoQueue, "true"), (ContentBasedDeduplication, by_content)]).await
    }

    fn message_id(&self, name: &str) -> String {
        self.server.queue(name).messages()[0].id.to_string()
    }

    async fn delete_with(&mut self, url: &str, handle: &str) {
        let delete = DeleteMessageInput::builder().queue_url(url).receipt_handle(handle);
        self.call(delete.build().unwrap()).await;
    }
}

fn job(url: &str, body: &str) -> SendMessageInputBuilder {
    SendMessageInput::builder().queue_url(url).message_body(body).message_group_id("g")
}

#[tokio::test]
async fn queue_url_of_another_region_is_rejected_and_reported() {
    for protocol in BOTH {
        let mut session = strict(protocol).await;
        let url = session.create("orders", &[]).await;
        session.send(&url, "the URL that the server gave works").await;
        assert_eq!(session.findings(), []);
        let foreign = "http://sqs.eu-west-1.localhost:9324/000000000000/orders";
        let send = SendMessageInput::builder().queue_url(foreign).message_body("x").build().unwrap();
        let error = session.wire.call(protocol, send).await.unwrap_err();
        assert!(format!("{error:?}").contains("QueueDoesNotExist"), "{error:?}");
        let text =
            format!("queue URL {foreign:?} names region eu-west-1, but the request is signed for us-east-1");
        assert_eq!(session.findings(), [(FindingKind::ForeignQueueUrl, text.clone())]);
        assert_eq!(session.warnings(), [format!("foreign_queue_url: {text}")]);
    }
}

#[tokio::test]
async fn request_to_the_host_of_another_region_is_rejected() {
    let mut session = strict(Protocol::Query).await;
    session.create("orders", &[]).await;
    let body = "Action=PurgeQueue";
    let signed = |region: &str| {
        let credential = format!("AKID/20260102/{region}/sqs/aws4_request");
        format!(
            "POST /000000000000/orders HTTP/1.1\r\nhost: sqs.us-east-1.localhost\r\n{FORM}authorization: \
             AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, Signature=0\r\ncontent-length: {}\r\n\r\n\
             {body}",
            body.len()
        )
    };
    session.wire.write(signed("eu-west-1")).await.unwrap();
    let answer = session.wire.answer().await.unwrap();
    answer.refused_in_xml(400, "AWS.SimpleQueueService.NonExistentQueue");
    let text = "queue URL \"http://sqs.us-east-1.localhost/000000000000/orders\" names region us-east-1, but the request \
                is signed for eu-west-1";
    assert_eq!(session.findings(), [(FindingKind::ForeignQueueUrl, text.to_owned())]);
    session.wire.write(signed("us-east-1")).await.unwrap();
    assert_eq!(session.wire.answer().await.unwrap().status, 200);
}

#[tokio::test]
async fn queue_url_without_an_account_is_rejected_but_a_queue_name_is_not() {
    let mut session = strict(Protocol::AwsJson).await;
    session.create("orders", &[]).await;
    session.send("orders", "AWS finds a queue by its name").await;
    let url = "http://localhost:9324/queue/orders";
    let send = SendMessageInput::builder().queue_url(url).message_body("x").build().unwrap();
    assert!(session.wire.call(Protocol::AwsJson, send).await.is_err());
    let text = format!("queue URL {url:?} has no account; it must end with 12 digits and the queue name");
    assert_eq!(session.findings(), [(FindingKind::ForeignQueueUrl, text)]);
}

#[tokio::test]
async fn delete_with_an_old_handle_is_accepted_and_reported() {
    for protocol in BOTH {
        let mut session = strict(protocol).await;
        let url = session.create("orders", &[]).await;
        session.send(&url, "tea").await;
        let id = session.message_id("orders");
        let old = session.receive(&url).await.remove(0).1;
        session.pass_seconds(30);
        session.receive(&url).await;
        session.delete_with(&url, &old).await;
        assert_eq!(session.server.queue("orders").bodies(), [""; 0]);
        let text = format!(
            "message {id} was deleted with the receipt handle of receive 1 of 2; SQS may ignore such a delete"
        );
        assert!(session.findings().contains(&(FindingKind::OldReceiptHandle, text.clone())));
        assert_eq!(session.warnings(), [format!("old_receipt_handle: {text}")]);
    }
}

#[tokio::test]
async fn delete_batch_reports_each_old_handle() {
    for protocol in BOTH {
        let mut session = strict(protocol).await;
        let url = session.create("orders", &[]).await;
        for body in ["tea", "milk"] {
            session.send(&url, body).await;
        }
        let old = session.receive(&url).await;
        session.pass_seconds(30);
        session.receive(&url).await;
        let entries = old.iter().enumerate().map(|(number, (_, handle))| {
            let entry = DeleteMessageBatchRequestEntry::builder().id(number.to_string());
            entry.receipt_handle(handle).build().unwrap()
        });
        let batch = DeleteMessageBatchInput::builder().queue_url(&url).set_entries(Some(entries.collect()));
        assert_eq!(session.call(batch.build().unwrap()).await.successful().len(), 2);
        assert_eq!(session.warnings().len(), 2, "{:?}", session.warnings());
    }
}

#[tokio::test]
async fn send_without_a_deduplication_id_is_reported() {
    for protocol in BOTH {
        let mut session = strict(protocol).await;
        let url = session.fifo_queue("false").await;
        let send = job(&url, "x").build().unwrap();
        assert!(session.wire.call(protocol, send).await.is_err());
        let entry = |id: &str| SendMessageBatchRequestEntry::builder().id(id).message_body("x");
        let entries = [
            entry("a").message_group_id("g"),
            entry("b").message_group_id("g").message_deduplication_id("b"),
        ];
        let entries = entries.map(|entry| entry.build().unwrap());
        let batch = SendMessageBatchInput::builder().queue_url(&url).set_entries(Some(entries.to_vec()));
        assert!(session.wire.call(protocol, batch.build().unwrap()).await.is_err());
        let text = "a message was rejected: it has no MessageDeduplicationId, and the queue has no \
                    ContentBasedDeduplication";
        let finding = (FindingKind::NoDeduplicationId, text.to_owned());
        assert_eq!(session.findings(), [finding.clone(), finding]);
        assert_eq!(session.warnings(), [format!("no_deduplication_id: {text}")]);
    }
}

#[tokio::test]
async fn duplicate_by_content_is_reported_with_the_age_of_the_original() {
    for protocol in BOTH {
        let mut session = strict(protocol).await;
        let url = session.fifo_queue("true").await;
        session.call(job(&url, "tea").build().unwrap()).await;
        let id = session.message_id("jobs.fifo");
        session.pass_seconds(12);
        session.call(job(&url, "tea").build().unwrap()).await;
        let text = format!(
            "the message was not stored: message {id} with this deduplication id, the hash of the body, was sent 12 s ago"
        );
        assert_eq!(session.findings(), [(FindingKind::DroppedDuplicate, text.clone())]);
        assert_eq!(session.warnings(), [format!("dropped_duplicate: {text}")]);
    }
}

#[tokio::test]
async fn duplicates_by_an_explicit_id_are_not_reported() {
    let mut session = strict(Protocol::AwsJson).await;
    let url = session.fifo_queue("true").await;
    for _ in 0..2 {
        session.call(job(&url, "tea").message_deduplication_id("1").build().unwrap()).await;
    }
    assert_eq!(session.server.queue("jobs.fifo").bodies(), ["tea"]);
    assert_eq!(session.findings(), []);
}

#[tokio::test]
async fn retries_of_an_sdk_are_not_reported() {
    let mut session = strict(Protocol::AwsJson).await;
    let url = session.fifo_queue("true").await;
    let body = json!({ "QueueUrl": url, "MessageBody": "tea", "MessageGroupId": "g" }).to_string();
    for (attempt, findings) in [("1", 0), ("2", 0), ("1", 1)] {
        let headers = format!(
            "{JSON}x-amz-target: AmazonSQS.SendMessage\r\namz-sdk-request: attempt={attempt}; max=3\r\n"
        );
        assert_eq!(session.wire.exchange("POST /", &headers, body.as_bytes()).await.status, 200);
        assert_eq!(session.findings().len(), findings, "attempt {attempt}");
    }
}

#[tokio::test]
async fn message_that_is_not_deleted_in_time_is_reported_once_with_its_count() {
    for protocol in BOTH {
        let mut session = strict(protocol).await;
        let url = session.create("orders", &[]).await;
        session.send(&url, "tea").await;
        let id = session.message_id("orders");
        let text = |times| {
            format!("message {id} was received {times} and not deleted before its visibility timeout ended")
        };
        session.receive(&url).await;
        assert_eq!(session.findings(), []);
        session.pass_seconds(30);
        session.receive(&url).await;
        assert_eq!(session.warnings(), [format!("not_deleted: {}", text("once"))]);
        session.pass_seconds(30);
        assert_eq!(session.findings(), [(FindingKind::NotDeleted, text("2 times"))]);
    }
}

#[tokio::test]
async fn without_strict_mode_nothing_is_reported() {
    let mut session = Session::with(MockSqs::builder().clock_frozen(), Protocol::AwsJson).await;
    let url = session.create("orders", &[]).await;
    session.send("http://sqs.eu-west-1.localhost:9324/000000000000/orders", "tea").await;
    let old = session.receive(&url).await.remove(0).1;
    session.pass_seconds(30);
    session.receive(&url).await;
    session.delete_with(&url, &old).await;
    assert_eq!((session.findings(), session.warnings()), (vec![], vec![]));
    session.server.verify().unwrap();
}

/// A server with findings of two kinds about one message, which is deleted.
async fn findings(rules: Option<Verification>) -> Result<(), Leftovers> {
    let mut builder = MockSqs::builder().strict().clock_frozen();
    if let Some(rules) = rules {
        builder = builder.verify_on_drop(rules);
    }
    let mut session = Session::with(builder, Protocol::AwsJson).await;
    let url = session.create("orders", &[]).await;
    session.send(&url, "tea").await;
    let old = session.receive(&url).await.remove(0).1;
    session.pass_seconds(30);
    session.receive(&url).await;
    session.delete_with(&url, &old).await;
    let verified = session.server.verify();
    // Without this, the drop would panic.
    std::mem::forget(session);
    verified
}

#[tokio::test]
async fn verification_lists_findings() {
    let found = findings(None).await.unwrap_err();
    let kinds: Vec<_> = found.findings().iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::NotDeleted, FindingKind::OldReceiptHandle]);
    assert!(found.all().is_empty());
    let text = found.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "mistakes that fail on AWS"), "{text}");
    let start = "arn:aws:sqs:us-east-1:000000000000:orders: not_deleted: message ";
    assert!(lines[1].starts_with(start), "{text}");
}

#[tokio::test]
async fn verification_allows_kinds_of_findings_and_queues() {
    let rules = Verification::default().allow_finding(FindingKind::NotDeleted);
    let found = findings(Some(rules.clone())).await.unwrap_err();
    let kinds: Vec<_> = found.findings().iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::OldReceiptHandle]);
    findings(Some(rules.allow_finding(FindingKind::OldReceiptHandle))).await.unwrap();
    findings(Some(Verification::default().ignore_queue("orders"))).await.unwrap();
}

#[tokio::test]
async fn verification_fails_if_findings_were_not_kept() {
    let rules = Verification::default;
    // Those that were not kept may be about another queue, but not of another kind.
    for (rules, is_ok) in [
        (rules().ignore_queue("jobs.fifo"), false),
        (rules().allow_finding(FindingKind::NoDeduplicationId), true),
    ] {
        let server = MockSqs::builder().strict().verify_on_drop(rules).in_process().unwrap();
        let client = server.client();
        let fifo = client.create_queue().queue_name("jobs.fifo").attributes(FifoQueue, "true");
        let url = fifo.send().await.unwrap().queue_url.unwrap();
        for sends in [1_000, 1] {
            assert!(server.verify().is_ok());
            for _ in 0..sends {
                let send = client.send_message().queue_url(&url).message_group_id("g").message_body("x");
                assert!(send.send().await.is_err());
            }
        }
        assert_eq!(server.verify().is_ok(), is_ok);
        // Otherwise, the drop would panic.
        server.reset();
    }
}

#[tokio::test]
async fn reset_removes_findings() {
    let mut session = strict(Protocol::AwsJson).await;
    let url = session.fifo_queue("false").await;
    let send = job(&url, "x").build().unwrap();
    assert!(session.wire.call(Protocol::AwsJson, send).await.is_err());
    assert_eq!(session.findings().len(), 1);
    session.server.reset();
    assert_eq!(session.findings(), []);
}

#[tokio::test]
async fn findings_are_listed_and_removed_over_http() {
    let mut session = strict(Protocol::AwsJson).await;
    let url = session.create("orders", &[]).await;
    session.send(&url, "tea").await;
    let id = session.message_id("orders");
    session.receive(&url).await;
    session.pass_seconds(30);
    let finding = json!({
        "kind": "not_deleted",
        "queue": "arn:aws:sqs:us-east-1:000000000000:orders",
        "time": session.server.clock().now().to_string(),
        "text": format!("message {id} was received once and not deleted before its visibility timeout ended"),
    });
    let wire = &mut session.wire;
    let expected = json!({ "findings": [finding], "omitted": 0 });
    assert_eq!(wire.get("/_mock/findings").await.content(200), expected);
    let forgotten = wire.exchange("DELETE /_mock/findings", "", b"").await.content(200);
    assert_eq!(forgotten, json!({ "forgotten": 1 }));
    assert_eq!(wire.get("/_mock/findings").await.content(200)["findings"], json!([]));
    session.receive(&url).await;
    session.pass_seconds(30);
    let wire = &mut session.wire;
    let forgotten = wire.exchange("DELETE /_mock/findings", "", b"").await.content(200);
    assert_eq!(forgotten, json!({ "forgotten": 1 }), "a message that was not deleted in the meantime");
}

#[tokio::test]
async fn requests_over_http_have_warnings() {
    let mut session = strict(Protocol::AwsJson).await;
    session.create("orders", &[]).await;
    let foreign = "http://localhost/queue/orders";
    let send = SendMessageInput::builder().queue_url(foreign).message_body("x").build().unwrap();
    assert!(session.wire.call(Protocol::AwsJson, send).await.is_err());
    let shown = session.wire.get("/_mock/requests").await.content(200);
    let warnings = |at: usize| -> &Value { &shown["requests"][at]["warnings"] };
    let text = "foreign_queue_url: queue URL \"http://localhost/queue/orders\" has no account; it must end with 12 \
                digits and the queue name";
    assert_eq!((warnings(0), warnings(1)), (&json!([]), &json!([text])));
}

#[tokio::test]
async fn aborted_request_has_its_warnings() {
    let server = MockSqs::builder().strict().clock_frozen().in_process().unwrap();
    let client = server.client();
    client.create_queue().queue_name("dead").send().await.unwrap();
    let policy =
        json!({ "deadLetterTargetArn": server.queue("dead").arn().to_string(), "maxReceiveCount": 1 });
    let create = client.create_queue().queue_name("orders").attributes(RedrivePolicy, policy.to_string());
    let url = create.send().await.unwrap().queue_url.unwrap();
    client.send_message().queue_url(&url).message_body("tea").send().await.unwrap();
    client.receive_message().queue_url(&url).send().await.unwrap();
    server.clock().advance(Duration::from_secs(30));
    let poll = tokio::spawn(client.receive_message().queue_url(&url).wait_time_seconds(20).send());
    server.queue("dead").expect_messages(1).await.unwrap();
    poll.abort();
    assert!(poll.await.unwrap_err().is_cancelled());
    let receives = server.requests().of(Action::ReceiveMessage);
    let warnings = receives.all().last().unwrap().warnings();
    assert!(matches!(warnings, [warning] if warning.starts_with("not_deleted: ")), "{warnings:?}");
}

#[tokio::test]
async fn config_file_enables_strict_mode() {
    for (text, is_rejected) in [("strict = true", true), ("strict = false", false)] {
        let server = sqs_mock_server::MockSqsBuilder::from_toml(text).unwrap().in_process().unwrap();
        let client = server.client();
        client.create_queue().queue_name("orders").send().await.unwrap();
        let url = "http://localhost/queue/orders";
        let purged = client.purge_queue().queue_url(url).send().await;
        assert_eq!((purged.is_err(), server.findings().len()), (is_rejected, usize::from(is_rejected)));
    }
}
