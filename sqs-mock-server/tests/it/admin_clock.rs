//! The clock over HTTP.

use std::time::Duration;

use serde_json::json;
use sqs_mock_server::MockSqs;

use crate::wire::{Answer, Wire};

const START: u64 = 1_900_000_000_000;

async fn frozen() -> (MockSqs, Wire) {
    let start = std::time::UNIX_EPOCH + Duration::from_millis(START);
    let server = MockSqs::builder().clock_start(start).clock_frozen().start().await.unwrap();
    let wire = Wire::connect(&server).await;
    (server, wire)
}

impl Wire {
    /// Posts JSON.
    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Answer {
        self.exchange(&format!("POST {path}"), "content-type: application/json\r\n", body.as_bytes()).await
    }
}

#[tokio::test]
async fn clock_is_shown_and_changed() {
    let (server, mut wire) = frozen().await;
    let shown = wire.get("/_mock/clock").await.content(200);
    assert_eq!(shown["now"], "2030-03-17T17:46:40.000Z");
    assert_eq!((&shown["now_ms"], &shown["frozen"]), (&json!(START), &json!(true)));
    for (turn, now) in [
        (r#"{"advance": 90}"#, START + 90_000),
        (r#"{"advance": 0.25}"#, START + 90_250),
        (r#"{"advance": "1h 30m"}"#, START + 5_490_250),
        (r#"{"now": "2031-01-01T00:00:00Z"}"#, 1_924_992_000_000),
        (r#"{"now": 1924992000007, "advance": "14days"}"#, 1_924_992_000_007 + 14 * 86_400_000),
    ] {
        assert_eq!(wire.post("/_mock/clock", turn).await.content(200)["now_ms"], json!(now), "{turn}");
        assert_eq!(server.clock().now().as_millis(), now);
    }
    let running = wire.post("/_mock/clock", r#"{"frozen": false}"#).await.content(200);
    assert_eq!(running["frozen"], json!(false));
    assert!(!server.clock().is_frozen());
    assert!(running["offset_ms"].as_i64().unwrap() > 0, "{running}");
}

#[tokio::test]
async fn invalid_changes_are_rejected_and_have_no_effect() {
    let (server, mut wire) = frozen().await;
    for (turn, part) in [
        ("{}", "set advance, now or frozen"),
        (r#"{"advance": -1}"#, "not negative"),
        (r#"{"advance": "soon"}"#, r#"like "90s", "1h 30m" or "14days", not "soon""#),
        (r#"{"advance": true}"#, "not true"),
        (r#"{"now": 5}"#, "cannot go back"),
        (r#"{"now": "yesterday"}"#, "2030-01-01T00:00:00Z"),
        (r#"{"advance": "9000years"}"#, "year 9999"),
        (r#"{"advance": 1, "frozen": "no"}"#, "expected a boolean"),
        (r#"{"forward": 1}"#, "unknown field `forward`, expected one of `advance`, `now`, `frozen`"),
        ("advance=1", "the body"),
    ] {
        let error = wire.post("/_mock/clock", turn).await.error(400);
        assert!(error.contains(part), "{turn}: {error}");
    }
    assert_eq!(server.clock().now().as_millis(), START);
}

#[tokio::test]
async fn advancing_over_http_ends_a_long_poll() {
    let (server, mut wire) = frozen().await;
    let client = server.client();
    let url = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let poll = client.receive_message().queue_url(&url).wait_time_seconds(20);
    let poll = tokio::spawn(async move { poll.send().await.unwrap().messages().len() });
    while !poll.is_finished() {
        wire.post("/_mock/clock", r#"{"advance": 20}"#).await.content(200);
    }
    assert_eq!(poll.await.unwrap(), 0);
}
