//! Run with: `cargo bench -p sqs-extended --bench small`
//!
//! Measures the overhead of sqs-extended for messages that need no store: nanoseconds per call through the plain and the
//! extended client, and their ratio.

use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};
use sqs_benchmarks::figures::{cell, median, ratio};
use sqs_benchmarks::process::now;
use sqs_client::client::{Execute, Queue};
use sqs_client::transport::{Transport, TransportFuture};
use sqs_client::types::{Message, MessageAttributeValue};
use sqs_client::wire::checksum::{md5_of_attributes, md5_of_body};
use sqs_extended::{ExtendedClient, MemoryStore};

const HELP: &str = "\
Measures the overhead of sqs-extended for messages that need no store, compared with the plain client.

  --rounds COUNT    rounds that alternate between the clients (default: 100); the table has medians
  --calls COUNT     calls per round (default: 1000)
  --help            print this help

The service is a constant response in this process, so only the clients are measured, including signatures and MD5
digests. Calls are sends of 1,000 bytes with an attribute, receives of ten such messages, and deletes. The table goes to
standard output.";

const URL: &str = "http://sqs.invalid/000000000000/q";

/// Returns the same response to every request.
#[derive(Clone, Debug)]
struct ConstantResponse(Bytes);

impl Transport for ConstantResponse {
    fn send(&self, _: http::Request<Bytes>) -> TransportFuture<'_> {
        let response = http::Response::builder().header("content-type", "application/x-amz-json-1.0");
        let response = response.body(self.0.clone()).expect("a valid response");
        Box::pin(std::future::ready(Ok(response)))
    }
}

fn client(response: String) -> sqs_client::Client {
    let config =
        sqs_mock_server::MockSqs::in_process().client_config().transport(ConstantResponse(response.into()));
    sqs_client::Client::from_conf(config.build())
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Send,
    Receive,
    Delete,
}

impl Call {
    fn response(self) -> String {
        let (body, value) = (body(), value());
        let attributes = md5_of_attributes([(&"color", &value)]).expect("a valid attribute");
        match self {
            Self::Send => format!(
                r#"{{"MD5OfMessageBody":"{}","MD5OfMessageAttributes":"{attributes}","MessageId":"m"}}"#,
                md5_of_body(&body)
            ),
            Self::Receive => {
                let message = format!(
                    r#"{{"MessageId":"m","ReceiptHandle":"h","Body":"{body}","MD5OfBody":"{}"}}"#,
                    md5_of_body(&body)
                );
                format!(r#"{{"Messages":[{}]}}"#, vec![message; 10].join(","))
            }
            Self::Delete => String::new(),
        }
    }

    async fn run<H: Execute>(self, queue: &Queue<H>) {
        match self {
            Self::Send => {
                let send = queue.send(body()).message_attributes("color", value()).send().await;
                assert!(send.is_ok());
            }
            Self::Receive => {
                assert_eq!(queue.receive().send().await.map_or(0, |output| output.messages().len()), 10);
            }
            Self::Delete => {
                let message =
                    Message::builder().receipt_handle("AQEBuS5H9z6H4zoPH1YjcXGgAgamwFE4Jbbz").build();
                assert!(queue.delete(&message).send().await.is_ok());
            }
        }
    }

    async fn time<H: Execute>(self, calls: u32, queue: &Queue<H>) -> Duration {
        let start = now();
        for _ in 0..calls {
            self.run(queue).await;
        }
        start.elapsed() / calls
    }
}

fn body() -> String {
    "x".repeat(1_000)
}

fn value() -> MessageAttributeValue {
    MessageAttributeValue::string("red")
}

fn main() -> ExitCode {
    exit_code(run(Arguments::from_env()))
}

fn run(mut arguments: Arguments) -> Result<(), BoxError> {
    let (mut rounds, mut calls) = (100, 1000);
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--rounds" => rounds = arguments.number(1..=100_000)?,
            "--calls" => calls = arguments.number(1..=100_000)?,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(compare(rounds, calls));
    Ok(())
}

async fn compare(rounds: usize, calls: u32) {
    println!("| Call | Plain | Extended | Ratio |\n|---|--:|--:|--:|");
    for call in [Call::Send, Call::Receive, Call::Delete] {
        let plain = client(call.response());
        let extended = ExtendedClient::new(plain.clone(), MemoryStore::new("payloads"));
        let (plain, extended) = (plain.queue(URL), extended.queue(URL));
        let mut times = Vec::new();
        for _ in 0..rounds {
            times.push([call.time(calls, &plain).await, call.time(calls, &extended).await]);
        }
        // A slow moment of the machine affects both times of a round, so their ratio stays valid.
        let ratios =
            times.iter().filter_map(|[plain, extended]| ratio(extended.as_secs_f64(), plain.as_secs_f64()));
        let ratio = cell(median(ratios, f64::total_cmp), 3);
        let nanos = |client: usize| median(times.iter().map(|round| round[client].as_nanos()), Ord::cmp);
        let [plain, extended] = [0, 1].map(|client| nanos(client).unwrap_or_default());
        println!("| {call:?} | {plain} ns | {extended} ns | {ratio} |");
    }
}
