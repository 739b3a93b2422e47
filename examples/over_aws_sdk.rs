//! Run with: `cargo run --example over_aws_sdk`
//!
//! Runs a buffered producer and a consumer over `aws_sdk_sqs::Client`, for programs that already use the AWS SDK.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use sqs_buffered::{BufferedClient, Consumer, Entry, Outcome};
use tokio::sync::Semaphore;

const ORDERS: u32 = 100;

const HELP: &str = "\
Runs a buffered producer and a consumer over the client of aws-sdk-sqs.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, _server) = sqs_examples::connect().await?;
    let sqs = aws_client(client.config().endpoint_url());
    let created = sqs.create_queue().queue_name(sqs_examples::fresh("over-aws-sdk")).send().await?;
    let url = created.queue_url.ok_or("the response has no queue URL")?;

    let producer = BufferedClient::new(sqs.clone());
    for number in 1..=ORDERS {
        // The ticket resolves to the result of this message. This example needs only the statistics.
        drop(producer.enqueue(Entry::new(&url, format!("order {number}"))).await?);
    }
    producer.close().await;
    let sent = producer.stats();
    println!("sent       {} messages in {} requests, {} failed", sent.succeeded, sent.batches, sent.failed);

    let done = Arc::new(Semaphore::new(0));
    let handled = Arc::clone(&done);
    let consumer = Consumer::builder(sqs.clone(), &url)
        .concurrency(16)
        .message_handler(move |_message, _lease| {
            let handled = Arc::clone(&handled);
            async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                handled.add_permits(1);
                Ok(Outcome::Ack)
            }
        })
        .build()?;
    let report = consumer.run_until(done.acquire_many(ORDERS)).await?;
    println!("received   {} in {} receives", report.stats.received, report.stats.receives);
    println!("handled    {}, failed {}", report.stats.acked, report.stats.failed);

    // The error type is the same for every client.
    let producer = BufferedClient::new(sqs.clone());
    let result = producer.send(url.replace("over-aws-sdk", "no-such-queue"), "hello").await;
    let error = result.err().ok_or("the send to a missing queue succeeded")?;
    println!("error      {}", error.code().unwrap_or_default());

    sqs.delete_queue().queue_url(&url).send().await?;
    Ok(())
}

/// This build omits the TLS client of the AWS SDK to save time. In your program, use
/// `aws_sdk_sqs::Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await)`.
fn aws_client(endpoint: Option<&str>) -> aws_sdk_sqs::Client {
    let variable = |name, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let (key, secret) = (variable("AWS_ACCESS_KEY_ID", "test"), variable("AWS_SECRET_ACCESS_KEY", "test"));
    let mut config = aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .region(Region::new(variable("AWS_REGION", "us-east-1")))
        .credentials_provider(Credentials::new(
            key,
            secret,
            std::env::var("AWS_SESSION_TOKEN").ok(),
            None,
            "environment",
        ));
    config.set_endpoint_url(endpoint.map(str::to_owned));
    aws_sdk_sqs::Client::from_conf(config.build())
}
