//! Run with: `cargo run --example durable_queues`
//!
//! A server with a data directory ends, and the next one has its queues: the message that was received before is still
//! in flight, and its receipt handle still deletes it.

use std::error::Error;
use std::path::Path;

use sqs_client::Client;
use sqs_mock_server::{Data, Durability, MockSqs};

const HELP: &str = "\
Starts a server with a data directory, sends and receives, and starts another server on the same directory.
Because it restarts them, it ignores the variables below. With the binary: sqs-mock-server --data DIR";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let directory = tempfile::tempdir()?;

    let (server, client) = start(directory.path()).await?;
    let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap_or_default();
    for body in ["soup", "bread"] {
        // The response comes when the message is stored, also if the process is killed right after it.
        client.send_message().queue_url(&url).message_body(body).send().await?;
    }
    let received = client.receive_message().queue_url(&url).send().await?.messages.unwrap_or_default();
    let message = received.first().ok_or("no message")?;
    println!("received   {}", message.body.as_deref().unwrap_or_default());
    server.shutdown().await;

    let (server, client) = start(directory.path()).await?;
    let url = server.queue_url("orders");
    let counts = server.queue("orders").counts().ok_or("the queue is gone")?;
    println!("restored   {} in flight, {} available", counts.in_flight, counts.available);
    let handle = message.receipt_handle.as_deref().unwrap_or_default();
    client.delete_message().queue_url(&url).receipt_handle(handle).send().await?;
    println!("deleted    the message that was received before the restart");
    println!("left       {}", server.queue("orders").bodies().join(", "));
    server.shutdown().await;
    Ok(())
}

/// A server whose changes also survive the loss of power, and a client.
async fn start(directory: &Path) -> Result<(MockSqs, Client), Box<dyn Error>> {
    let data = Data::new(directory).durability(Durability::Power);
    let file = data.file();
    let server = MockSqs::builder().data_dir(data).start().await?;
    println!("server     {}, {}", server.endpoint_url(), file.display());
    let client = server.client();
    Ok((server, client))
}
