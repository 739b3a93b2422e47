//! The page of the binary: its files, the stream of changes, and actions without a signature.

use std::time::Duration;

use serde_json::{Value, json};
use sqs_mock_server::{MockSqs, MockSqsBuilder};
use tokio::io::AsyncBufReadExt as _;

use crate::wire::Wire;

const BROWSER: &str = "accept: text/html,application/xhtml+xml,*/*;q=0.8\r\nuser-agent: Mozilla/5.0\r\n";
const SQS: &str = "content-type: application/x-amz-json-1.0\r\nx-amz-target: AmazonSQS.";

async fn start(builder: MockSqsBuilder) -> (MockSqs, Wire) {
    let server = builder.start().await.unwrap();
    let wire = Wire::connect(&server).await;
    (server, wire)
}

/// A reader of `GET /_mock/events`.
struct Events(Wire);

impl Events {
    async fn open(server: &MockSqs, headers: &str) -> Self {
        let mut wire = Wire::connect(server).await;
        wire.request("GET /_mock/events", headers, b"").await.unwrap();
        Self(wire)
    }

    /// The next line that begins so; `None` at the end of the stream.
    async fn line(&mut self, start: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            let read = self.0.stream().read_line(&mut line);
            let read = tokio::time::timeout(Duration::from_secs(20), read).await;
            if read.expect("an event, or the end of the stream").unwrap_or(0) == 0 {
                return None;
            }
            if let Some(rest) = line.trim_end().strip_prefix(start) {
                return Some(rest.to_owned());
            }
        }
    }

    async fn state(&mut self) -> Value {
        serde_json::from_str(&self.line("data: ").await.expect("an event")).unwrap()
    }
}

#[tokio::test]
async fn browser_at_the_root_is_sent_to_the_console() {
    let (_server, mut wire) = start(MockSqs::builder()).await;
    let answer = wire.exchange("GET /", BROWSER, b"").await;
    assert_eq!((answer.status, answer.header("location")), (302, "/_mock/console/"));
    let answer = wire.exchange("GET /_mock/console", BROWSER, b"").await;
    assert_eq!((answer.status, answer.header("location")), (302, "/_mock/console/"));
    let answer = wire.exchange("GET /?Action=ListQueues", BROWSER, b"").await;
    assert_eq!(answer.status, 200, "an action is not the address bar");
    assert_ne!(wire.get("/").await.status, 302, "a program is no browser");
}

#[tokio::test]
async fn files_have_a_strict_policy_and_are_compressed_on_demand() {
    let (_server, mut wire) = start(MockSqs::builder()).await;
    let plain = wire.get("/_mock/console/").await;
    assert!(plain.text().starts_with("<!doctype html>"), "{}", plain.text());
    assert_eq!(plain.header("content-type"), "text/html; charset=utf-8");
    let policy = plain.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    let packed = wire.exchange("GET /_mock/console/app.js", "accept-encoding: gzip, br\r\n", b"").await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.header("content-type"), "text/javascript; charset=utf-8");
    let whole = wire.get("/_mock/console/app.js").await;
    assert!(packed.body.len() < whole.body.len());
    let error = wire.get("/_mock/console/../secret").await.error(404);
    assert_eq!(error, "the console has no file \"../secret\"");
    let error = wire.get("/_mock/console/_mock/console/").await.error(404);
    assert_eq!(error, "the console has no file \"_mock/console/\"");
}

#[tokio::test]
async fn server_without_a_console_says_so() {
    let (_server, mut wire) = start(MockSqs::builder().console(false)).await;
    let error = wire.get("/_mock/console/").await.error(404);
    assert_eq!(error, "this server has no console; --no-console turned it off");
    assert_ne!(wire.exchange("GET /", BROWSER, b"").await.status, 302);
}

#[tokio::test]
async fn files_need_no_token_but_everything_that_they_show_does() {
    let (server, mut wire) = start(MockSqs::builder().admin_token("hush")).await;
    assert_eq!(wire.get("/_mock/console/").await.status, 200);
    for line in ["GET /_mock/events", "POST /_mock/aws"] {
        assert_eq!(wire.exchange(line, "", b"").await.status, 401, "{line}");
    }
    assert!(Events::open(&server, "x-sqs-mock-token: hush\r\n").await.state().await.is_object());
}

#[tokio::test]
async fn stream_tells_what_changed() {
    let (server, mut wire) = start(MockSqs::builder().clock_frozen()).await;
    let mut events = Events::open(&server, "").await;
    let first = events.state().await;
    assert_eq!((&first["requests"], &first["clock"]["frozen"]), (&json!(0), &json!(true)));
    assert_eq!(wire.json("CreateQueue", r#"{"QueueName":"q"}"#).await.status, 200);
    let created = events.state().await;
    assert_ne!(created["queues"], first["queues"]);
    assert_eq!(created["requests"], 1);
    let send = json!({ "QueueUrl": "/000000000000/q", "MessageBody": "tea", "DelaySeconds": 60 });
    assert_eq!(wire.json("SendMessage", send.to_string()).await.status, 200);
    let sent = events.state().await;
    assert_ne!(sent["messages"], created["messages"]);
    server.clock().advance(Duration::from_secs(61));
    let due = events.state().await;
    assert_ne!((&due["messages"], &due["clock"]), (&sent["messages"], &sent["clock"]));
    assert_eq!(due["requests"], sent["requests"], "looking is no request");
    wire.exchange("POST /_mock/faults", "", br#"{"effect":"throttle"}"#).await.content(200);
    assert_ne!(events.state().await["faults"], sent["faults"]);
}

#[tokio::test]
async fn stream_ends_when_the_server_stops() {
    let (server, _wire) = start(MockSqs::builder()).await;
    let mut events = Events::open(&server, "").await;
    events.state().await;
    let (stopped, rest) = tokio::join!(server.shutdown(), events.line("data: "));
    let _: () = stopped;
    assert_eq!(rest, None);
}

#[tokio::test]
async fn actions_through_the_admin_api_need_no_signature() {
    let (server, mut wire) = start(MockSqs::builder().require_signatures([("AKID", "secret")])).await;
    let headers = format!("{SQS}CreateQueue\r\n");
    let refused = wire.exchange("POST /", &headers, br#"{"QueueName":"q"}"#).await;
    assert_eq!(refused.status, 403);
    let caller =
        "authorization: AWS4-HMAC-SHA256 Credential=123456789012/20260102/eu-west-1/sqs/aws4_request\r\n";
    let headers = format!("{headers}{caller}");
    let answer = wire.exchange("POST /_mock/aws", &headers, br#"{"QueueName":"q"}"#).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(server.queue("q").of_account("123456789012").in_region("eu-west-1").exists());
    let foreign = format!("{headers}origin: http://evil.example\r\n");
    assert_eq!(wire.exchange("POST /_mock/aws", &foreign, br#"{"QueueName":"r"}"#).await.status, 403);
}

#[tokio::test]
async fn request_is_shown_with_its_response() {
    let (_server, mut wire) = start(MockSqs::builder()).await;
    wire.json("CreateQueue", r#"{"QueueName":"q"}"#).await;
    wire.json("DeleteQueue", r#"{"QueueUrl":"/000000000000/none"}"#).await;
    let one = wire.get("/_mock/requests/1").await.content(200);
    assert_eq!(one["action"], "CreateQueue");
    assert!(one["answer"].as_str().unwrap().contains("/000000000000/q"), "{one}");
    let two = wire.get("/_mock/requests/2").await.content(200);
    assert!(two["answer"].as_str().unwrap().contains("QueueDoesNotExist"), "{two}");
    let later = wire.get("/_mock/requests?after=1").await.content(200);
    assert_eq!((&later["total"], &later["requests"][0]["number"]), (&json!(1), &json!(2)));
    let error = wire.get("/_mock/requests/3").await.error(404);
    assert_eq!(error, "no request 3 is kept; GET /_mock/requests lists all");
}

#[tokio::test]
async fn messages_are_filtered_by_state_and_deleted_by_id() {
    let (server, mut wire) = start(MockSqs::builder()).await;
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    for (body, delay) in [("a", 0), ("b", 0), ("c", 60)] {
        client.send_message().queue_url(&url).message_body(body).delay_seconds(delay).send().await.unwrap();
    }
    client.receive_message().queue_url(&url).send().await.unwrap();
    for (state, body) in [("in_flight", "a"), ("available", "b"), ("delayed", "c")] {
        let page = wire.get(&format!("/_mock/messages?queue=q&state={state}")).await.content(200);
        assert_eq!(
            (&page["total"], &page["messages"][0]["body"]),
            (&json!(1), &json!(body)),
            "{state}: {page}"
        );
        let id = page["messages"][0]["id"].as_str().unwrap();
        let line = format!("DELETE /_mock/messages/{id}?queue=q");
        assert_eq!(wire.exchange(&line, "", b"").await.content(200), json!({ "deleted": true }));
        let error = wire.exchange(&line, "", b"").await.error(404);
        assert_eq!(error, format!("arn:aws:sqs:us-east-1:000000000000:q has no message {id}"));
    }
    assert_eq!(server.queue("q").bodies(), [""; 0]);
    let error = wire.get("/_mock/messages?queue=q&state=gone").await.error(400);
    assert_eq!(
        error,
        "state must be available (visible, group_locked and beyond_window), in_flight or delayed, not \"gone\""
    );
    let error = wire.exchange("DELETE /_mock/messages/7x?queue=q", "", b"").await.error(400);
    assert_eq!(error, "\"7x\" is not a message id");
}

#[tokio::test]
async fn deleting_the_first_message_of_a_group_unlocks_the_group() {
    let (server, mut wire) = start(MockSqs::builder()).await;
    let client = server.client();
    let create = client.create_queue().queue_name("q.fifo");
    let create = create.attributes(sqs_client::types::QueueAttributeName::FifoQueue, "true");
    let url = create.send().await.unwrap().queue_url.unwrap();
    for body in ["a", "b"] {
        let send = client.send_message().queue_url(&url).message_body(body).message_group_id("g");
        send.message_deduplication_id(body).send().await.unwrap();
    }
    let receive = || client.receive_message().queue_url(&url).max_number_of_messages(1).send();
    let first = receive().await.unwrap().messages.unwrap().remove(0);
    assert!(receive().await.unwrap().messages.unwrap_or_default().is_empty());
    let line = format!("DELETE /_mock/messages/{}?queue=q.fifo", first.message_id.unwrap());
    wire.exchange(&line, "", b"").await.content(200);
    let second = receive().await.unwrap().messages.unwrap().remove(0);
    assert_eq!(second.body.as_deref(), Some("b"));
}
