//! Run with: `cargo run --example long_polling`
//!
//! Compares short and long polling. A short poll returns at once; a long poll waits at the server until a message arrives.

use std::error::Error;
use std::time::Duration;

use tokio::time::{Instant, sleep};

const HELP: &str = "\
Compares a short poll, a long poll that receives a message, and a long poll that times out. Takes three seconds.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let created = client.create_queue().queue_name(sqs_examples::fresh("polling")).send().await?;
    let queue = client.queue(created.queue_url().unwrap_or_default());

    println!("\nA short poll of an empty queue:");
    let start = Instant::now();
    let received = queue.receive().wait_time_seconds(0).send().await?;
    println!("received   {} messages after {:.1?}", received.messages().len(), start.elapsed());

    println!("\nA long poll, and a message sent one second later:");
    let sender = queue.clone();
    let sending = tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        sender.send("hello").send().await.map(|_| Instant::now())
    });
    let start = Instant::now();
    let received = queue.receive().wait_time_seconds(20).send().await?;
    let arrived = Instant::now();
    let sent = sending.await??;
    println!("received   {} message after {:.1?}", received.messages().len(), start.elapsed());
    println!("           {:.1?} after the send completed", arrived.saturating_duration_since(sent));
    for message in received.messages() {
        queue.delete(message).send().await?;
    }

    println!("\nA long poll that times out returns no messages and no error:");
    let start = Instant::now();
    let received = queue.receive().wait_time_seconds(1).send().await?;
    println!("received   {} messages after {:.1?}", received.messages().len(), start.elapsed());
    client.delete_queue().queue_url(queue.url()).send().await?;
    Ok(())
}
