//! Faults, with sockets and in process.

use std::io::ErrorKind;
use std::time::Duration;

use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::operation::Action;
use sqs_client::operation::send_message_batch::SendMessageBatchInput;
use sqs_client::types::SendMessageBatchRequestEntry;
use sqs_client::wire::protocol::{Protocol, ResponseError};
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::{Fault, SnsAction};
use tokio::io::AsyncReadExt as _;

use crate::session::{BOTH, Session};
use crate::wire::{FORM, JSON, Wire};

const SEND: &str = r#"{"QueueUrl":"q","MessageBody":"tea"}"#;

fn entry(id: &str, body: &str) -> SendMessageBatchRequestEntry {
    SendMessageBatchRequestEntry::builder().id(id).message_body(body).build().unwrap()
}

#[tokio::test]
async fn injected_error_has_the_protocol_of_the_request_and_nothing_is_applied() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("q", &[]).await;
        session.server.faults().inject(Fault::throttle().on(Action::SendMessageBatch).queue("q").times(1));
        let batch =
            || SendMessageBatchInput::builder().queue_url(&url).entries(entry("a", "tea")).build().unwrap();
        let refusal = session.wire.call(protocol, batch()).await.unwrap_err();
        let ResponseError::Service { error, .. } = refusal else { panic!("{protocol:?}: {refusal:?}") };
        assert_eq!(error.code, ErrorCode::RequestThrottled, "{protocol:?}");
        assert!(session.server.queue("q").bodies().is_empty());
        session.call(batch()).await;
        assert_eq!(session.server.queue("q").bodies(), ["tea"]);
    }
}

/// From logs of users, 2026.
#[tokio::test]
async fn denied_request_gets_the_error_of_aws() {
    let (server, mut wire) = Wire::with_queue().await;
    server.faults().inject(Fault::error(ErrorCode::AccessDenied));
    let text = "User: arn:aws:iam::000000000000:root is not authorized to perform: sqs:sendmessage on resource: \
        arn:aws:sqs:us-east-1:000000000000:q because no identity-based policy allows the sqs:sendmessage action";
    let answer = wire.json("SendMessage", SEND).await;
    answer.refused_in_json(403, "AccessDeniedException", "AccessDenied");
    let type_name = "com.amazon.coral.service#AccessDeniedException";
    let expected = serde_json::json!({ "__type": type_name, "Message": text });
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&answer.body).unwrap(), expected);
    let answer = wire.form("/", "Action=SendMessage&QueueUrl=q&MessageBody=tea").await;
    answer.refused_in_xml(403, "AccessDenied");
    assert!(answer.text().contains(&format!("<Message>{text}</Message>")), "{}", answer.text());
    server.faults().clear();
    server.faults().inject(Fault::error(ErrorCode::AccessDenied).message("No."));
    assert!(wire.json("SendMessage", SEND).await.text().contains(r#""Message":"No.""#));
}

#[tokio::test]
async fn denial_names_account_and_region_of_the_queue() {
    let server = MockSqs::start().await;
    server.faults().inject(Fault::error(ErrorCode::AccessDenied));
    let credential = "Credential=111122223333/20260102/eu-west-1/sqs/aws4_request";
    let headers = |action: &str| {
        format!("{JSON}x-amz-target: AmazonSQS.{action}\r\nauthorization: AWS4-HMAC-SHA256 {credential}\r\n")
    };
    for (action, body, resource) in [
        (
            "SendMessage",
            r#"{"QueueUrl":"http://x/444455556666/q","MessageBody":"tea"}"#,
            "arn:aws:sqs:eu-west-1:444455556666:q",
        ),
        ("SendMessage", r#"{"QueueUrl":"q","MessageBody":"tea"}"#, "arn:aws:sqs:eu-west-1:111122223333:q"),
        (
            "GetQueueUrl",
            r#"{"QueueName":"q","QueueOwnerAWSAccountId":"444455556666"}"#,
            "arn:aws:sqs:eu-west-1:444455556666:q",
        ),
        (
            "StartMessageMoveTask",
            r#"{"SourceArn":"arn:aws:sqs:us-west-2:444455556666:q"}"#,
            "arn:aws:sqs:us-west-2:444455556666:q",
        ),
        ("ListQueues", "{}", "arn:aws:sqs:eu-west-1:111122223333:"),
    ] {
        let mut wire = Wire::connect(&server).await;
        let answer = wire.exchange("POST /", &headers(action), body.as_bytes()).await;
        let action = action.to_lowercase();
        let expected = format!(
            "User: arn:aws:iam::111122223333:root is not authorized to perform: sqs:{action} on resource: {resource} because"
        );
        assert!(answer.text().contains(&expected), "{}", answer.text());
    }
}

#[tokio::test]
async fn entries_fail_while_the_rest_of_the_batch_is_stored() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("q", &[]).await;
        let fault =
            Fault::fail_entries(ErrorCode::InternalFailure).body_contains("coffee").message("No beans.");
        session.server.faults().inject(fault);
        let batch = SendMessageBatchInput::builder().queue_url(&url);
        let batch =
            batch.entries(entry("a", "tea")).entries(entry("b", "coffee")).entries(entry("c", "milk"));
        let output = session.call(batch.build().unwrap()).await;
        let sent: Vec<_> = output.successful.iter().map(|entry| entry.id.as_str()).collect();
        assert_eq!(sent, ["a", "c"]);
        let failed = &output.failed[0];
        assert_eq!((failed.id(), failed.sender_fault, failed.message()), ("b", false, Some("No beans.")));
        assert_eq!(failed.code(), ErrorCode::InternalFailure.query_code());
        assert_eq!(session.server.queue("q").bodies(), ["tea", "milk"]);
    }
}

#[tokio::test]
async fn entries_of_delete_and_visibility_batches_fail_one_by_one() {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    for body in ["1", "2"] {
        client.send_message().queue_url(&url).message_body(body).send().await.unwrap();
    }
    let received = client.receive_message().queue_url(&url).max_number_of_messages(10).send().await.unwrap();
    let handles: Vec<_> =
        received.messages().iter().map(|message| message.receipt_handle().unwrap()).collect();
    server.faults().inject(Fault::fail_entries(ErrorCode::InternalFailure).entry(1));
    let (mut change, mut delete) = (
        client.change_message_visibility_batch().queue_url(&url),
        client.delete_message_batch().queue_url(&url),
    );
    for (id, handle) in ["a", "b"].into_iter().zip(&handles) {
        let entry = sqs_client::types::ChangeMessageVisibilityBatchRequestEntry::builder();
        change = change.entries(entry.id(id).receipt_handle(*handle).visibility_timeout(99).build().unwrap());
        let entry = sqs_client::types::DeleteMessageBatchRequestEntry::builder();
        delete = delete.entries(entry.id(id).receipt_handle(*handle).build().unwrap());
    }
    let changed = change.send().await.unwrap();
    assert_eq!((changed.successful()[0].id(), changed.failed()[0].id()), ("a", "b"));
    let deleted = delete.send().await.unwrap();
    assert_eq!((deleted.successful()[0].id(), deleted.failed()[0].id()), ("a", "b"));
    assert_eq!(server.queue("q").bodies(), ["2"]);
}

#[tokio::test]
async fn omitted_entries_are_applied_but_not_in_the_response() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("q", &[]).await;
        session.server.faults().inject(Fault::omit_entries().entry(0));
        let batch = SendMessageBatchInput::builder().queue_url(&url);
        let batch = batch.entries(entry("a", "tea")).entries(entry("b", "milk"));
        let output = session.call(batch.build().unwrap()).await;
        assert_eq!((output.successful.len(), output.failed.len()), (1, 0));
        assert_eq!(session.server.queue("q").bodies(), ["tea", "milk"]);
    }
}

#[tokio::test]
async fn reset_before_does_not_apply_the_request_and_reset_after_does() {
    for (fault, stored) in [(Fault::reset_before(), 0), (Fault::reset_after(), 1)] {
        let (server, mut wire) = Wire::with_queue().await;
        server.faults().inject(fault.on(Action::SendMessage).times(1));
        let headers = format!("{JSON}x-amz-target: AmazonSQS.SendMessage\r\n");
        wire.request("POST /", &headers, SEND.as_bytes()).await.unwrap();
        let error = wire.stream().read_u8().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(server.queue("q").bodies().len(), stored);
        let mut wire = Wire::connect(&server).await;
        assert_eq!(wire.json("SendMessage", SEND).await.status, 200);
    }
}

#[tokio::test]
async fn truncated_response_is_shorter_than_announced() {
    for protocol in BOTH {
        let (server, mut wire) = Wire::with_queue().await;
        server.faults().inject(Fault::truncate().on(Action::SendMessage));
        let (headers, body) = match protocol {
            Protocol::AwsJson => (format!("{JSON}x-amz-target: AmazonSQS.SendMessage\r\n"), SEND),
            Protocol::Query => (FORM.to_owned(), "Action=SendMessage&QueueUrl=q&MessageBody=tea"),
        };
        wire.request("POST /", &headers, body.as_bytes()).await.unwrap();
        let mut text = String::new();
        wire.stream().read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("the head arrives");
        let announced = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let announced: usize = announced.parse().unwrap();
        assert_eq!(body.len(), announced / 2, "{text}");
        assert_eq!(server.queue("q").bodies(), ["tea"]);
    }
}

/// Each fault affects the first attempt.
fn breaks() -> [Fault; 6] {
    [
        Fault::reset_before(),
        Fault::reset_after(),
        Fault::truncate(),
        Fault::throttle(),
        Fault::status(503, "<html>busy</html>"),
        Fault::error(ErrorCode::InternalFailure),
    ]
}

#[tokio::test(start_paused = true)]
async fn sqs_client_retries_after_each_fault() {
    for fault in breaks() {
        let server = MockSqs::in_process();
        let client = server.client();
        let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        let injected = server.faults().inject(fault.clone().on(Action::SendMessage).times(1));
        let sent = client.send_message().queue_url(&url).message_body("tea").send().await;
        assert!(sent.is_ok() && injected.is_spent(), "{fault:?}: {sent:?}");
    }
}

#[tokio::test]
async fn aws_sdk_retries_after_each_fault() {
    for fault in breaks() {
        let server = MockSqs::start().await;
        let client = crate::sdk::impatient_client(server.endpoint_url());
        let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        let injected = server.faults().inject(fault.clone().on(Action::SendMessage).times(1));
        let sent = client.send_message().queue_url(&url).message_body("tea").send().await;
        assert!(sent.is_ok() && injected.is_spent(), "{fault:?}: {sent:?}");
    }
}

#[tokio::test]
async fn sqs_client_detects_wrong_checksums() {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    server.faults().inject(Fault::corrupt());
    let error = client.send_message().queue_url(&url).message_body("tea").send().await.unwrap_err();
    assert!(!error.checksum_mismatches().is_empty(), "{error:?}");
    let error = client.receive_message().queue_url(&url).send().await.unwrap_err();
    assert!(!error.checksum_mismatches().is_empty(), "{error:?}");
    let error = client.list_queues().send().await.unwrap_err();
    assert!(
        error.checksum_mismatches().is_empty(),
        "a response without checksums cannot be decoded: {error:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn latency_is_real_time_and_precedes_the_operation() {
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(Duration::from_secs(3600));
    let client =
        sqs_client::Client::from_conf(server.client_config().timeout_config(timeouts.build()).build());
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    server.faults().inject(Fault::latency(Duration::from_secs(600)).on(Action::SendMessage));
    let start = tokio::time::Instant::now();
    let sending = tokio::spawn(client.send_message().queue_url(&url).message_body("tea").send());
    tokio::time::sleep(Duration::from_secs(599)).await;
    assert!(server.queue("q").bodies().is_empty());
    sending.await.unwrap().unwrap();
    assert_eq!((start.elapsed(), server.queue("q").bodies().len()), (Duration::from_secs(600), 1));
}

#[tokio::test]
async fn redelivered_messages_are_received_again_even_after_a_delete() {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let injected = server.faults().inject(Fault::redeliver().times(1));
    let receive = || client.receive_message().queue_url(&url).send();
    assert!(receive().await.unwrap().messages().is_empty());
    assert_eq!(injected.hits(), 0, "nothing was received");
    client.send_message().queue_url(&url).message_body("tea").send().await.unwrap();
    for hits in [1, 1] {
        let received = receive().await.unwrap();
        let handle = received.messages()[0].receipt_handle().unwrap();
        client.delete_message().queue_url(&url).receipt_handle(handle).send().await.unwrap();
        assert_eq!(injected.hits(), hits);
    }
    assert!(receive().await.unwrap().messages().is_empty());
    assert!(server.queue("q").bodies().is_empty());
}

#[tokio::test]
async fn redelivery_waits_for_the_next_receive_if_a_client_aborts_its_long_poll() {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("orders").send().await.unwrap().queue_url.unwrap();
    let injected = server.faults().inject(Fault::redeliver().times(1));
    let receive = || client.receive_message().queue_url(&url);
    let aborted =
        tokio::time::timeout(Duration::from_millis(20), receive().wait_time_seconds(20).send()).await;
    assert!(aborted.is_err());
    assert_eq!(injected.hits(), 0);
    client.send_message().queue_url(&url).message_body("tea").send().await.unwrap();
    for _ in 0..2 {
        assert_eq!(receive().send().await.unwrap().messages().len(), 1);
    }
    assert_eq!(injected.hits(), 1);
}

#[tokio::test]
async fn redelivery_affects_neither_fifo_queues_nor_dead_letters() {
    let toml = "[[queues]]\nname = 'dead'\n[[queues]]\nname = 'q'\ndead_letter_queue = 'dead'\nmax_receive_count = 1\n\
                [[queues]]\nname = 'q.fifo'\ncontent_based_deduplication = true";
    let server = sqs_mock_server::MockSqsBuilder::from_toml(toml)
        .unwrap()
        .fault(Fault::redeliver())
        .in_process()
        .unwrap();
    let client = server.client();
    for name in ["q", "q.fifo"] {
        let url = server.queue_url(name);
        let group = name.ends_with(".fifo").then(|| "g".to_owned());
        let send = client.send_message().queue_url(&url).message_body("tea").set_message_group_id(group);
        send.send().await.unwrap();
        let received = client.receive_message().queue_url(&url).send().await.unwrap();
        let handle = received.messages()[0].receipt_handle().unwrap();
        assert!(client.receive_message().queue_url(&url).send().await.unwrap().messages().is_empty());
        client.delete_message().queue_url(&url).receipt_handle(handle).send().await.unwrap();
        assert!(server.queue(name).bodies().is_empty() && server.queue("dead").bodies().is_empty());
    }
}

#[tokio::test]
async fn faults_are_injected_listed_and_removed_over_http() {
    let (server, mut wire) = Wire::with_queue().await;
    let fault = br#"{"effect":"throttle","actions":["SendMessage"],"queue":"q","times":1}"#;
    let injected = wire.exchange("POST /_mock/faults", "", fault).await.content(200);
    assert_eq!((&injected["id"], &injected["hits"]), (&1.into(), &0.into()));
    assert_eq!(wire.json("SendMessage", SEND).await.status, 403);
    assert_eq!(wire.json("SendMessage", SEND).await.status, 200);
    server.faults().inject(Fault::redeliver());
    let listed = wire.get("/_mock/faults").await.content(200);
    assert_eq!((&listed[0]["hits"], &listed[0]["spent"]), (&1.into(), &true.into()));
    assert_eq!(listed[1]["fault"]["effect"], "redeliver");
    assert_eq!(wire.exchange("DELETE /_mock/faults/1", "", b"").await.content(200)["removed"], 1);
    assert!(wire.exchange("DELETE /_mock/faults/1", "", b"").await.error(404).contains("no fault 1"));
    assert_eq!(wire.exchange("DELETE /_mock/faults", "", b"").await.content(200)["removed"], 1);
    assert!(server.faults().list().is_empty());
}

#[tokio::test]
async fn invalid_fault_is_rejected_over_http() {
    let (server, mut wire) = Wire::with_queue().await;
    for (body, reason) in [
        ("{}", "missing field `effect`"),
        ("[]", "it must be a JSON object"),
        (r#"{"effect":"error"}"#, "missing field `code`"),
    ] {
        let error = wire.exchange("POST /_mock/faults", "", body.as_bytes()).await.error(400);
        assert!(error.contains(reason), "{body}: {error}");
    }
    for _ in 0..1000 {
        server.faults().inject(Fault::latency(Duration::ZERO));
    }
    let error = wire.exchange("POST /_mock/faults", "", br#"{"effect":"corrupt"}"#).await.error(400);
    assert!(error.contains("1000"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn delayed_request_does_not_affect_queues_created_after_a_reset() {
    let server = MockSqs::builder().clock_frozen().in_process().unwrap();
    let client = server.client();
    let create = || client.create_queue().queue_name("q").send();
    let url = create().await.unwrap().queue_url.unwrap();
    server.faults().inject(Fault::latency(Duration::from_secs(1)).on(Action::SendMessage));
    let ghost = tokio::spawn(client.send_message().queue_url(&url).message_body("ghost").send());
    let poll = tokio::spawn(client.receive_message().queue_url(&url).wait_time_seconds(20).send());
    tokio::time::sleep(Duration::from_millis(500)).await;
    server.reset();
    create().await.unwrap();
    let (ghost, poll) = (ghost.await.unwrap(), poll.await.unwrap());
    assert!(server.queue("q").bodies().is_empty());
    assert!(ghost.is_err() && poll.is_err());
    server.requests().of(Action::ReceiveMessage).expect(0);
}

#[tokio::test]
async fn reset_restores_initial_queues_and_faults() {
    let fault = Fault::throttle().on(Action::ListQueues).times(1);
    let builder =
        sqs_mock_server::MockSqsBuilder::from_toml("[[queues]]\nname = 'orders'").unwrap().fault(fault);
    let server = builder.in_process().unwrap();
    for _ in 0..2 {
        assert!(server.queue("orders").exists() && !server.faults().list()[0].is_spent());
        server.client().list_queues().send().await.unwrap();
        assert!(server.faults().list()[0].is_spent());
        server.faults().inject(Fault::corrupt());
        server.client().create_queue().queue_name("more").send().await.unwrap_err();
        server.reset();
        assert!(!server.queue("more").exists());
    }
    assert_eq!(server.faults().list().len(), 1);
}

#[tokio::test]
async fn spent_faults_are_replaced_and_urls_identify_queues() {
    let (server, mut wire) = Wire::with_queue().await;
    for _ in 0..1000 {
        server.faults().inject(Fault::latency(Duration::ZERO).times(0));
    }
    let body = format!(r#"{{"effect":"throttle","queue":"{}"}}"#, server.queue_url("q"));
    wire.exchange("POST /_mock/faults", "", body.as_bytes()).await.content(200);
    assert_eq!(server.faults().list().len(), 1);
    assert_eq!(wire.json("SendMessage", SEND).await.status, 403);
    let arn = r#"{"SourceArn":"arn:aws:sqs:us-east-1:000000000000:q"}"#;
    assert_eq!(wire.json("StartMessageMoveTask", arn).await.status, 403, "move tasks address queues");
}

#[tokio::test]
async fn faults_that_apply_are_recorded_with_the_request() {
    let (server, mut wire) = Wire::with_queue().await;
    server.faults().inject(Fault::throttle().on(Action::SendMessage).times(1));
    server.faults().inject(Fault::redeliver().on(Action::ReceiveMessage));
    let batch = Fault::fail_entries(ErrorCode::InternalFailure).on(Action::SendMessageBatch);
    server.faults().inject(batch);
    for _ in 0..2 {
        wire.json("ReceiveMessage", r#"{"QueueUrl":"q"}"#).await;
        wire.json("SendMessage", SEND).await;
    }
    wire.json("ReceiveMessage", r#"{"QueueUrl":"q"}"#).await;
    let entries = r#"{"QueueUrl":"q","Entries":[{"Id":"a","MessageBody":"x"},{"Id":"b","MessageBody":"y"}]}"#;
    wire.json("SendMessageBatch", entries).await;
    let requests = server.requests();
    let warnings: Vec<_> = requests.all().iter().skip(1).map(|request| request.warnings().concat()).collect();
    assert_eq!(warnings, ["", "fault 1: throttle", "", "", "fault 2: redeliver", "fault 3: fail_entries"]);
}

#[tokio::test]
async fn faults_do_not_affect_the_calls_of_the_console() {
    let (server, mut wire) = Wire::with_queue().await;
    let throttle = server.faults().inject(Fault::throttle().times(1));
    let headers = format!("{JSON}x-amz-target: AmazonSQS.ListQueues\r\n");
    assert_eq!(wire.exchange("POST /_mock/aws", &headers, b"{}").await.status, 200);
    let topics = server.faults().inject(Fault::throttle().on_sns(SnsAction::ListTopics).times(1));
    let list = b"Action=ListTopics&Version=2010-03-31";
    let sns = wire.exchange("POST /_mock/aws", FORM, list).await;
    assert_eq!((sns.status, throttle.hits(), topics.hits()), (200, 0, 0), "{}", sns.text());
    wire.exchange("POST /", FORM, list).await;
    let refused = server.sns_requests().pop().unwrap();
    assert_eq!((topics.hits(), refused.notes), (1, vec!["fault 2: throttle".to_owned()]));
    assert_ne!(wire.json("ListQueues", "{}").await.status, 200);
}

#[tokio::test]
async fn queue_of_another_region_or_a_similar_name_is_named_in_the_record_of_the_request() {
    let (server, mut wire) = Wire::with_queue().await;
    let credential = "authorization: AWS4-HMAC-SHA256 Credential=test/20261123/eu-west-1/sqs/aws4_request, SignedHeaders=host, \
                      Signature=0\r\n";
    let answer = wire.exchange("GET /000000000000/q?Action=ReceiveMessage", credential, b"").await;
    assert_eq!(answer.status, 400);
    let note = "there is no queue q in region eu-west-1 and account 000000000000; there is \
                arn:aws:sqs:us-east-1:000000000000:q";
    assert_eq!(server.requests().all().last().unwrap().warnings(), [note]);

    let client = server.client();
    client.create_queue().queue_name("orders").send().await.unwrap();
    client.get_queue_url().queue_name("ordres.fifo").send().await.unwrap_err();
    let note = "there is no queue ordres.fifo in region us-east-1 and account 000000000000; there is \
                arn:aws:sqs:us-east-1:000000000000:orders";
    assert_eq!(server.requests().all().last().unwrap().warnings(), [note]);
    client.get_queue_url().queue_name("bills").send().await.unwrap_err();
    assert!(server.requests().all().last().unwrap().warnings().is_empty());
}
