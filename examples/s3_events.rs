//! Run with: `cargo run --example s3_events`
//!
//! A bucket announces uploads in a queue: S3 sends an event for each new object with a key like `in/*.csv`. The consumer
//! reads the object that the event names.

use std::error::Error;

use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{
    Event, FilterRule, FilterRuleName, NotificationConfiguration, NotificationConfigurationFilter,
    QueueConfiguration, S3KeyFilter,
};
use serde_json::{Value, json};
use sqs_client::Client;
use sqs_client::types::QueueAttributeName;

const HELP: &str = "\
Uploads objects, and reads those that an event in a queue announces.

AWS_ENDPOINT_URL_S3 and BUCKET must name a bucket of the other server, too. Without them, an embedded server is used.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, s3, bucket, _server) = sqs_examples::connect_with_s3_events().await?;
    let created = client.create_queue().queue_name(sqs_examples::fresh("uploads")).send().await?;
    let queue = client.queue(created.queue_url().unwrap_or_default());
    let arn = allow_s3(&client, queue.url(), &bucket).await?;
    s3.put_bucket_notification_configuration()
        .bucket(&bucket)
        .notification_configuration(configuration(&arn)?)
        .send()
        .await?;

    for (key, body) in [("in/lunch.txt", "not announced"), ("in/lunch.csv", "dish,price\nsoup,7\n")] {
        s3.put_object()
            .bucket(&bucket)
            .key(key)
            .body(ByteStream::from_static(body.as_bytes()))
            .send()
            .await?;
        println!("uploaded   {key}");
    }

    let mut is_done = false;
    while !is_done {
        let received = queue.receive().wait_time_seconds(20).send().await?;
        if received.messages().is_empty() {
            return Err("no event arrived in 20 seconds".into());
        }
        for message in received.messages() {
            let body: Value = serde_json::from_str(message.body().unwrap_or_default())?;
            // S3 also sends a test message without records.
            for record in body["Records"].as_array().into_iter().flatten() {
                // Keys are encoded as in HTML forms. This one has no special characters.
                let key = record["s3"]["object"]["key"].as_str().ok_or("the event has no key")?;
                println!("event      {} {key}", record["eventName"].as_str().unwrap_or("-"));
                let object = s3.get_object().bucket(&bucket).key(key).send().await?;
                let bytes = object.body.collect().await?.to_vec();
                println!("read       {:?}", String::from_utf8_lossy(&bytes));
                is_done = true;
            }
            queue.delete(message).send().await?;
        }
    }
    let nothing = NotificationConfiguration::builder().build();
    s3.put_bucket_notification_configuration()
        .bucket(&bucket)
        .notification_configuration(nothing)
        .send()
        .await?;
    client.delete_queue().queue_url(queue.url()).send().await?;
    Ok(())
}

/// Lets the bucket send to the queue, as AWS requires, and returns the ARN of the queue.
async fn allow_s3(client: &Client, url: &str, bucket: &str) -> Result<String, Box<dyn Error>> {
    let name = QueueAttributeName::QueueArn;
    let described = client.get_queue_attributes().queue_url(url).attribute_names(name.clone()).send().await?;
    let arn = described.attributes().and_then(|all| all.get(&name)).ok_or("the queue has no ARN")?.clone();
    let policy = json!({
        "Version": "2012-10-17",
        "Statement": {
            "Effect": "Allow",
            "Principal": { "Service": "s3.amazonaws.com" },
            "Action": "sqs:SendMessage",
            "Resource": arn,
            "Condition": { "ArnEquals": { "aws:SourceArn": format!("arn:aws:s3:::{bucket}") } },
        },
    });
    client
        .set_queue_attributes()
        .queue_url(url)
        .attributes(QueueAttributeName::Policy, policy.to_string())
        .send()
        .await?;
    Ok(arn)
}

/// Sends events of new objects with keys like `in/*.csv` to a queue.
fn configuration(queue_arn: &str) -> Result<NotificationConfiguration, Box<dyn Error>> {
    let rule = |name, value: &str| FilterRule::builder().name(name).value(value).build();
    let keys = S3KeyFilter::builder()
        .filter_rules(rule(FilterRuleName::Prefix, "in/"))
        .filter_rules(rule(FilterRuleName::Suffix, ".csv"));
    let queue = QueueConfiguration::builder()
        .queue_arn(queue_arn)
        .events(Event::from("s3:ObjectCreated:*"))
        .filter(NotificationConfigurationFilter::builder().key(keys.build()).build());
    Ok(NotificationConfiguration::builder().queue_configurations(queue.build()?).build())
}
