//! Run with: `cargo run --example fifo`
//!
//! Shows the guarantees of a FIFO queue: order within a message group, independent groups, and deduplication. A group is
//! locked while one of its messages is in flight.

use std::error::Error;
use std::time::Duration;

use sqs_client::types::{Message, MessageSystemAttributeName, QueueAttributeName};

const HELP: &str = "\
Shows the guarantees of a FIFO queue: order within a message group, independent groups, and deduplication.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let created = client
        .create_queue()
        .queue_name(sqs_examples::fresh("accounts.fifo"))
        .attributes(QueueAttributeName::FifoQueue, "true")
        .send()
        .await?;
    let queue = client.queue(created.queue_url().unwrap_or_default());

    println!("\nTwo customers send three orders each. The second order is sent twice:");
    for order in ["1st", "2nd", "2nd", "3rd"] {
        for customer in ["ada", "bob"] {
            let body = format!("{customer}'s {order} order");
            let id = format!("{customer}-{order}");
            let sent =
                queue.send(&body).message_group_id(customer).message_deduplication_id(id).send().await?;
            println!("sent       {body:16} sequence number {}", sent.sequence_number().unwrap_or("-"));
        }
    }

    println!("\nA receive locks the group of its message until the message is deleted:");
    let first = receive_one(&queue).await?.ok_or("the queue returned no message")?;
    let other = receive_one(&queue).await?.ok_or("the queue returned no message of another group")?;
    println!("received   {:?}, then {:?} of another group", body(&first), body(&other));
    let none = receive_one(&queue).await?;
    println!("received   {:?}: both groups are locked", none.as_ref().map(body));

    println!("\nA released message keeps its place in the group:");
    queue.change_visibility(&first, Duration::ZERO).send().await?;
    queue.delete(&other).send().await?;
    while let Some(message) = receive_one(&queue).await? {
        println!("received   {:?} of {}", body(&message), group(&message));
        queue.delete(&message).send().await?;
    }
    client.delete_queue().queue_url(queue.url()).send().await?;
    Ok(())
}

async fn receive_one(
    queue: &sqs_client::client::Queue<sqs_client::Client>,
) -> Result<Option<Message>, sqs_client::Error> {
    let received = queue.receive().max_number_of_messages(1).wait_time_seconds(0).send().await?;
    Ok(received.messages.unwrap_or_default().pop())
}

fn body(message: &Message) -> &str {
    message.body().unwrap_or_default()
}

fn group(message: &Message) -> &str {
    let attributes = message.attributes();
    attributes
        .and_then(|all| all.get(&MessageSystemAttributeName::MessageGroupId))
        .map_or("-", String::as_str)
}
