//! Shared setup of the examples: a client, and an embedded server unless `AWS_ENDPOINT_URL_SQS` is set.

pub mod stores;

use std::error::Error;

use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use serde_json::json;
use sqs_buffered::{BufferedQueue, QueueName};
use sqs_client::Client;
use sqs_client::config::ConfigError;
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::MockSqs;
use sqs_mock_server::s3::S3;

/// A client for the server at `AWS_ENDPOINT_URL_SQS`, or for an embedded server.
///
/// Keep the second value: the embedded server stops when it is dropped.
///
/// # Errors
/// An environment variable has an invalid value.
pub async fn connect() -> Result<(Client, Option<MockSqs>), ConfigError> {
    if let Some(url) = variable("AWS_ENDPOINT_URL_SQS") {
        println!("server     {url} (set by AWS_ENDPOINT_URL_SQS)");
        return Ok((Client::from_env()?, None));
    }
    let server = MockSqs::start().await;
    Ok((over_http(&server), Some(server)))
}

/// A client over HTTP, as in production. `server.client()` would bypass the network.
fn over_http(server: &MockSqs) -> Client {
    println!("server     {} (embedded; set AWS_ENDPOINT_URL_SQS for another)", server.endpoint_url());
    let mut config = server.client_config();
    config.set_transport(None);
    Client::from_conf(config.build())
}

/// Clients of SQS and S3, the name of a bucket, and the embedded server.
type WithS3 = (Client, aws_sdk_s3::Client, String, Option<MockSqs>);

/// Like [`connect`], with an S3 client and a bucket name. They come from `AWS_ENDPOINT_URL_S3` and `BUCKET`, or from an
/// embedded server.
///
/// # Errors
/// The same as [`connect`]; an embedded server cannot start; `AWS_ENDPOINT_URL_S3` is set but `BUCKET` is not.
pub async fn connect_with_s3() -> Result<WithS3, Box<dyn Error>> {
    let (endpoint, bucket, server) = if let Some(endpoint) = variable("AWS_ENDPOINT_URL_S3") {
        let missing = "AWS_ENDPOINT_URL_S3 is set but BUCKET is not: set it to the name of a bucket";
        (endpoint, variable("BUCKET").ok_or(missing)?, None)
    } else {
        let server = with_s3().await?;
        (server.s3().endpoint_url().to_owned(), BUCKET.to_owned(), Some(server))
    };
    let s3 = s3_client(&endpoint, &bucket);
    let (client, server) = match (variable("AWS_ENDPOINT_URL_SQS"), server) {
        (None, Some(server)) => (over_http(&server), Some(server)),
        (_, server) => (connect().await?.0, server),
    };
    Ok((client, s3, bucket, server))
}

/// Like [`connect_with_s3`], but with queues and buckets on one server, so that events of a bucket can reach a queue. It is
/// an embedded server, unless `AWS_ENDPOINT_URL_SQS` and `AWS_ENDPOINT_URL_S3` are both set.
///
/// # Errors
/// The same as [`connect_with_s3`].
pub async fn connect_with_s3_events() -> Result<WithS3, Box<dyn Error>> {
    if variable("AWS_ENDPOINT_URL_SQS").is_some() && variable("AWS_ENDPOINT_URL_S3").is_some() {
        return connect_with_s3().await;
    }
    let server = with_s3().await?;
    let s3 = s3_client(server.s3().endpoint_url(), BUCKET);
    Ok((over_http(&server), s3, BUCKET.to_owned(), Some(server)))
}

/// The bucket of an embedded server.
const BUCKET: &str = "payloads";

async fn with_s3() -> std::io::Result<MockSqs> {
    MockSqs::builder().s3(S3::temporary().bucket(BUCKET)).start().await
}

fn s3_client(endpoint: &str, bucket: &str) -> aws_sdk_s3::Client {
    println!("S3         {endpoint}, bucket {bucket}");
    let variable_or = |name, default: &str| variable(name).unwrap_or_else(|| default.to_owned());
    let (key, secret) =
        (variable_or("AWS_ACCESS_KEY_ID", "test"), variable_or("AWS_SECRET_ACCESS_KEY", "test"));
    // This build omits the TLS client of the AWS SDK to save time. In your program, use `aws-config`.
    let config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .endpoint_url(endpoint)
        .region(Region::new(variable_or("AWS_REGION", "us-east-1")))
        .credentials_provider(Credentials::new(
            key,
            secret,
            variable("AWS_SESSION_TOKEN"),
            None,
            "environment",
        ))
        .force_path_style(true);
    aws_sdk_s3::Client::from_conf(config.build())
}

/// The value of an environment variable. Empty ones count as absent.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// A unique queue name. SQS rejects the name of a deleted queue for a minute.
pub fn fresh(name: &str) -> String {
    let (stem, suffix) = name.strip_suffix(".fifo").map_or((name, ""), |stem| (stem, ".fifo"));
    format!("{stem}-{}{suffix}", std::process::id())
}

/// Creates a queue with a dead-letter queue. Returns its URL.
///
/// # Errors
/// A request failed.
pub async fn queue_with_dead_letters(client: &Client, name: &str) -> Result<String, Box<dyn Error>> {
    let dead = QueueName::new(fresh(&format!("{name}-dead"))).create().url(client).await?;
    let asked = client.get_queue_attributes().queue_url(dead).attribute_names(QueueAttributeName::QueueArn);
    let arn = asked.send().await?.attributes.and_then(|mut all| all.remove(&QueueAttributeName::QueueArn));
    let redrive = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": 10 }).to_string();
    let queue = QueueName::new(fresh(name)).create().attribute(QueueAttributeName::RedrivePolicy, redrive);
    Ok(queue.url(client).await?)
}

/// Sends orders of 2.50 each as an SNS topic would: each message twice, every fifth as a refund, and one order without a price.
///
/// # Errors
/// A send failed.
pub async fn publish(queue: &BufferedQueue, orders: u64) -> Result<(), Box<dyn Error>> {
    for id in (1..=orders).chain(1..=orders) {
        let (kind, cents) = (if id % 5 == 0 { "refund" } else { "order" }, if id == 1 { 0 } else { 250 });
        let order = json!({ "id": id, "cents": cents }).to_string();
        let attributes = json!({ "type": { "Type": "String", "Value": kind } });
        let envelope = json!({ "Type": "Notification", "MessageId": format!("m-{id}"), "Message": order,
            "TopicArn": "arn:aws:sns:us-east-1:000000000000:orders", "Timestamp": "2026-11-27T20:00:00.000Z",
            "MessageAttributes": attributes });
        queue.send_json(&envelope).await?;
    }
    Ok(())
}

/// The common part of the help texts.
const ENVIRONMENT: &str = "
By default, the example starts an embedded server. To use another server, set AWS_ENDPOINT_URL_SQS to its URL,
such as http://localhost:9324. AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY then apply.";

/// Parses the command line of an example without options. Prints the help and returns `true` if `--help` is given.
///
/// # Errors
/// Any other option is given.
pub fn shows_help(help: &str) -> Result<bool, String> {
    Ok(numbers(help, [])?.is_none())
}

/// Parses command line options with numbers, such as `--count 5`. Missing options get their defaults. Prints the help and
/// returns `None` if `--help` is given.
///
/// # Errors
/// An option is unknown, or its value is not a number.
pub fn numbers<const N: usize>(
    help: &str,
    options: [(&str, usize); N],
) -> Result<Option<[usize; N]>, String> {
    let mut values = options.map(|(_, default)| default);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--help" || argument == "-h" {
            println!("{help}\n{ENVIRONMENT}");
            return Ok(None);
        }
        let Some(index) = options.iter().position(|(name, _)| *name == argument) else {
            return Err(format!("unknown option {argument}; --help lists the options"));
        };
        let value = arguments.next().unwrap_or_default();
        values[index] = value.parse().map_err(|_| format!("{argument} {value:?} is not a number"))?;
    }
    Ok(Some(values))
}
