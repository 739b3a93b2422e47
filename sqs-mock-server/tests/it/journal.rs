//! Recorded requests.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;
use sqs_client::operation::Action;
use sqs_client::operation::create_queue::CreateQueueInput;
use sqs_client::operation::send_message::SendMessageInput;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use sqs_mock_server::inspect::Ending;
use sqs_mock_server::{MockSqs, Requests};

use crate::session::{BOTH, Session};
use crate::wire::{FORM, Wire};

fn failure(check: impl FnOnce() -> Requests) -> String {
    let panic = catch_unwind(AssertUnwindSafe(check)).unwrap_err();
    panic.downcast_ref::<String>().expect("a text").clone()
}

#[tokio::test]
async fn requests_of_both_protocols_are_recorded_with_their_input() {
    for protocol in BOTH {
        let mut session = Session::start(protocol).await;
        let url = session.create("orders", &[]).await;
        session.create("letters", &[]).await;
        session.send(&url, "tea & milk").await;
        let sends = session.server.requests().of(Action::SendMessage).on("orders").expect(1);
        let sent = &sends.all()[0];
        let input: SendMessageInput = sent.input().unwrap();
        assert_eq!(input.message_body(), Some("tea & milk"));
        assert_eq!((sent.protocol(), sent.status(), sent.error_code()), (protocol, Some(200), None));
        assert_eq!((sent.account(), sent.region()), (Some("000000000000"), Some("us-east-1")));
        assert_eq!(sent.queue().as_ref(), Some(session.server.queue("orders").arn()));
        assert_eq!((sent.number(), sent.request_id().len()), (3, 36));
        let wrong = sent.input::<CreateQueueInput>().unwrap_err().to_string();
        assert_eq!(wrong, "the request is SendMessage, not CreateQueue");
        let created =
            session.server.requests().of(Action::CreateQueue).expect(2..).inputs::<CreateQueueInput>();
        assert_eq!(created[1].queue_name(), Some("letters"));
        for name in [&url, &session.server.queue("orders").arn().to_string()] {
            session.server.requests().on(name).expect(2);
        }
    }
}

#[tokio::test]
async fn errors_are_recorded_with_their_code() {
    let (server, mut wire) = Wire::with_queue().await;
    wire.json("SendMessage", r#"{"QueueUrl":"http://x/000000000000/none","MessageBody":"x"}"#).await;
    wire.json("SellMessage", "{}").await;
    wire.form("/", "Action=DeleteQueue&QueueUrl=none").await;
    wire.exchange("PUT /", "", b"").await;
    let refused = server.requests().refused().expect(4);
    let seen: Vec<_> = refused.all().iter().map(|r| (r.action(), r.ending().to_string())).collect();
    let expected = [
        (Some(Action::SendMessage), "400 QueueDoesNotExist"),
        (None, "400 UnknownOperationException"),
        (Some(Action::DeleteQueue), "400 QueueDoesNotExist"),
        (None, "405 MethodNotAllowed"),
    ];
    assert_eq!(seen, expected.map(|(action, ending)| (action, ending.to_owned())));
    assert_eq!(refused.all()[0].error_code(), Some(&ErrorCode::QueueDoesNotExist));
}

#[tokio::test]
async fn oversized_body_is_recorded_as_an_error() {
    let mut limits = sqs_mock_server::Limits::default();
    limits.max_body = 10;
    let server = MockSqs::builder().limits(limits).start().await.unwrap();
    Wire::connect(&server).await.json("SendMessage", "x".repeat(11)).await;
    assert_eq!(server.requests().refused().expect(1).all()[0].status(), Some(413));
}

#[tokio::test]
async fn failed_expectation_shows_the_recorded_requests() {
    let mut session = Session::start(Protocol::AwsJson).await;
    let url = session.create("orders", &[]).await;
    session.send(&url, "tea").await;
    let requests = session.server.requests();
    let text = failure(|| requests.clone().of(Action::SendMessage).on("orders").expect(2));
    assert!(text.starts_with("expected 2 requests SendMessage on orders, seen 1:\n"), "{text}");
    assert!(text.contains("SendMessage  orders  200     MessageBody=\"tea\"\n"), "{text}");
    let text = failure(|| requests.clone().of(Action::PurgeQueue).expect(1..));
    assert!(text.starts_with("expected at least 1 requests PurgeQueue, seen 0 of these:\n"), "{text}");
    assert!(text.contains("CreateQueue  orders") && text.contains("SendMessage  orders"), "{text}");
}

#[tokio::test]
async fn abandoned_long_poll_is_recorded_as_abandoned() {
    let server = MockSqs::in_process();
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let poll = client.receive_message().queue_url(&url).wait_time_seconds(20);
    let poll = tokio::spawn(async move { poll.send().await.map(drop) });
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    server.requests().of(Action::ReceiveMessage).expect(0);
    poll.abort();
    assert!(poll.await.unwrap_err().is_cancelled());
    let polls = server.requests().of(Action::ReceiveMessage).on("q").expect(1);
    assert_eq!((polls.all()[0].ending(), polls.all()[0].status()), (&Ending::Abandoned, None));
}

#[tokio::test]
async fn signatures_and_keys_are_not_recorded() {
    let server = MockSqs::start().await;
    let mut wire = Wire::connect(&server).await;
    let headers = format!(
        "{FORM}authorization: AWS4-HMAC-SHA256 Credential=SECRET1/20260102/us-east-1/sqs/aws4_request\r\n"
    );
    let target = "POST /?X-Amz-Security-Token=SECRET2&X-Amz-Signature=SECRET3";
    wire.exchange(target, &headers, b"Action=ListQueues&Signature=SECRET4").await;
    let shown = wire.get("/_mock/requests").await;
    assert!(!shown.text().contains("SECRET"), "{}", shown.text());
    assert_eq!(shown.content(200)["requests"][0]["content"], "Action=ListQueues");
    assert!(!format!("{:?}", server.requests()).contains("SECRET"));
}

#[tokio::test]
async fn requests_are_listed_and_removed_over_http() {
    let (server, mut wire) = Wire::with_queue().await;
    let url = server.queue_url("q");
    for body in ["a", "b", "c"] {
        wire.json("SendMessage", format!(r#"{{"QueueUrl":"{url}","MessageBody":"{body}"}}"#)).await;
    }
    wire.form("/", "Action=DeleteQueue&QueueUrl=none").await;
    let shown = wire.get("/_mock/requests?action=SendMessage&queue=q&limit=2").await.content(200);
    assert_eq!((&shown["total"], shown["requests"].as_array().unwrap().len()), (&json!(3), 2));
    let latest = &shown["requests"][1];
    assert_eq!(
        (&latest["number"], &latest["protocol"], &latest["status"]),
        (&json!(4), &json!("json"), &json!(200))
    );
    assert!(latest["content"].as_str().unwrap().contains(r#""MessageBody":"c""#), "{latest}");
    assert_eq!(shown["next"], 2);
    let rest = wire.get("/_mock/requests?action=SendMessage&queue=q&limit=2&skip=2").await.content(200);
    assert_eq!((&rest["total"], rest["requests"].as_array().unwrap().len()), (&json!(3), 1));
    assert_eq!((&rest["requests"][0]["number"], rest.get("next")), (&json!(2), None));
    let none = wire.get("/_mock/requests?skip=99").await.content(200);
    assert_eq!(none, json!({ "total": 5, "requests": [] }));
    for (text, count) in [("sendmess", 3), ("Q", 5), ("NONE", 1), ("DeleteQueue", 1), ("nothing", 0)] {
        let found = wire.get(&format!("/_mock/requests?matching={text}")).await.content(200);
        assert_eq!(found["total"], count, "{text}");
    }
    let refused = wire.get("/_mock/requests?action=DeleteQueue").await.content(200);
    assert_eq!(refused["requests"][0]["error"], "QueueDoesNotExist");
    let error = wire.get("/_mock/requests?action=Send").await.error(400);
    assert!(error.starts_with("unknown action \"Send\"; there are AddPermission, "), "{error}");
    assert_eq!(
        wire.exchange("DELETE /_mock/requests", "", b"").await.content(200),
        json!({ "forgotten": 5 })
    );
    assert_eq!(wire.get("/_mock/requests").await.content(200), json!({ "total": 0, "requests": [] }));
    let answer = wire.exchange("PATCH /_mock/requests", "", b"").await;
    assert_eq!((answer.status, answer.header("allow")), (405, "GET, DELETE"));
}

#[tokio::test]
async fn queue_in_the_path_of_a_form_is_found() {
    let (server, mut wire) = Wire::with_queue().await;
    wire.form("/000000000000/q", "Action=PurgeQueue").await;
    server.requests().of(Action::PurgeQueue).on("q").expect(1);
    server.requests().on("none").expect(..=0);
}

#[tokio::test]
async fn journal_can_be_disabled() {
    let server = MockSqs::builder().journal(0).in_process().unwrap();
    server.client().create_queue().queue_name("q").send().await.unwrap();
    assert!(server.requests().is_empty());
}
