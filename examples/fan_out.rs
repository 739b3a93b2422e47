//! Run with: `cargo run --example fan_out`
//!
//! Publishes orders to an SNS topic, which delivers them to three queues: all orders to the first, those over 100 to the
//! second, and those for Norway to the third.

use std::error::Error;

use aws_sdk_sns::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sns::types::MessageAttributeValue;
use serde_json::json;
use sqs_client::Client;
use sqs_client::types::QueueAttributeName;

const HELP: &str = "\
Publishes orders to an SNS topic, which delivers them to three queues with different filter policies.";

/// A queue and the filter policy of its subscription. Without a policy, it gets all messages.
const QUEUES: [(&str, Option<&str>); 3] = [
    ("all-orders", None),
    ("large-orders", Some(r#"{"total":[{"numeric":[">",100]}]}"#)),
    ("orders-to-norway", Some(r#"{"country":["NO"]}"#)),
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (sqs, _server) = sqs_examples::connect().await?;
    // SNS is on the port of SQS.
    let sns = sns_client(sqs.config().endpoint_url());
    let created = sns.create_topic().name(sqs_examples::fresh("orders")).send().await?;
    let topic = created.topic_arn().unwrap_or_default();

    let mut queues = Vec::new();
    for (name, filter_policy) in QUEUES {
        let (url, arn) = create_queue(&sqs, &sqs_examples::fresh(name), topic).await?;
        let subscribe = sns.subscribe().topic_arn(topic).protocol("sqs").endpoint(arn);
        let mut subscribe = subscribe.attributes("RawMessageDelivery", "true");
        if let Some(policy) = filter_policy {
            subscribe = subscribe.attributes("FilterPolicy", policy);
        }
        subscribe.send().await?;
        println!("subscribed {name}, filter policy: {}", filter_policy.unwrap_or("none"));
        queues.push((name, url));
    }

    println!("\nThree orders:");
    for (order, country, total) in [("tea", "NO", "12.50"), ("boat", "NO", "4200"), ("lamp", "SE", "250")] {
        sns.publish()
            .topic_arn(topic)
            .message(order)
            .message_attributes("country", attribute("String", country)?)
            .message_attributes("total", attribute("Number", total)?)
            .send()
            .await?;
        println!("published  {order} to {country} for {total}");
    }

    println!("\nEach queue has its share:");
    for (name, url) in &queues {
        let receive = sqs.receive_message().queue_url(url).max_number_of_messages(10).wait_time_seconds(1);
        let received = receive.send().await?;
        let orders: Vec<_> = received.messages().iter().filter_map(|message| message.body()).collect();
        println!("{name:<17}{}", orders.join(", "));
        sqs.delete_queue().queue_url(url).send().await?;
    }
    sns.delete_topic().topic_arn(topic).send().await?;
    Ok(())
}

/// Creates a queue with a policy that lets the topic send to it, and returns its URL and ARN.
async fn create_queue(sqs: &Client, name: &str, topic: &str) -> Result<(String, String), Box<dyn Error>> {
    let policy = json!({
        "Version": "2012-10-17",
        "Statement": [{
            "Effect": "Allow",
            "Principal": { "Service": "sns.amazonaws.com" },
            "Action": "sqs:SendMessage",
            "Resource": "*",
            "Condition": { "ArnEquals": { "aws:SourceArn": topic } },
        }],
    });
    let create = sqs.create_queue().queue_name(name);
    let created = create.attributes(QueueAttributeName::Policy, policy.to_string()).send().await?;
    let url = created.queue_url.unwrap_or_default();
    let get = sqs.get_queue_attributes().queue_url(&url).attribute_names(QueueAttributeName::QueueArn);
    let attributes = get.send().await?.attributes.unwrap_or_default();
    let arn = attributes.get(&QueueAttributeName::QueueArn).cloned().unwrap_or_default();
    Ok((url, arn))
}

fn attribute(data_type: &str, value: &str) -> Result<MessageAttributeValue, Box<dyn Error>> {
    Ok(MessageAttributeValue::builder().data_type(data_type).string_value(value).build()?)
}

/// This build omits the TLS client of the AWS SDK to save time. In your program, use
/// `aws_sdk_sns::Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await)`.
fn sns_client(endpoint: Option<&str>) -> aws_sdk_sns::Client {
    let variable = |name, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let (key, secret) = (variable("AWS_ACCESS_KEY_ID", "test"), variable("AWS_SECRET_ACCESS_KEY", "test"));
    let token = std::env::var("AWS_SESSION_TOKEN").ok();
    let mut config = aws_sdk_sns::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .region(Region::new(variable("AWS_REGION", "us-east-1")))
        .credentials_provider(Credentials::new(key, secret, token, None, "environment"));
    config.set_endpoint_url(endpoint.map(str::to_owned));
    aws_sdk_sns::Client::from_conf(config.build())
}
