//! Run with: `cargo run -p quickstart`
//!
//! Sends messages with attributes to a standard and a FIFO queue, and receives them. The client verifies the MD5 digests of
//! bodies and attributes on send and on receive.

use std::collections::BTreeMap;
use std::error::Error;

use sqs_client::Client;
use sqs_client::types::{Message, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName};
use sqs_mock_server::MockSqs;

const HELP: &str = "\
Sends messages with attributes to a standard and a FIFO queue and receives them. The client verifies all MD5 digests.

It starts an embedded server, unless AWS_ENDPOINT_URL_SQS names another.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).is_some() {
        println!("{HELP}");
        return Ok(());
    }
    let (client, _server) = connect().await?;

    println!("\nA standard queue delivers at least once, in any order.");
    let created = client.create_queue().queue_name(fresh("quickstart")).send().await?;
    send_and_receive(&client, created.queue_url().unwrap_or_default(), None).await?;

    println!("\nA FIFO queue delivers exactly once, in order within a message group.");
    let created = client
        .create_queue()
        .queue_name(fresh("quickstart.fifo"))
        .attributes(QueueAttributeName::FifoQueue, "true")
        .attributes(QueueAttributeName::ContentBasedDeduplication, "true")
        .send()
        .await?;
    send_and_receive(&client, created.queue_url().unwrap_or_default(), Some("customer-7")).await?;

    println!("\nDone. Next: cargo run --example fifo");
    Ok(())
}

/// A client, and the embedded server, which stops when it is dropped.
async fn connect() -> Result<(Client, Option<MockSqs>), Box<dyn Error>> {
    if let Some(url) = std::env::var("AWS_ENDPOINT_URL_SQS").ok().filter(|url| !url.is_empty()) {
        println!("server     {url} (set by AWS_ENDPOINT_URL_SQS)");
        return Ok((Client::from_env()?, None));
    }
    let server = MockSqs::start().await;
    println!("server     {} (embedded; set AWS_ENDPOINT_URL_SQS for another)", server.endpoint_url());
    let mut config = server.client_config();
    // Over HTTP, as in production: `server.client()` uses no socket.
    config.set_transport(None);
    Ok((Client::from_conf(config.build()), Some(server)))
}

/// A queue name that no earlier run had. SQS rejects the name of a deleted queue for a minute.
fn fresh(name: &str) -> String {
    format!("{}-{name}", std::process::id())
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
