//! Test services: canned responses over HTTP, and raw sockets that misbehave.

use std::time::Duration;

use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::config::{Builder, Credentials, Region};
use sqs_client::{Client, Config};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use wiremock::ResponseTemplate;

/// A body whose MD5 is [`HELLO_MD5`].
pub(crate) const HELLO: &str = "hello";
pub(crate) const HELLO_MD5: &str = "5d41402abc4b2a76b9719d911017c592";
pub(crate) const QUEUE: &str = "http://sqs.eu-west-1.amazonaws.com/123456789012/orders";
pub(crate) const FIFO_QUEUE: &str = "http://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo";

/// Settings for fast tests, with an initial backoff of one millisecond.
pub(crate) fn settings(endpoint: &str) -> Builder {
    Config::builder()
        .endpoint_url(endpoint)
        .region(Region::new("eu-west-1"))
        .credentials_provider(Credentials::new("AKID", "secret", None, None, "test"))
        .retry_config(RetryConfig::standard().with_initial_backoff(Duration::from_millis(1)))
}

pub(crate) fn client(endpoint: &str) -> Client {
    Client::from_conf(settings(endpoint).build())
}

/// A client with an attempt timeout.
pub(crate) fn impatient(endpoint: &str, attempt: Duration) -> Client {
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(attempt).build();
    Client::from_conf(settings(endpoint).timeout_config(timeouts).build())
}

/// The response to a successful `SendMessage` of [`HELLO`].
pub(crate) fn accepted() -> ResponseTemplate {
    sent_with_md5(HELLO_MD5)
}

pub(crate) fn sent_with_md5(md5: &str) -> ResponseTemplate {
    json(200, &format!(r#"{{"MessageId":"m-1","MD5OfMessageBody":"{md5}"}}"#))
}

pub(crate) fn json(status: u16, body: &str) -> ResponseTemplate {
    ResponseTemplate::new(status)
        .insert_header("x-amzn-requestid", "request-1")
        .set_body_raw(body.to_owned(), "application/x-amz-json-1.0")
}

/// An error response in the format of AWS.
pub(crate) fn refusal(status: u16, query_code: &str, shape: &str, text: &str) -> ResponseTemplate {
    json(status, &format!(r#"{{"__type":"com.amazonaws.sqs#{shape}","message":"{text}"}}"#))
        .insert_header("x-amzn-query-error", format!("{query_code};Sender"))
}

/// What a raw service does with a connection after reading the request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Writes these bytes, then closes.
    Write(String),
    /// Closes without a response.
    Close,
    /// Writes these bytes, then neither writes nor closes.
    Hang(String),
    /// Writes these bytes before it reads anything, then closes.
    Greet(&'static str),
}

impl Act {
    /// A response truncated after `sent` bytes of the body.
    pub(crate) fn cut(body: &str, sent: usize) -> Self {
        let length = body.len();
        Self::Write(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{}", &body[..sent]))
    }

    pub(crate) fn whole(body: &str) -> Self {
        Self::cut(body, body.len())
    }
}

/// A service on a raw socket. Connection number N gets act number N, and further connections get the last one. Returns
/// its URL and counts requests.
pub(crate) async fn raw_service(acts: Vec<Act>) -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let requests = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = requests.clone();
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                return;
            };
            let turn = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst).min(acts.len() - 1);
            tokio::spawn(play(stream, acts[turn].clone()));
        }
    });
    (url, requests)
}

async fn play(mut stream: TcpStream, act: Act) {
    if let Act::Greet(bytes) = act {
        let _ = stream.write_all(bytes.as_bytes()).await;
        return;
    }
    let mut seen = Vec::new();
    while !is_whole_request(&seen) {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(n) => seen.extend_from_slice(&chunk[..n]),
        }
    }
    match act {
        Act::Close | Act::Greet(_) => {}
        Act::Write(bytes) => {
            let _ = stream.write_all(bytes.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Act::Hang(bytes) => {
            let _ = stream.write_all(bytes.as_bytes()).await;
            std::future::pending::<()>().await;
        }
    }
}

pub(crate) fn is_whole_request(seen: &[u8]) -> bool {
    let text = String::from_utf8_lossy(seen).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0_usize)
}
