//! Run with: `cargo run --example long_polling`
//!
//! A short poll asks and goes; a long poll waits at the server and is answered the moment a message arrives.

use std::error::Error;
use std::time::Duration;

use tokio::time::{Instant, sleep};

const HELP: &str = "\
Shows a short poll, a long poll that a message ends, and one that waits in vain. Takes three seconds.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let created = client.create_queue().queue_name(sqs_examples::fresh("bell")).send().await?;
    let queue = client.queue(created.queue_url().unwrap_or_default());

    println!("\nA short poll of an empty queue:");
    let asked = Instant::now();
    let received = queue.receive().wait_time_seconds(0).send().await?;
    println!("received   {} messages after {:.1?}", received.messages().len(), asked.elapsed());

    println!("\nA long poll, and a message that comes a second later:");
    let ringer = queue.clone();
    let ring = tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        ringer.send("ding dong").send().await.map(|_| Instant::now())
    });
    let asked = Instant::now();
    let received = queue.receive().wait_time_seconds(20).send().await?;
    let arrived = Instant::now();
    let sent = ring.await??;
    println!("received   {} message after {:.1?}", received.messages().len(), asked.elapsed());
    println!("           within {:.1?} of the answer to its send", arrived.saturating_duration_since(sent));
    for message in received.messages() {
        queue.delete(message).send().await?;
    }

    println!("\nA long poll that waits in vain ends empty, not with an error:");
    let asked = Instant::now();
    let received = queue.receive().wait_time_seconds(1).send().await?;
    println!("received   {} messages after {:.1?}", received.messages().len(), asked.elapsed());
    client.delete_queue().queue_url(queue.url()).send().await?;
    Ok(())
}
