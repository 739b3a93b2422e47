//! Our side of the exchange with AWS's libraries; `run` beside this file calls it.
//!
//! `queue NAME` makes a queue and prints its URL, `send MODE FILE` sends what is in the file, `stream MODE FILE` streams it, `receive MODE FILE` writes
//! what it receives and deletes the message, `objects` prints how many payloads there are.

use std::env::var;
use std::error::Error;

use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use sqs_client::Client;
use sqs_extended::{Compat, ExtendedClient, Payload, PayloadStore as _, S3Store};

type Failed = Box<dyn Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (client, store) = (Client::from_env()?, store()?);
    match arguments[..] {
        ["queue", name] => {
            let queue = client.create_queue().queue_name(name).send().await?;
            println!("{}", queue.queue_url().unwrap_or_default());
        }
        ["send", mode, file] => {
            let body = std::fs::read_to_string(file)?;
            let client = ExtendedClient::builder(client, store).compat(compat(mode)?).build()?;
            client.send_message().queue_url(var("QUEUE_URL")?).message_body(body).send().await?;
        }
        ["stream", mode, file] => {
            let client = ExtendedClient::builder(client, store).compat(compat(mode)?).build()?;
            client.send_stream(var("QUEUE_URL")?, Payload::from_path(file)).send().await?;
        }
        ["receive", mode, file] => {
            let client = ExtendedClient::builder(client, store).compat(compat(mode)?).build()?;
            receive(&client, file).await?;
        }
        ["objects"] => println!("{}", store.list(store.bucket(), "", None).await?.objects.len()),
        _ => {
            return Err("queue NAME | send MODE FILE | stream MODE FILE | receive MODE FILE | objects".into());
        }
    }
    Ok(())
}

async fn receive(client: &ExtendedClient, file: &str) -> Result<(), Failed> {
    let url = var("QUEUE_URL")?;
    let answer = client.receive_message().queue_url(&url).wait_time_seconds(5).send().await?;
    let [message] = answer.messages() else { return Err("not one message".into()) };
    std::fs::write(file, message.body().unwrap_or_default())?;
    let handle = message.receipt_handle().unwrap_or_default();
    client.delete_message().queue_url(&url).receipt_handle(handle).send().await?;
    client.finish_cleanup().await;
    Ok(())
}

fn compat(mode: &str) -> Result<Compat, Failed> {
    match mode {
        "modern" => Ok(Compat::Modern),
        "java" => Ok(Compat::JavaDefault),
        "legacy" => Ok(Compat::Legacy10),
        other => Err(format!("{other:?} is not modern, java or legacy").into()),
    }
}

fn store() -> Result<S3Store, Failed> {
    let config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .endpoint_url(var("AWS_ENDPOINT_URL_S3")?)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "interop"))
        .force_path_style(true);
    Ok(S3Store::new(aws_sdk_s3::Client::from_conf(config.build()), var("BUCKET")?))
}
