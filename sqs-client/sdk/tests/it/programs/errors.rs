// Fails in many ways and records each error as a program sees it. Compiled for both crates under the name `aws_sdk_sqs`.

use aws_sdk_sqs::config::http::HttpResponse;
use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::{BehaviorVersion, Builder, Credentials, Region, SharedHttpClient};
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::operation::RequestId;
use aws_sdk_sqs::operation::purge_queue::PurgeQueueError;
use aws_sdk_sqs::operation::send_message::SendMessageError;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
use aws_sdk_sqs::{Client, Config, Error};

pub(super) fn config(endpoint: &str, http: Option<SharedHttpClient>) -> Builder {
    let credentials = Credentials::new("AKID", "secret", None, None, "test");
    without_credentials(endpoint, http).credentials_provider(credentials)
}

pub(super) fn without_credentials(endpoint: &str, http: Option<SharedHttpClient>) -> Builder {
    let mut builder = Config::builder();
    builder.set_http_client(http);
    builder
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-west-1"))
        .endpoint_url(endpoint)
        .retry_config(RetryConfig::disabled())
}

/// The error as a program sees it, without ids and times.
fn seen<E>(error: &SdkError<E>) -> String
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    let kind = match error {
        SdkError::ConstructionFailure(_) => "construction failure".to_owned(),
        SdkError::TimeoutError(_) => "timeout error".to_owned(),
        SdkError::DispatchFailure(failure) => format!(
            "dispatch failure, timeout {}, io {}, user {}, other {:?}",
            failure.is_timeout(),
            failure.is_io(),
            failure.is_user(),
            failure.is_other().then(|| failure.as_other())
        ),
        SdkError::ResponseError(_) => "response error".to_owned(),
        SdkError::ServiceError(answer) => {
            let debug = format!("{:?}", answer.err());
            let variant = debug.split(['(', ' ']).next().unwrap_or_default();
            format!("service error {variant}, shown as {}, caused by {:?}", answer.err(), of_service(answer.err()))
        }
        _ => "unknown".to_owned(),
    };
    let raw = error.raw_response().map(described);
    let (code, message, kind_of_fault) = (error.code(), error.message(), error.meta().extra("type"));
    format!("{kind}; {error}; {code:?} {message:?} {kind_of_fault:?}; {raw:?}; {}", error.request_id().is_some())
}

/// The text of the cause, if it is a modelled error.
fn of_service(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    (!error.to_string().starts_with("unhandled")).then(|| error.source().map(ToString::to_string))?
}

fn described(raw: &HttpResponse) -> (u16, Option<String>, Option<String>) {
    let body = raw.body().bytes().map(|body| String::from_utf8_lossy(body).into_owned());
    (raw.status().as_u16(), raw.headers().get("x-amzn-query-error").map(str::to_owned), body)
}

/// Errors that the service returns.
pub(super) async fn refusals(client: &Client, queue: &str) -> Vec<String> {
    let mut seen_so_far = Vec::new();
    let created = client.create_queue().queue_name(queue).send().await.expect("the queue is created");
    let url = created.queue_url().expect("it has a URL").to_owned();
    let gone = format!("{url}-that-is-gone");

    let error = client.send_message().queue_url(&gone).message_body("x").send().await.expect_err("no such queue");
    seen_so_far.push(seen(&error));
    seen_so_far.push(format!("{:?}", error.as_service_error().map(SendMessageError::is_queue_does_not_exist)));
    seen_so_far.push(Error::from(error).to_string());

    let error = client.send_message().queue_url(&url).message_body("\u{1}").send().await.expect_err("bad text");
    seen_so_far.push(seen(&error));
    seen_so_far.push(error.into_service_error().to_string());

    let error = client.send_message_batch().queue_url(&url).send().await.expect_err("no entries");
    seen_so_far.push(seen(&error));

    let entry = || SendMessageBatchRequestEntry::builder().id("same").message_body("x").build().expect("complete");
    let batch = client.send_message_batch().queue_url(&url).entries(entry()).entries(entry());
    seen_so_far.push(seen(&batch.send().await.expect_err("ids are not distinct")));

    let delete = client.delete_message().queue_url(&url).receipt_handle("nonsense");
    seen_so_far.push(seen(&delete.send().await.expect_err("not a handle")));

    let receive = client.receive_message().queue_url(&url).max_number_of_messages(11);
    let error = receive.send().await.expect_err("a code without a variant");
    seen_so_far.push(seen(&error));
    seen_so_far.push(error.into_service_error().to_string());

    client.purge_queue().queue_url(&url).send().await.expect("the first purge");
    let error = client.purge_queue().queue_url(&url).send().await.expect_err("too early");
    seen_so_far.push(format!("{:?}", error.as_service_error().map(PurgeQueueError::is_purge_queue_in_progress)));
    seen_so_far.push(seen(&error));

    let task = client.start_message_move_task().source_arn("arn:aws:sqs:eu-west-1:000000000000:none");
    seen_so_far.push(seen(&task.send().await.expect_err("no such source")));
    let mut pages = client.list_dead_letter_source_queues().queue_url(&gone).into_paginator().send();
    let error = pages.next().await.expect("one item").expect_err("no such queue");
    seen_so_far.push(seen(&error));
    // Messages may contain the queue name.
    seen_so_far.into_iter().map(|text| text.replace(queue, "QUEUE")).collect()
}

/// The error of one call. The queue does not matter.
pub(super) async fn failure(config: Config) -> String {
    failure_of_receive(config, 0).await
}

pub(super) async fn failure_of_receive(config: Config, wait: i32) -> String {
    let request = Client::from_conf(config).receive_message().queue_url("http://localhost/1/orders");
    let error = request.wait_time_seconds(wait).send().await.expect_err("it fails");
    seen(&error)
}
