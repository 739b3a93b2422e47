//! A minimal program with static credentials.

use sqs::config::{Credentials, Region};
use sqs_client as sqs;

#[tokio::main]
async fn main() {
    let config = sqs::Config::builder()
        .region(Region::new("eu-west-1"))
        .credentials_provider(Credentials::new("key", "secret", None, None, "static"))
        .build();
    let client = sqs::Client::from_conf(config);
    let sent = client.send_message().queue_url("http://localhost:9324/0/q").message_body("hello").send().await;
    println!("{sent:?}");
}
