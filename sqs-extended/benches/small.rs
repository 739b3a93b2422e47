//! Measures the overhead for messages without stored payloads: each call through the plain client and through the
//! extended client alternately, with a service that responds at once. Prints nanoseconds per call, and their ratio.
//!
//! Run with: `cargo bench -p sqs-extended --bench small`

use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use sqs_benchmarks::arguments::{Arguments, Failed, ended};
use sqs_benchmarks::figures::{cell, median, ratio};
use sqs_benchmarks::process::now;
use sqs_client::client::{Execute, Queue};
use sqs_client::transport::{Transport, TransportFuture};
use sqs_client::types::{Message, MessageAttributeValue};
use sqs_client::wire::checksum::{md5_of_attributes, md5_of_body};
use sqs_extended::{ExtendedClient, MemoryStore};

const HELP: &str = "\
What messages that need no store cost: each call through the plain client and through the extended one.

  --rounds COUNT    how often each call has its turn, 100 by default; the medians count, of ratios those of neighbours
  --calls COUNT     how many calls a turn has, 1000 by default
  --help            this text

The service is a text that is there at once, in this process: what is measured is the clients alone, with signatures and MD5s.
Calls are sends of 1,000 bytes with an attribute, receives of ten such messages, and deletes. The table goes to standard
output.";

const URL: &str = "http://sqs.invalid/000000000000/q";

/// Responds to every request with the same text.
#[derive(Clone, Debug)]
struct Canned(Bytes);

impl Transport for Canned {
    fn send(&self, _: http::Request<Bytes>) -> TransportFuture<'_> {
        let response = http::Response::builder().header("content-type", "application/x-amz-json-1.0");
        let response = response.body(self.0.clone()).expect("a response");
        Box::pin(std::future::ready(Ok(response)))
    }
}

fn client(answer: String) -> sqs_client::Client {
    let config = sqs_mock_server::MockSqs::in_process().client_config().transport(Canned(answer.into()));
    sqs_client::Client::from_conf(config.build())
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Send,
    Receive,
    Delete,
}

impl Call {
    fn answer(self) -> String {
        let (body, value) = (body(), value());
        let attributes = md5_of_attributes([(&"color", &value)]).expect("one");
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

    async fn make<H: Execute>(self, queue: &Queue<H>) {
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
        let started = now();
        for _ in 0..calls {
            self.make(queue).await;
        }
        started.elapsed() / calls
    }
}

fn body() -> String {
    "x".repeat(1_000)
}

fn value() -> MessageAttributeValue {
    MessageAttributeValue::string("red")
}

fn main() -> ExitCode {
    ended(run(Arguments::of_process()))
}

fn run(mut arguments: Arguments) -> Result<(), Failed> {
    let (mut rounds, mut calls) = (100, 1000);
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--rounds" => rounds = arguments.number(1..=100_000)?,
            "--calls" => calls = arguments.number(1..=100_000)?,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(compare(rounds, calls));
    Ok(())
}

async fn compare(rounds: usize, calls: u32) {
    println!("| call | plain | extended | ratio |\n|---|--:|--:|--:|");
    for call in [Call::Send, Call::Receive, Call::Delete] {
        let plain = client(call.answer());
        let extended = ExtendedClient::new(plain.clone(), MemoryStore::new("own"));
        let (plain, extended) = (plain.queue(URL), extended.queue(URL));
        let mut turns = Vec::new();
        for _ in 0..rounds {
            turns.push([call.time(calls, &plain).await, call.time(calls, &extended).await]);
        }
        // A slow phase of the machine affects both calls of a pair, but not their ratio.
        let ratios =
            turns.iter().filter_map(|[plain, extended]| ratio(extended.as_secs_f64(), plain.as_secs_f64()));
        let ratio = cell(median(ratios, f64::total_cmp), 3);
        let nanos = |peer: usize| median(turns.iter().map(|turn| turn[peer].as_nanos()), Ord::cmp);
        let [plain, extended] = [0, 1].map(|peer| nanos(peer).unwrap_or_default());
        println!("| {call:?} | {plain} ns | {extended} ns | {ratio} |");
    }
}
