//! Run with: `cargo run --example dead_letter_queue`
//!
//! Moves a message to a dead-letter queue after two failed receives. A message move task returns it to its source queue.

use std::error::Error;
use std::time::Duration;

use sqs_client::Client;
use sqs_client::client::Queue;
use sqs_client::types::{Message, MessageSystemAttributeName, QueueAttributeName};

const HELP: &str = "\
Moves a message to a dead-letter queue after two failed receives, and returns it with a message move task.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let created = client.create_queue().queue_name(sqs_examples::fresh("failed-jobs")).send().await?;
    let dead_letters = client.queue(created.queue_url().unwrap_or_default());
    let dead_letter_arn = arn(&client, dead_letters.url()).await?;
    let policy = format!(r#"{{"deadLetterTargetArn":"{dead_letter_arn}","maxReceiveCount":2}}"#);
    let created = client
        .create_queue()
        .queue_name(sqs_examples::fresh("jobs"))
        .attributes(QueueAttributeName::RedrivePolicy, policy)
        .send()
        .await?;
    let jobs = client.queue(created.queue_url().unwrap_or_default());

    println!("\nA job fails twice:");
    jobs.send("divide by zero").send().await?;
    while let Some(job) = receive_one(&jobs).await? {
        println!("received   {:?} from jobs, receive count {}", body(&job), receive_count(&job));
        jobs.change_visibility(&job, Duration::ZERO).send().await?;
    }
    println!("received   no message from jobs");

    let failed = receive_one(&dead_letters).await?.ok_or("the dead-letter queue is empty")?;
    let attributes = failed.attributes();
    let source = attributes.and_then(|all| all.get(&MessageSystemAttributeName::DeadLetterQueueSourceArn));
    println!("received   {:?} from failed-jobs", body(&failed));
    println!("source     {}", source.map_or("-", String::as_str));
    dead_letters.change_visibility(&failed, Duration::ZERO).send().await?;

    println!("\nA message move task returns the job to its source queue:");
    client.start_message_move_task().source_arn(&dead_letter_arn).send().await?;
    let job =
        jobs.receive().send().await?.messages.unwrap_or_default().pop().ok_or("the job did not return")?;
    println!("received   {:?} from jobs", body(&job));
    jobs.delete(&job).send().await?;
    let tasks = client.list_message_move_tasks().source_arn(&dead_letter_arn).send().await?;
    for task in tasks.results() {
        let moved = task.approximate_number_of_messages_moved();
        println!("move task  {}, {moved} message(s) moved", task.status().unwrap_or("-"));
    }
    client.delete_queue().queue_url(jobs.url()).send().await?;
    client.delete_queue().queue_url(dead_letters.url()).send().await?;
    Ok(())
}

async fn arn(client: &Client, url: &str) -> Result<String, Box<dyn Error>> {
    let attributes =
        client.get_queue_attributes().queue_url(url).attribute_names(QueueAttributeName::QueueArn);
    let mut attributes = attributes.send().await?.attributes.unwrap_or_default();
    Ok(attributes.remove(&QueueAttributeName::QueueArn).ok_or("the queue has no ARN")?)
}

async fn receive_one(queue: &Queue<Client>) -> Result<Option<Message>, sqs_client::Error> {
    Ok(queue.receive().wait_time_seconds(0).send().await?.messages.unwrap_or_default().pop())
}

fn body(message: &Message) -> &str {
    message.body().unwrap_or_default()
}

fn receive_count(message: &Message) -> &str {
    let attributes = message.attributes();
    attributes
        .and_then(|all| all.get(&MessageSystemAttributeName::ApproximateReceiveCount))
        .map_or("-", String::as_str)
}
