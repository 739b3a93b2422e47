//! The minimal program with the credential chain of sqs-client. With aws-sdk-sqs, `with_aws_config.rs` does the same.

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = sqs_client::Client::load().await?;
    let sent = client.send_message().queue_url("http://localhost:9324/0/q").message_body("hello").send().await;
    println!("{sent:?}");
    Ok(())
}
