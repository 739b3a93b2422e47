//! A server and requests to it, without a socket.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use sqs_benchmarks::figures::median;
use sqs_client::transport::Transport as _;
use sqs_mock_server::{InProcess, MockSqs};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

/// Rounds per operation. The result is the median. A round is shorter than a time slice, which limits the effect of other
/// processes.
const ROUNDS: u32 = 101;
/// Requests per round.
const REQUESTS: u32 = 100;

/// A server on one thread.
pub(crate) struct Rig {
    pub(crate) runtime: Runtime,
    pub(crate) server: MockSqs,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        // A frozen clock keeps deduplication ids in memory.
        let server = MockSqs::builder().seed(1).clock_frozen().in_process().expect("valid settings");
        Self { runtime, server }
    }

    pub(crate) fn call(&self, action: &str, input: &str) -> Value {
        self.runtime.block_on(call(self.server.transport(), action, input.to_owned()))
    }

    /// Creates a queue and returns its URL.
    pub(crate) fn queue(&self, name: &str) -> String {
        let fifo = if name.ends_with(".fifo") { r#""FifoQueue":"true","# } else { "" };
        let attributes = format!(r#"{{{fifo}"VisibilityTimeout":"1000"}}"#);
        self.call("CreateQueue", &format!(r#"{{"QueueName":"{name}","Attributes":{attributes}}}"#));
        self.server.queue_url(name)
    }

    /// The median duration of a request over many rounds. Each request has a unique number.
    pub(crate) fn time<F: Future>(&self, request: impl FnMut(u32) -> F) -> Duration {
        self.time_rounds_of(REQUESTS, request)
    }

    /// The same, with rounds of this many requests.
    pub(crate) fn time_rounds_of<F: Future>(
        &self,
        requests: u32,
        mut request: impl FnMut(u32) -> F,
    ) -> Duration {
        let rounds = (0..ROUNDS).map(|round| {
            let start = Instant::now();
            self.runtime.block_on(async {
                for number in 0..requests {
                    request(round * requests + number).await;
                }
            });
            start.elapsed() / requests
        });
        median(rounds, Ord::cmp).unwrap_or_default()
    }

    /// The duration of a request without a queue.
    pub(crate) fn floor(&self) -> Duration {
        let input = r#"{"QueueNamePrefix":"none"}"#;
        self.time(|_| send(self.server.transport(), "ListQueues", input.to_owned()))
    }
}

/// Sends a request and returns the response body.
pub(crate) async fn send(transport: InProcess, action: &str, input: String) -> Bytes {
    let request = http::Request::post("http://sqs.test/")
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", format!("AmazonSQS.{action}"))
        .body(Bytes::from(input))
        .expect("a request");
    let response = transport.send(request).await.expect("a server");
    let status = response.status();
    let body = response.into_body();
    assert!(status.is_success(), "{action}: {}", String::from_utf8_lossy(&body));
    body
}

pub(crate) async fn call(transport: InProcess, action: &str, input: String) -> Value {
    let body = send(transport, action, input).await;
    serde_json::from_slice(&body).unwrap_or_default()
}

/// Receives a message and returns its handle.
pub(crate) async fn receive(transport: InProcess, input: String) -> String {
    let response = send(transport, "ReceiveMessage", input).await;
    let response = std::str::from_utf8(&response).unwrap_or_default();
    let (_, rest) = response.split_once(r#""ReceiptHandle":""#).expect("a message");
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// Microseconds with one decimal.
pub(crate) fn micros(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e6)
}

/// 1000000 is 1,000,000.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^52")]
pub(crate) fn thousands(number: usize) -> String {
    sqs_benchmarks::plot::thousands(number as f64)
}
