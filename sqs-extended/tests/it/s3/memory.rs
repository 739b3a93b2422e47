//! Memory use of streaming. A child process streams, so that the memory of the server does not count.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use sqs_buffered::{Consumer, Outcome};
use sqs_client::types::QueueAttributeName;
use sqs_extended::{ExtendedClient, Payload, S3Store};
use sqs_mock_server::MockSqs;

use super::rig::{BUCKET, client};
use super::sink;

const CHILD: &str = "s3::memory::child_process_streams_both_ways";
const CONSUMER: &str = "s3::memory::child_process_consumes_ten_payloads";
const VARIABLE: &str = "SQS_EXTENDED_STREAM";

/// Five parts of 8 MiB plus overhead. A client that held a whole payload of 64 MiB would exceed it.
const MAX_KIB: u64 = 60 << 10;

/// Streams `length` bytes each way. Returns the growth and the peak of the resident memory, in KiB.
async fn measured(length: u64) -> (u64, u64) {
    measured_in(CHILD, length, "").await
}

/// Like [`measured`], in another child process and with a further argument.
async fn measured_in(child: &'static str, length: u64, argument: &str) -> (u64, u64) {
    let address = sink::serve(length).await.unwrap();
    let arguments = format!("http://{address} {length} {argument}");
    let output = tokio::task::spawn_blocking(move || {
        Command::new(std::env::current_exe().unwrap())
            .args([child, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, arguments)
            // Without it, glibc keeps up to 20 MiB of freed pieces in arenas of other threads, at random.
            .env("MALLOC_ARENA_MAX", "1")
            .output()
            .unwrap()
    });
    let output = output.await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.split_once("resident KiB: "));
    let Some((_, numbers)) = line else { panic!("{text}{}", String::from_utf8_lossy(&output.stderr)) };
    let (before, most) = numbers.split_once(" then ").unwrap();
    let (before, most): (u64, u64) = (before.parse().unwrap(), most.trim().parse().unwrap());
    println!("{} MiB: {before} KiB resident before, {most} KiB at most", length >> 20);
    (most - before, most)
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn streaming_64_mib_each_way_keeps_only_a_few_parts_in_memory() {
    let (growth, _) = measured(64 << 20).await;
    assert!(growth < MAX_KIB, "{growth} KiB");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
#[ignore = "takes a minute; .ci/run runs it"]
async fn streaming_2_gib_each_way_takes_less_than_100_mib() {
    let (growth, most) = measured((2 << 30) - 1).await;
    assert!(most < 100 << 10, "{growth} of {most} KiB");
}

/// Two payloads of 200 MiB fit into the memory budget, and handlers hold those that they work on.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
#[ignore = "moves 2 GB twice; run it alone"]
async fn ten_payloads_of_200_mib_are_each_handled_once_with_the_defaults() {
    let (growth, most) = measured_in(CONSUMER, 200 << 20, "").await;
    assert!(most < 1_500 << 10, "{growth} of {most} KiB");
}

/// The same at a tenth of the size. Without the budget, ten payloads would take 200 MiB.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ten_payloads_of_20_mib_are_each_handled_once_within_a_budget_of_48_mib() {
    let (growth, most) = measured_in(CONSUMER, 20 << 20, &(48 << 20).to_string()).await;
    assert!(growth < 150 << 10, "{growth} of {most} KiB");
}

/// What the parent passed: the URL of S3, the length of each payload, and the memory budget if it is not the default.
fn arguments() -> Option<(String, u64, Option<u64>)> {
    let arguments = std::env::var(VARIABLE).ok()?;
    let mut words = arguments.split_whitespace();
    let (url, length) = (words.next()?.to_owned(), words.next()?.parse().unwrap());
    Some((url, length, words.next().map(|budget| budget.parse().unwrap())))
}

/// Peak and current resident memory of this process, in KiB.
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the child process of the tests above, which start it"]
async fn child_process_streams_both_ways() {
    let Some((url, length, _)) = arguments() else { return };
    let server = MockSqs::in_process();
    let client = ExtendedClient::new(server.client(), S3Store::new(client(&url), BUCKET));
    let queue = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
    let block = sink::block();
    let before = resident("VmRSS");

    let size = sink::BLOCK as u64;
    let pieces = stream::iter((0..length.div_ceil(size)).map(move |number| {
        let end = usize::try_from((length - number * size).min(size)).unwrap();
        // Real input takes memory for each piece; clones of one block would take none.
        Ok::<_, std::io::Error>(block.slice(..end).to_vec().into())
    }));
    let sent = client.send_stream(&queue, Payload::from_stream(pieces)).send().await.unwrap();
    assert_eq!(sent.length, length);
    let mut body = client.receive(&queue).lazy().send().await.unwrap()[0].body_stream().await.unwrap();
    let mut received = 0;
    while let Some(piece) = body.next().await {
        received += piece.unwrap().len() as u64;
    }
    assert_eq!(received, length);
    println!("\nresident KiB: {before} then {}", resident("VmHWM"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the child process of a test above, which starts it"]
async fn child_process_consumes_ten_payloads() {
    let Some((url, length, budget)) = arguments() else { return };
    let length = usize::try_from(length).unwrap();
    let server = MockSqs::in_process();
    let mut builder = ExtendedClient::builder(server.client(), S3Store::new(client(&url), BUCKET));
    if let Some(budget) = budget {
        builder = builder.memory_budget(budget);
    }
    let client = builder.build().unwrap();
    client.create_queue().queue_name("dead").send().await.unwrap();
    let queue = client.create_queue().queue_name("q");
    let policy = r#"{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":"3"}"#;
    let queue = queue.attributes(QueueAttributeName::RedrivePolicy, policy);
    let queue = queue.send().await.unwrap().queue_url.unwrap();
    let block = sink::block();
    for _ in 0..10 {
        let (block, rest) = (block.clone(), length);
        let pieces = (0..length.div_ceil(sink::BLOCK)).map(move |number| {
            Ok::<_, std::io::Error>(block.slice(..(rest - number * sink::BLOCK).min(sink::BLOCK)))
        });
        client.send_stream(&queue, Payload::from_stream(stream::iter(pieces))).send().await.unwrap();
    }
    let (before, handled) = (resident("VmRSS"), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&handled);
    // The end of the run awaits the last receive.
    let consumer = Consumer::builder(client.clone(), &queue).wait_time(Duration::from_secs(1));
    let consumer = consumer.message_handler(move |message, _| {
        assert_eq!(message.body().map(str::len), Some(length));
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(Outcome::Ack) }
    });
    let emptied = async {
        while !server.queue("q").bodies().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let report = consumer.build().unwrap().run_until(emptied).await.unwrap();
    assert_eq!((handled.load(Ordering::Relaxed), report.stats.received), (10, 10), "{:?}", report.stats);
    assert!(server.queue("dead").bodies().is_empty());
    println!("\nresident KiB: {before} then {}", resident("VmHWM"));
}
