//! Run with: `cargo run --example buffered_and_extended`
//!
//! Combines both layers: a `BufferedClient` over an `ExtendedClient` sends messages in batches, large bodies through S3. A
//! `Consumer` over the same client restores the bodies, and deletes each object with its message.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqs_buffered::{BufferedClient, Consumer, Entry, Outcome};
use sqs_extended::{ExtendedClient, S3Store};

const HELP: &str = "\
Sends small and large messages in batches, large bodies through S3, and consumes them.

  --messages COUNT   number of messages (default: 1000); every tenth is large
  --kibibytes COUNT  size of a large body (default: 400)
  --help             print this help

AWS_ENDPOINT_URL_S3 and BUCKET select another S3 server and a bucket.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = [("--messages", 1000), ("--kibibytes", 400)];
    let Some([messages, kibibytes]) = sqs_examples::numbers(HELP, options)? else { return Ok(()) };
    let (client, s3, bucket, _server) = sqs_examples::connect_with_s3().await?;
    let client = ExtendedClient::new(client, S3Store::new(s3, bucket));
    let created = client.create_queue().queue_name(sqs_examples::fresh("orders")).send().await?;
    let url = created.queue_url.unwrap_or_default();

    // Bodies may exceed the limit of SQS, because the extended client stores large ones in S3.
    let buffered = BufferedClient::builder(client.clone()).max_message_bytes(64 << 20).build()?;
    let large = "x".repeat(kibibytes << 10);
    for number in 0..messages {
        let body = if number % 10 == 0 { large.clone() } else { format!("order {number}") };
        drop(buffered.enqueue(Entry::new(&url, body)).await?);
    }
    buffered.flush().await;
    let (sends, payloads) = (buffered.stats(), client.stats());
    println!(
        "sent       {} messages in {} requests, {} through S3",
        sends.succeeded, sends.batches, payloads.uploads
    );

    let (remaining, bytes) = (Arc::new(AtomicUsize::new(messages)), Arc::new(AtomicUsize::new(0)));
    let (count, sum) = (Arc::clone(&remaining), Arc::clone(&bytes));
    let consumer = Consumer::builder_with(&buffered, &url)
        .concurrency(32)
        .wait_time(Duration::from_secs(1))
        .message_handler(move |message, _lease| {
            sum.fetch_add(message.body().unwrap_or_default().len(), Ordering::Relaxed);
            count.fetch_sub(1, Ordering::Relaxed);
            async { Ok(Outcome::Ack) }
        })
        .build()?;
    let all_handled = async {
        while remaining.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let report = consumer.run_until(all_handled).await?;
    client.finish_cleanup().await;
    let payloads = client.stats();
    println!("received   {} messages, {} KiB", report.stats.acked, bytes.load(Ordering::Relaxed) >> 10);
    println!(
        "payloads   {} downloaded, {} deleted with their messages",
        payloads.downloads, payloads.objects_deleted
    );
    client.delete_queue().queue_url(&url).send().await?;
    Ok(())
}
