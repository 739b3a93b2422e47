//! Run with: `cargo run --example worker`
//!
//! Shows a consumer at work: handlers side by side, one that fails and is tried again, one that takes longer than the
//! visibility timeout, one message that is known to be bad, and an end that leaves nothing hidden. Ends by itself or on
//! ctrl-c.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use sqs_buffered::{BackOff, Consumer, Outcome};
use sqs_client::Client;
use sqs_client::types::{MessageSystemAttributeName, QueueAttributeName};
use tokio::sync::Semaphore;

const ORDERS: u32 = 30;

const HELP: &str = "\
Shows a consumer at work: handlers side by side, retries, a long job, a dead letter, and an end that leaves nothing hidden.
Ends by itself or on ctrl-c.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let (orders, bad) = queues(&client).await?;
    for number in 1..=ORDERS {
        let body = if number == 13 { "gibberish".to_owned() } else { format!("order {number}") };
        client.send_message().queue_url(&orders).message_body(body).send().await?;
    }

    let done = Arc::new(Semaphore::new(0));
    let finished = Arc::clone(&done);
    let consumer = Consumer::builder(client.clone(), &orders)
        .concurrency(8)
        .prefetch(8)
        .visibility_timeout(Duration::from_secs(2))
        .wait_time(Duration::from_secs(1))
        .back_off(BackOff::Fixed(Duration::from_secs(1)))
        .message_handler(move |message, lease| {
            let finished = Arc::clone(&finished);
            async move {
                let Some(order) = message.body().and_then(|body| body.strip_prefix("order ")) else {
                    finished.add_permits(1);
                    return Ok(Outcome::DeadLetter("not an order".to_owned()));
                };
                let number: u32 = order.parse()?;
                let attributes = message.attributes().ok_or("no attributes")?;
                let count = &attributes[&MessageSystemAttributeName::ApproximateReceiveCount];
                if number == 7 && count == "1" {
                    println!("order {number}    fails, and comes again in a second");
                    return Err("out of milk".into());
                }
                // The first takes twice the visibility timeout: its lease is renewed meanwhile.
                let work = Duration::from_millis(if number == 1 { 4_000 } else { 50 });
                tokio::select! {
                    () = tokio::time::sleep(work) => {}
                    () = lease.lost() => return Err("somebody else has it".into()),
                }
                finished.add_permits(1);
                Ok(Outcome::Ack)
            }
        })
        .build()?;

    let end = async {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => println!("\nctrl-c: finishing what has begun"),
            _ = done.acquire_many(ORDERS) => println!("\nall orders are done"),
        }
    };
    let report = consumer.run_until(end).await?;
    let stats = report.stats;
    println!(
        "received   {} in {} receives, {} of them empty",
        stats.received, stats.receives, stats.empty_receives
    );
    println!("done       {}, failed {}, dead letters {}", stats.acked, stats.failed, stats.dead_lettered);
    println!("given back {}, leases lost {}", stats.returned, stats.leases_lost);

    client.delete_queue().queue_url(&orders).send().await?;
    client.delete_queue().queue_url(&bad).send().await?;
    Ok(())
}

/// A queue for orders, and one for what is none.
async fn queues(client: &Client) -> Result<(String, String), Box<dyn Error>> {
    let bad = client.create_queue().queue_name(sqs_examples::fresh("bad-orders")).send().await?;
    let bad = bad.queue_url.ok_or("a queue has a URL")?;
    let asked = client.get_queue_attributes().queue_url(&bad).attribute_names(QueueAttributeName::QueueArn);
    let arn = asked.send().await?.attributes.and_then(|mut all| all.remove(&QueueAttributeName::QueueArn));
    let policy = format!(r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":"5"}}"#, arn.ok_or("and an ARN")?);
    let create = client.create_queue().queue_name(sqs_examples::fresh("orders"));
    let orders = create.attributes(QueueAttributeName::RedrivePolicy, policy).send().await?;
    Ok((orders.queue_url.ok_or("a queue has a URL")?, bad))
}
