//! A minimal program with all credential sources of the AWS SDK.

use sqs_client as sqs;

#[tokio::main]
async fn main() {
    let client = sqs::Client::new(&aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await);
    let sent = client.send_message().queue_url("http://localhost:9324/0/q").message_body("hello").send().await;
    println!("{sent:?}");
}
