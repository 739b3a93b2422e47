//! Written for aws-sdk-sqs. Two packages build this file: they differ by one line of `Cargo.toml`, and print the same.
//!
//! Run with: `cargo run -p migrate-before`, then `cargo run -p migrate-after`

use aws_sdk_sqs::config::http::HttpResponse;
use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::timeout::TimeoutConfig;
use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::operation::RequestId as _;
use aws_sdk_sqs::operation::get_queue_url::GetQueueUrlError;
use aws_sdk_sqs::operation::receive_message::ReceiveMessageOutput;
use aws_sdk_sqs::operation::send_message::SendMessageError;
use aws_sdk_sqs::operation::send_message::builders::SendMessageFluentBuilder;
use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::builders::MessageAttributeValueBuilder;
use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry, Message, MessageAttributeValue,
    MessageSystemAttributeName, QueueAttributeName, SendMessageBatchRequestEntry,
};

const HELP: &str = "\
Runs one program with the crate that its package names aws-sdk-sqs: aws-sdk-sqs itself, or sqs-sdk.";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    if sqs_examples::shows_help(HELP)? {
        return Ok(());
    }
    let (client, server) = sqs_examples::connect().await?;
    let endpoint = client.config().endpoint_url().unwrap_or_default().to_owned();
    let client = aws_sdk_sqs::Client::from_conf(config(&endpoint).build());
    tour(&client, &sqs_examples::fresh("migrated")).await?;
    drop(server);
    Ok(())
}

fn config(endpoint: &str) -> aws_sdk_sqs::config::Builder {
    aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "example"))
        .endpoint_url(endpoint)
        .retry_config(RetryConfig::standard().with_max_attempts(5))
        .timeout_config(
            TimeoutConfig::builder().operation_attempt_timeout(std::time::Duration::from_secs(30)).build(),
        )
}

/// Runs every step and prints the results, without ids.
#[expect(clippy::too_many_lines, reason = "one step after the other")]
async fn tour(client: &aws_sdk_sqs::Client, name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let note = |step: String| println!("  {step}");

    let created = client
        .create_queue()
        .queue_name(name)
        .attributes(QueueAttributeName::VisibilityTimeout, "45")
        .tags("team", "blue")
        .send()
        .await?;
    let url = created.queue_url().ok_or("the response has no queue URL")?.to_owned();
    note(format!("created, has request id: {}", created.request_id().is_some()));

    let send: SendMessageFluentBuilder = client.send_message().queue_url(&url).message_body("hello");
    let value: MessageAttributeValueBuilder = MessageAttributeValue::builder().data_type("Binary");
    let sent = send
        .message_attributes("raw", value.binary_value(Blob::new([1, 2, 3])).build()?)
        .message_attributes(
            "color",
            MessageAttributeValue::builder().data_type("String").string_value("blue").build()?,
        )
        .set_delay_seconds(Some(0))
        .send()
        .await?;
    note(format!("sent, {:?} {:?}", sent.md5_of_message_body(), sent.md5_of_message_attributes));

    let received: ReceiveMessageOutput = client
        .receive_message()
        .queue_url(&url)
        .max_number_of_messages(10)
        .wait_time_seconds(1)
        .message_attribute_names("All")
        .message_system_attribute_names(MessageSystemAttributeName::All)
        .send()
        .await?;
    let messages: &[Message] = received.messages();
    let message = messages.first().ok_or("the queue returned no message")?;
    let color =
        message.message_attributes().and_then(|all| all.get("color")).and_then(|value| value.string_value());
    let count =
        message.attributes().and_then(|all| all.get(&MessageSystemAttributeName::ApproximateReceiveCount));
    note(format!("received, {:?} {color:?} {count:?}", message.body()));

    let handle = message.receipt_handle().unwrap_or_default();
    client
        .change_message_visibility()
        .queue_url(&url)
        .receipt_handle(handle)
        .visibility_timeout(60)
        .send()
        .await?;
    client.delete_message().queue_url(&url).receipt_handle(handle).send().await?;
    note("changed the visibility and deleted".to_owned());

    let entry =
        |id: &str, body: &str| SendMessageBatchRequestEntry::builder().id(id).message_body(body).build();
    let entries = vec![entry("a", "first")?, entry("b", "\u{1}")?];
    let batch = client.send_message_batch().queue_url(&url).set_entries(Some(entries)).send().await?;
    let failed: Vec<_> =
        batch.failed().iter().map(|entry| (entry.id(), entry.code(), entry.sender_fault())).collect();
    note(format!("sent a batch, {} accepted, failed {failed:?}", batch.successful().len()));

    let received = client.receive_message().queue_url(&url).max_number_of_messages(10).send().await?;
    let handles: Vec<&str> =
        received.messages().iter().filter_map(|message| message.receipt_handle()).collect();
    let mut change = client.change_message_visibility_batch().queue_url(&url);
    let mut delete = client.delete_message_batch().queue_url(&url);
    for (index, handle) in handles.iter().enumerate() {
        let id = index.to_string();
        let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(&id).receipt_handle(*handle);
        change = change.entries(entry.visibility_timeout(90).build()?);
        delete = delete
            .entries(DeleteMessageBatchRequestEntry::builder().id(&id).receipt_handle(*handle).build()?);
    }
    let (changed, deleted) = (change.send().await?, delete.send().await?);
    note(format!(
        "changed the visibility of {} and deleted {}",
        changed.successful().len(),
        deleted.successful().len()
    ));

    let attributes =
        client.get_queue_attributes().queue_url(&url).attribute_names(QueueAttributeName::All).send();
    let attributes = attributes.await?.attributes.unwrap_or_default();
    note(format!(
        "attributes, {} with {:?}",
        attributes.len(),
        attributes.get(&QueueAttributeName::VisibilityTimeout)
    ));
    let tags = client.list_queue_tags().queue_url(&url).send().await?;
    note(format!("tags, {:?}", tags.tags()));

    let mut found = 0;
    let mut pages =
        client.list_queues().queue_name_prefix(name).into_paginator().page_size(10).items().send();
    while let Some(listed) = pages.next().await {
        found += usize::from(listed? == url);
    }
    note(format!("listed {found}"));

    let rejected = client.send_message().queue_url(&url).message_body("\u{1}").send().await;
    note(format!("rejected, {}", explain(&rejected.expect_err("XML does not allow this character"))));
    let no_retries = aws_sdk_sqs::Config::builder().retry_config(RetryConfig::disabled());
    let rejected = client
        .get_queue_url()
        .queue_name("no-such-queue")
        .customize()
        .config_override(no_retries)
        .send()
        .await;
    note(format!("not found, {}", explain(&rejected.expect_err("the queue does not exist"))));

    client.purge_queue().queue_url(&url).send().await?;
    client.delete_queue().queue_url(&url).send().await?;
    note(format!("deleted, exists: {}", exists(client, name).await?));
    match send_twice(client, &url).await {
        Err(aws_sdk_sqs::Error::QueueDoesNotExist(gone)) => {
            note(format!("no such queue, has message: {}", gone.message().is_some()));
        }
        other => return Err(format!("unexpected: {other:?}").into()),
    }
    Ok(())
}

/// Code and status only: the message may differ between releases.
fn explain<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> String {
    match error {
        SdkError::ServiceError(failure) => {
            format!("code {:?}, status {}", failure.err().code(), failure.raw().status().as_u16())
        }
        SdkError::DispatchFailure(failure) if failure.is_timeout() => "timeout".to_owned(),
        other => other.to_string(),
    }
}

/// Matches a variant of the error of one operation.
async fn exists(client: &aws_sdk_sqs::Client, name: &str) -> Result<bool, aws_sdk_sqs::Error> {
    match client.get_queue_url().queue_name(name).send().await {
        Ok(_) => Ok(true),
        Err(error) => match error.into_service_error() {
            GetQueueUrlError::QueueDoesNotExist(_) => Ok(false),
            other => Err(other.into()),
        },
    }
}

/// Converts the errors of several operations to one type.
async fn send_twice(client: &aws_sdk_sqs::Client, url: &str) -> Result<(), aws_sdk_sqs::Error> {
    let first = client.send_message().queue_url(url).message_body("first").send().await;
    if first
        .as_ref()
        .is_err_and(|error| error.as_service_error().is_some_and(SendMessageError::is_request_throttled))
    {
        return Ok(());
    }
    first?;
    client.send_message_batch().queue_url(url).send().await?;
    Ok(())
}
