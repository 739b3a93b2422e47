//! Run with: `cargo run --example quickstart`
//!
//! Sends messages with attributes to a standard and a FIFO queue, and receives them. The client verifies the MD5 digests of
//! bodies and attributes on send and on receive.

use std::collections::BTreeMap;
use std::error::Error;

use sqs_client::Client;
use sqs_client::types::{Message, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName};

const HELP: &str = "\
Sends messages with attributes to a standard and a FIFO queue and receives them. The client verifies all MD5 digests.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;

    println!("\nA standard queue delivers at least once, in any order.");
    let created = client.create_queue().queue_name(sqs_examples::fresh("quickstart")).send().await?;
    send_and_receive(&client, created.queue_url().unwrap_or_default(), None).await?;

    println!("\nA FIFO queue delivers exactly once, in order within a message group.");
    let created = client
        .create_queue()
        .queue_name(sqs_examples::fresh("quickstart.fifo"))
        .attributes(QueueAttributeName::FifoQueue, "true")
        .attributes(QueueAttributeName::ContentBasedDeduplication, "true")
        .send()
        .await?;
    send_and_receive(&client, created.queue_url().unwrap_or_default(), Some("customer-7")).await?;

    println!("\nDone. Next: cargo run --example fifo");
    Ok(())
}

async fn send_and_receive(client: &Client, url: &str, group: Option<&str>) -> Result<(), Box<dyn Error>> {
    println!("queue      {url}");
    let queue = client.queue(url);
    for (number, fruit) in ["apple", "pear", "plum"].into_iter().enumerate() {
        let sent = queue
            .send(format!("one {fruit}, please"))
            .message_attributes("fruit", MessageAttributeValue::string(fruit))
            .message_attributes("number", MessageAttributeValue::number(number + 1))
            .message_attributes("raw", MessageAttributeValue::binary([0xca, 0xfe]))
            .set_message_group_id(group.map(str::to_owned))
            .send()
            .await?;
        println!("sent       {} md5 {}", text(sent.message_id()), text(sent.md5_of_message_body()));
    }

    let mut remaining = 3;
    while remaining > 0 {
        let received = queue.receive().send().await?;
        for message in received.messages() {
            show(message);
            queue.delete(message).send().await?;
            remaining -= 1;
        }
    }
    client.delete_queue().queue_url(url).send().await?;
    println!("deleted    the messages and the queue");
    Ok(())
}

fn show(message: &Message) {
    println!("received   {:?} md5 {}", text(message.body()), text(message.md5_of_body()));
    let attributes: BTreeMap<_, _> = message.message_attributes().into_iter().flatten().collect();
    for (name, value) in attributes {
        let bytes = value.binary_value().map(|blob| format!("{:02x?}", blob.as_ref()));
        let shown = value.string_value().map(str::to_owned).or(bytes).unwrap_or_default();
        println!("             {name}: {} = {shown}", value.data_type());
    }
    let order = message.attributes().and_then(|all| all.get(&MessageSystemAttributeName::SequenceNumber));
    if let Some(order) = order {
        println!("             sequence number {order}");
    }
}

fn text(value: Option<&str>) -> &str {
    value.unwrap_or("-")
}
