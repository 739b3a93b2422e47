//! Requests of web pages to S3. The headers are those of Chromium 142.

use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;
use sqs_mock_server::s3::{S3, S3Action};

use super::{BUCKET, server};
use crate::wire::ask;

const AGENT: &str = "user-agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
    Chrome/142.0.0.0 Safari/537.36\r\naccept-language: en-US,en;q=0.9\r\n";
const PAGE: &str = "http://localhost:3000";

async fn request(server: &MockSqs, line: &str, host: &str, headers: &str, body: &str) -> String {
    let endpoint = server.s3().endpoint_url().to_owned();
    let length = body.len();
    let head =
        format!("{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n");
    let text = format!("{head}{headers}\r\n{body}");
    tokio::task::spawn_blocking(move || ask(&endpoint, &text)).await.unwrap()
}

fn fetch(origin: &str) -> String {
    format!("{AGENT}origin: {origin}\r\nsec-fetch-site: cross-site\r\nsec-fetch-mode: cors\r\n")
}

#[tokio::test]
async fn foreign_page_cannot_change_objects() {
    let server = server().await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    let delete = "<Delete><Object><Key>a</Key></Object></Delete>";
    let headers = fetch("https://evil.example");
    for (line, body) in
        [("POST /payloads?delete", delete), ("DELETE /payloads/a", ""), ("PUT /payloads/b", "x")]
    {
        let answer = request(&server, line, "127.0.0.1", &headers, body).await;
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("AccessDenied"), "{line}: {answer}");
    }
    assert_eq!(server.s3().count(BUCKET), 1);
}

#[tokio::test]
async fn page_after_dns_rebinding_cannot_read_objects_and_programs_can() {
    let server = server().await;
    server.s3().put(BUCKET, "a", "tea").await.unwrap();
    // Firefox lets a page of the same origin set the user agent.
    for agent in [AGENT, "user-agent: curl/8.5.0\r\n"] {
        let answer = request(&server, "GET /payloads/a", "evil.example:9325", agent, "").await;
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("--allow-host"), "{answer}");
    }
    for (host, headers) in [("s3.lan", "user-agent: aws-sdk-rust/1.3.9\r\n"), ("127.0.0.1", AGENT)] {
        let answer = request(&server, "GET /payloads/a", host, headers, "").await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\ntea"), "{host}: {answer}");
    }
}

#[tokio::test]
async fn listed_page_reads_and_writes_objects() {
    let server = MockSqs::builder().s3(S3::temporary()).cors_origin(PAGE).start().await.unwrap();
    let preflight = format!("{}access-control-request-method: PUT\r\n", fetch(PAGE));
    let answer = request(&server, "OPTIONS /payloads/a", "127.0.0.1", &preflight, "").await;
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    assert!(answer.contains("access-control-allow-methods: GET, HEAD, POST, PUT, DELETE"), "{answer}");
    for line in ["PUT /payloads/a", "GET /payloads/a", "GET /payloads/none"] {
        let answer = request(&server, line, "127.0.0.1", &fetch(PAGE), "").await;
        assert!(answer.contains(&format!("access-control-allow-origin: {PAGE}\r\n")), "{line}: {answer}");
    }
    assert_eq!(server.s3().count(BUCKET), 1);
}

#[tokio::test]
async fn listed_page_reads_the_status_of_a_fault_too() {
    let server = MockSqs::builder().s3(S3::temporary()).cors_origin(PAGE).start().await.unwrap();
    for status in [503, 304] {
        server.faults().inject(Fault::status(status, "busy").on_s3(S3Action::GetObject).times(1));
        let answer = request(&server, "GET /payloads/a", "127.0.0.1", &fetch(PAGE), "").await;
        let expected = if status == 304 { 500 } else { status };
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")) && answer.ends_with("busy"), "{answer}");
        assert_eq!(server.s3().requests().pop().unwrap().error.as_deref(), Some("InjectedStatus"));
        assert!(answer.contains(&format!("access-control-allow-origin: {PAGE}\r\n")), "{answer}");
    }
}

#[tokio::test]
async fn preflight_is_not_recorded() {
    let server = MockSqs::builder().s3(S3::temporary()).cors_origin(PAGE).start().await.unwrap();
    let preflight = format!("{}access-control-request-method: PUT\r\n", fetch(PAGE));
    request(&server, "OPTIONS /payloads/a", "127.0.0.1", &preflight, "").await;
    assert_eq!(server.s3().requests(), []);
    assert!(!server.metrics().await.contains("sqs_mock_s3_requests_total{"));
}
