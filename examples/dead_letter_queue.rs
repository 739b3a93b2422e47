//! Run with: `cargo run --example dead_letter_queue`
//!
//! A message that nobody manages to process goes to a dead-letter queue after two receives, and comes back by a
//! move task once the reason is mended.

use std::error::Error;
use std::time::Duration;

use sqs_client::Client;
use sqs_client::client::Queue;
use sqs_client::types::{Message, MessageSystemAttributeName, QueueAttributeName};

const HELP: &str = "\
Shows how a message that nobody manages to process becomes a dead letter after two receives, and comes back by a move task.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let created = client.create_queue().queue_name(sqs_examples::fresh("jobs-dead")).send().await?;
    let dead = client.queue(created.queue_url().unwrap_or_default());
    let dead_arn = arn(&client, dead.url()).await?;
    let policy = format!(r#"{{"deadLetterTargetArn":"{dead_arn}","maxReceiveCount":2}}"#);
    let created = client
        .create_queue()
        .queue_name(sqs_examples::fresh("jobs"))
        .attributes(QueueAttributeName::RedrivePolicy, policy)
        .send()
        .await?;
    let jobs = client.queue(created.queue_url().unwrap_or_default());

    println!("\nA job that always fails:");
    jobs.send("divide by zero").send().await?;
    while let Some(job) = poll(&jobs).await? {
        println!("received   {:?} from jobs, receive number {}: fails", body(&job), count(&job));
        jobs.change_visibility(&job, Duration::ZERO).send().await?;
    }
    println!("received   nothing more from jobs");

    let letter = poll(&dead).await?.ok_or("the job is a dead letter")?;
    let attributes = letter.attributes();
    let source = attributes.and_then(|all| all.get(&MessageSystemAttributeName::DeadLetterQueueSourceArn));
    println!(
        "received   {:?} from jobs-dead; it came from {}",
        body(&letter),
        source.map_or("-", String::as_str)
    );
    dead.change_visibility(&letter, Duration::ZERO).send().await?;

    println!("\nBack to where it came from:");
    client.start_message_move_task().source_arn(&dead_arn).send().await?;
    let job = jobs.receive().send().await?.messages.unwrap_or_default().pop().ok_or("the job is back")?;
    println!("received   {:?} from jobs: done this time", body(&job));
    jobs.delete(&job).send().await?;
    let tasks = client.list_message_move_tasks().source_arn(&dead_arn).send().await?;
    for task in tasks.results() {
        let moved = task.approximate_number_of_messages_moved();
        println!("move task  {}, {moved} message moved", task.status().unwrap_or("-"));
    }
    client.delete_queue().queue_url(jobs.url()).send().await?;
    client.delete_queue().queue_url(dead.url()).send().await?;
    Ok(())
}

async fn arn(client: &Client, url: &str) -> Result<String, Box<dyn Error>> {
    let attributes =
        client.get_queue_attributes().queue_url(url).attribute_names(QueueAttributeName::QueueArn);
    let mut attributes = attributes.send().await?.attributes.unwrap_or_default();
    Ok(attributes.remove(&QueueAttributeName::QueueArn).ok_or("every queue has an ARN")?)
}

async fn poll(queue: &Queue<Client>) -> Result<Option<Message>, sqs_client::Error> {
    Ok(queue.receive().wait_time_seconds(0).send().await?.messages.unwrap_or_default().pop())
}

fn body(message: &Message) -> &str {
    message.body().unwrap_or_default()
}

fn count(message: &Message) -> &str {
    let attributes = message.attributes();
    attributes
        .and_then(|all| all.get(&MessageSystemAttributeName::ApproximateReceiveCount))
        .map_or("-", String::as_str)
}
