//! The Rust peer for tests with the extended client libraries of AWS. The script `run` starts it.
//!
//! Each line of standard input is a call, `{"action", "mode", "prefix", "input"}`. Each line of standard output is its result,
//! `{"output"}` or `{"error"}`. Inputs and outputs are AWS JSON. The other peers use the same format, without the optional members
//! `delete_prefix` and `fail_receives`.

use std::env::var;
use std::error::Error;
use std::io::stdin;

use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use serde::Deserialize;
use serde_json::{Value, from_str, from_value, json, to_value};
use sqs_client::Client;
use sqs_client::client::{CallOptions, Execute as _};
use sqs_client::operation::Operation;
use sqs_client::operation::change_message_visibility::ChangeMessageVisibility;
use sqs_client::operation::change_message_visibility_batch::ChangeMessageVisibilityBatch;
use sqs_client::operation::create_queue::CreateQueue;
use sqs_client::operation::delete_message::DeleteMessage;
use sqs_client::operation::delete_message_batch::DeleteMessageBatch;
use sqs_client::operation::get_queue_attributes::GetQueueAttributes;
use sqs_client::operation::receive_message::ReceiveMessage;
use sqs_client::operation::send_message::{SendMessage, SendMessageInput};
use sqs_client::operation::send_message_batch::SendMessageBatch;
use sqs_extended::{Compat, ExtendedClient, S3Store};

type BoxError = Box<dyn Error>;

#[derive(Deserialize)]
struct Call {
    action: String,
    mode: String,
    prefix: String,
    input: Value,
    delete_prefix: Option<String>,
    #[serde(default)]
    fail_receives: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let (client, s3) = (Client::from_env()?, s3()?);
    for line in stdin().lines() {
        let call: Call = from_str(&line?)?;
        let result = match execute(&client, &s3, call).await {
            Ok(output) => json!({ "output": output }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        println!("{result}");
    }
    Ok(())
}

async fn execute(client: &Client, s3: &aws_sdk_s3::Client, call: Call) -> Result<Value, BoxError> {
    let Call { action, mode, prefix, input, delete_prefix, fail_receives } = call;
    let mut builder = ExtendedClient::builder(client.clone(), S3Store::new(s3.clone(), var("BUCKET")?));
    builder = builder.compat(compat(&mode)?).key_prefix(prefix).fail_receives(fail_receives);
    if let Some(prefix) = delete_prefix {
        builder = builder.delete_keys_with_prefix(prefix);
    }
    let client = builder.build()?;
    let output = match action.as_str() {
        "CreateQueue" => run::<CreateQueue>(&client, input).await,
        "GetQueueAttributes" => run::<GetQueueAttributes>(&client, input).await,
        "SendMessage" => run::<SendMessage>(&client, input).await,
        "SendMessageBatch" => run::<SendMessageBatch>(&client, input).await,
        "ReceiveMessage" => run::<ReceiveMessage>(&client, input).await,
        "DeleteMessage" => run::<DeleteMessage>(&client, input).await,
        "DeleteMessageBatch" => run::<DeleteMessageBatch>(&client, input).await,
        "ChangeMessageVisibility" => run::<ChangeMessageVisibility>(&client, input).await,
        "ChangeMessageVisibilityBatch" => run::<ChangeMessageVisibilityBatch>(&client, input).await,
        // These are not actions of SQS.
        "SendStream" => stream(&client, from_value(input)?).await,
        "ListObjects" => objects(s3).await,
        "DeleteObject" => delete_object(s3, &input).await,
        other => Err(format!("unknown action {other:?}").into()),
    };
    client.finish_cleanup().await;
    output
}

async fn run<O: Operation>(client: &ExtendedClient, input: Value) -> Result<Value, BoxError> {
    let output = client.execute::<O>(&from_value(input)?, CallOptions::default()).await?;
    Ok(to_value(output)?)
}

async fn stream(client: &ExtendedClient, input: SendMessageInput) -> Result<Value, BoxError> {
    let body = input.message_body.unwrap_or_default();
    let mut send = client.send_stream(input.queue_url.unwrap_or_default(), body);
    for (name, value) in input.message_attributes.unwrap_or_default() {
        send = send.message_attributes(name, value);
    }
    send.send().await?;
    Ok(json!({}))
}

async fn objects(s3: &aws_sdk_s3::Client) -> Result<Value, BoxError> {
    let listed = s3.list_objects_v2().bucket(var("BUCKET")?).send().await?;
    let keys: Vec<_> = listed.contents().iter().filter_map(|object| object.key()).collect();
    Ok(json!({ "Keys": keys }))
}

async fn delete_object(s3: &aws_sdk_s3::Client, input: &Value) -> Result<Value, BoxError> {
    let key = input["Key"].as_str().ok_or("DeleteObject needs a Key")?;
    s3.delete_object().bucket(var("BUCKET")?).key(key).send().await?;
    Ok(json!({}))
}

fn compat(mode: &str) -> Result<Compat, BoxError> {
    match mode {
        "modern" => Ok(Compat::Modern),
        "java" => Ok(Compat::JavaDefault),
        "legacy" => Ok(Compat::Legacy10),
        other => Err(format!("unknown mode {other:?}; allowed are modern, java and legacy").into()),
    }
}

fn s3() -> Result<aws_sdk_s3::Client, BoxError> {
    let config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .endpoint_url(var("AWS_ENDPOINT_URL_S3")?)
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "interop"))
        .force_path_style(true);
    Ok(aws_sdk_s3::Client::from_conf(config.build()))
}
