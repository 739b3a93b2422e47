//! Run with: `cargo run --example buffered_producer -- --messages 20000`
//!
//! Sends many messages through a `BufferedClient` and shows the rate and the mean batch size. For comparison, it then sends
//! a tenth of them one by one.

use std::error::Error;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use sqs_buffered::{BufferedClient, Entry, SendStats};
use sqs_client::Client;

const HELP: &str = "\
Sends messages in background batches, and then a tenth of them one by one.

  --messages COUNT   number of messages (default: 20000)
  --bytes COUNT      size of each body (default: 1024)
  --help             print this help";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some([messages, bytes]) = sqs_examples::numbers(HELP, [("--messages", 20_000), ("--bytes", 1024)])?
    else {
        return Ok(());
    };
    let (client, _server) = sqs_examples::connect().await?;
    let created = client.create_queue().queue_name(sqs_examples::fresh("producer")).send().await?;
    let url = created.queue_url.unwrap_or_default();
    let body = "x".repeat(bytes.max(1));

    let buffered = BufferedClient::new(client.clone());
    let start = now();
    let progress = tokio::spawn(show_progress(buffered.clone(), messages, start));
    for _ in 0..messages {
        // Waits for capacity only. To get the result of each message, use `enqueue` and await its ticket.
        buffered.send_detached(Entry::new(&url, &body)).await?;
    }
    let summary = buffered.flush().await;
    if summary.failed() > 0 {
        eprintln!("failed: {:?}", summary.failures);
    }
    let took = start.elapsed();
    progress.abort();
    let stats = buffered.stats();
    print_progress(&stats, messages, took);
    println!(
        "\n\nin batches {} messages in {} requests, {:.1} per batch",
        stats.succeeded,
        stats.batches,
        stats.mean_fill()
    );
    println!("           {} failed, {} retried", stats.failed, stats.retried_entries);
    println!("           {:.0} messages/s", rate(messages, took));

    let few = messages / 10;
    let took = one_by_one(&client, &url, &body, few).await?;
    println!("one by one {:.0} messages/s", rate(few, took));
    client.delete_queue().queue_url(&url).send().await?;
    Ok(())
}

async fn one_by_one(
    client: &Client,
    url: &str,
    body: &str,
    count: usize,
) -> Result<Duration, sqs_client::Error> {
    let start = now();
    for _ in 0..count {
        client.send_message().queue_url(url).message_body(body).send().await?;
    }
    Ok(start.elapsed())
}

/// Prints the progress ten times a second.
async fn show_progress(buffered: BufferedClient, messages: usize, start: Instant) {
    while std::io::stdout().is_terminal() {
        tokio::time::sleep(Duration::from_millis(100)).await;
        print_progress(&buffered.stats(), messages, start.elapsed());
    }
}

fn print_progress(stats: &SendStats, messages: usize, took: Duration) {
    let done = usize::try_from(stats.succeeded).unwrap_or(messages);
    let bar = "#".repeat(done * 30 / messages.max(1));
    let rate = rate(done, took);
    print!(
        "\r[{bar:30}] {done:>8}  {rate:>8.0}/s  {:>4.1} per batch  {:>6} pending",
        stats.mean_fill(),
        stats.entries
    );
    // An error means that standard output is closed.
    let _ = std::io::stdout().flush();
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(1e-9)
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}
