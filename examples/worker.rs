//! Run with: `cargo run --example worker`
//!
//! Runs a consumer with concurrent handlers, a retry, a job longer than the visibility timeout, and a dead letter. It shuts
//! down gracefully, by itself or on ctrl-c.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use sqs_buffered::{BackOff, Consumer, Outcome};
use sqs_client::Client;
use sqs_client::types::{MessageSystemAttributeName, QueueAttributeName};
use tokio::sync::Semaphore;

const ORDERS: u32 = 30;

const HELP: &str = "\
Runs a consumer with concurrent handlers, a retry, a long job, a dead letter and a graceful shutdown.
Ends by itself or on ctrl-c.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let (orders, dead_letters) = queues(&client).await?;
    for number in 1..=ORDERS {
        let body = if number == 13 { "not an order".to_owned() } else { format!("order {number}") };
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
                    return Ok(Outcome::DeadLetter("the body is not an order".to_owned()));
                };
                let number: u32 = order.parse()?;
                let attributes = message.attributes().ok_or("no attributes")?;
                let receive_count = &attributes[&MessageSystemAttributeName::ApproximateReceiveCount];
                if number == 7 && receive_count == "1" {
                    println!("order {number}    fails and is retried in a second");
                    return Err("out of stock".into());
                }
                // The first order takes twice the visibility timeout. The consumer renews its lease meanwhile.
                let work = Duration::from_millis(if number == 1 { 4_000 } else { 50 });
                tokio::select! {
                    () = tokio::time::sleep(work) => {}
                    () = lease.lost() => return Err("the lease is lost: another consumer may receive the order".into()),
                }
                finished.add_permits(1);
                Ok(Outcome::Ack)
            }
        })
        .build()?;

    let shutdown = async {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => println!("\nctrl-c: waiting for running handlers"),
            _ = done.acquire_many(ORDERS) => println!("\nall orders are done"),
        }
    };
    let report = consumer.run_until(shutdown).await?;
    let stats = report.stats;
    println!(
        "received   {} in {} receives, {} of them empty",
        stats.received, stats.receives, stats.empty_receives
    );
    println!("done       {}, failed {}, dead letters {}", stats.acked, stats.failed, stats.dead_lettered);
    println!("released   {}, leases lost {}", stats.returned, stats.leases_lost);

    client.delete_queue().queue_url(&orders).send().await?;
    client.delete_queue().queue_url(&dead_letters).send().await?;
    Ok(())
}

/// Creates the queue of orders and its dead-letter queue.
async fn queues(client: &Client) -> Result<(String, String), Box<dyn Error>> {
    let dead_letters = client.create_queue().queue_name(sqs_examples::fresh("failed-orders")).send().await?;
    let dead_letters = dead_letters.queue_url.ok_or("the response has no queue URL")?;
    let request =
        client.get_queue_attributes().queue_url(&dead_letters).attribute_names(QueueAttributeName::QueueArn);
    let arn = request.send().await?.attributes.and_then(|mut all| all.remove(&QueueAttributeName::QueueArn));
    let policy = format!(
        r#"{{"deadLetterTargetArn":"{}","maxReceiveCount":"5"}}"#,
        arn.ok_or("the queue has no ARN")?
    );
    let create = client.create_queue().queue_name(sqs_examples::fresh("orders"));
    let orders = create.attributes(QueueAttributeName::RedrivePolicy, policy).send().await?;
    Ok((orders.queue_url.ok_or("the response has no queue URL")?, dead_letters))
}
