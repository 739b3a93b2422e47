// The constructs that programs use from aws-sdk-sqs, one function each. Compiled for both crates under the name
// `aws_sdk_sqs`.

use std::error::Error as StdError;
use std::time::Duration;

use aws_sdk_sqs::config::endpoint::{
    DefaultResolver, Endpoint, EndpointFuture, Params, ResolveEndpoint, SharedEndpointResolver,
};
use aws_sdk_sqs::config::http::{HttpRequest, HttpResponse};
use aws_sdk_sqs::config::retry::{ClassifyRetry, ReconnectMode, RetryAction, RetryConfig, RetryConfigBuilder, RetryMode};
use aws_sdk_sqs::config::timeout::{TimeoutConfig, TimeoutConfigBuilder};
use aws_sdk_sqs::config::{
    AppName, AsyncSleep, BehaviorVersion, Config, Credentials, HttpClient, IdentityCache, IntoShared, ProvideCredentials, Region,
    ResolveCachedIdentity, SharedAsyncSleep, SharedCredentialsProvider, SharedHttpClient, SharedIdentityCache,
    StalledStreamProtectionConfig,
};
use aws_sdk_sqs::error::{
    BoxError, BuildError, ConnectorError, DisplayErrorContext, ErrorMetadata, ProvideErrorMetadata, SdkError,
};
use aws_sdk_sqs::operation::RequestId;
use aws_sdk_sqs::operation::list_queues::ListQueuesError;
use aws_sdk_sqs::operation::list_queues::builders::ListQueuesFluentBuilder;
use aws_sdk_sqs::operation::list_queues::paginator::{ListQueuesPaginator, ListQueuesPaginatorItems};
use aws_sdk_sqs::operation::receive_message::{ReceiveMessageError, ReceiveMessageOutput};
use aws_sdk_sqs::operation::send_message::builders::{
    SendMessageFluentBuilder, SendMessageInputBuilder, SendMessageOutputBuilder,
};
use aws_sdk_sqs::operation::send_message::{SendMessage, SendMessageError, SendMessageInput, SendMessageOutput};
use aws_sdk_sqs::operation::send_message_batch::SendMessageBatchError;
use aws_sdk_sqs::primitives::{Blob, DateTime, DateTimeFormat};
use aws_sdk_sqs::types::builders::SendMessageBatchRequestEntryBuilder;
use aws_sdk_sqs::types::error::builders::QueueDoesNotExistBuilder;
use aws_sdk_sqs::types::error::{InvalidMessageContents, QueueDoesNotExist};
use aws_sdk_sqs::types::{Message, MessageAttributeValue, QueueAttributeName};
use aws_sdk_sqs::{Client, Error};
use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;
use aws_smithy_runtime_api::client::retries::classifiers::SharedRetryClassifier;

type SendResult = Result<SendMessageOutput, SdkError<SendMessageError>>;

// Typed errors

fn names_the_error_of_an_operation(error: SdkError<SendMessageError>) -> SdkError<SendMessageError, HttpResponse> {
    error
}

fn names_the_error_by_its_client_path(error: aws_sdk_sqs::client::Client) -> Client {
    error
}

fn is_generic_over_the_error<E: ProvideErrorMetadata>(error: &SdkError<E>) -> (Option<&str>, Option<&str>, &ErrorMetadata) {
    (error.code(), error.message(), error.meta())
}

fn asks_for_the_service_error(error: &SdkError<SendMessageError>) -> Option<bool> {
    error.as_service_error().map(SendMessageError::is_queue_does_not_exist)
}

fn takes_the_service_error(error: SdkError<SendMessageError>) -> String {
    match error.into_service_error() {
        SendMessageError::QueueDoesNotExist(inner) => inner.to_string(),
        SendMessageError::InvalidMessageContents(inner) => inner.message().unwrap_or_default().to_owned(),
        other if other.is_request_throttled() => other.meta().code().unwrap_or_default().to_owned(),
        other => other.to_string(),
    }
}

fn matches_the_kinds_of_failure(error: &SdkError<ReceiveMessageError, HttpResponse>) -> &'static str {
    match error {
        SdkError::ConstructionFailure(_) => "construction",
        SdkError::TimeoutError(_) => "timeout",
        SdkError::DispatchFailure(failure) if failure.is_timeout() => "connection timeout",
        SdkError::DispatchFailure(failure) if failure.is_io() => "io",
        SdkError::DispatchFailure(failure) if failure.is_user() || failure.is_other() => "other",
        SdkError::ResponseError(response) if response.raw().status().is_server_error() => "server",
        SdkError::ServiceError(answer) if answer.err().is_over_limit() => "over limit",
        SdkError::ServiceError(answer) if answer.raw().status().as_u16() == 403 => "denied",
        SdkError::ServiceError(answer) if answer.raw().headers().get("date").is_some() => "dated",
        _ => "else",
    }
}

fn looks_into_the_connector_error(error: &SdkError<SendMessageError>) -> Option<&ConnectorError> {
    match error {
        SdkError::DispatchFailure(failure) => failure.as_connector_error(),
        _ => None,
    }
}

fn takes_raw_response_and_source(error: SdkError<SendMessageError>) -> (Option<u16>, Option<BoxError>) {
    (error.raw_response().map(|raw| raw.status().as_u16()), error.into_source().ok())
}

fn matches_a_variant(error: &SendMessageError) -> bool {
    matches!(error, SendMessageError::InvalidMessageContents(_))
}

fn maps_the_service_error(error: SdkError<SendMessageError>) -> SdkError<String> {
    error.map_service_error(|error| error.to_string())
}

fn shows_an_error_with_its_causes(error: &SdkError<SendMessageBatchError>) -> String {
    DisplayErrorContext(error).to_string()
}

fn reads_a_request_id(error: &SdkError<SendMessageError>, output: &SendMessageOutput) -> (bool, bool) {
    (error.request_id().is_some(), output.request_id().is_some())
}

fn boxes_an_error(error: SdkError<ListQueuesError>) -> Box<dyn StdError + Send + Sync> {
    error.into()
}

fn finds_an_error_in_a_box(error: &(dyn StdError + 'static)) -> bool {
    error.downcast_ref::<SdkError<SendMessageError>>().is_some()
}

async fn converts_into_the_error_of_all_operations(client: &Client, url: &str) -> Result<ReceiveMessageOutput, Error> {
    client.send_message().queue_url(url).message_body("x").send().await?;
    Ok(client.receive_message().queue_url(url).send().await?)
}

fn matches_the_error_of_all_operations(error: &Error) -> bool {
    match error {
        Error::QueueDoesNotExist(inner) => inner.request_id().is_some(),
        Error::RequestThrottled(_) | Error::KmsThrottled(_) => true,
        other => other.code() == Some("AccessDenied"),
    }
}

fn converts_errors_into_the_one_of_all_operations(error: SendMessageError, build: BuildError) -> (Error, Error) {
    (error.into(), build.into())
}

fn makes_errors_for_tests() -> (SendMessageError, SendMessageError, SendMessageError) {
    let builder: QueueDoesNotExistBuilder = QueueDoesNotExist::builder().message("gone");
    let inner: QueueDoesNotExist = builder.meta(ErrorMetadata::builder().code("x").build()).build();
    let generic = SendMessageError::generic(ErrorMetadata::builder().code("y").message("text").build());
    (SendMessageError::QueueDoesNotExist(inner), generic, SendMessageError::unhandled("z"))
}

fn reads_the_public_field_of_an_error(error: InvalidMessageContents) -> Option<String> {
    error.message
}

// Region and application name

fn gives_a_region_to_another_loader(config: &Config) -> aws_types::sdk_config::Builder {
    aws_types::SdkConfig::builder().region(config.region().cloned()).app_name(AppName::new("orders").expect("valid"))
}

fn takes_a_region_from_another_loader(sdk: &aws_types::SdkConfig) -> aws_sdk_sqs::config::Builder {
    let mut builder = Config::builder().region(sdk.region().cloned());
    builder.set_region(Some(Region::from_static("eu-west-1"))).set_app_name(sdk.app_name().cloned());
    builder.region(Region::new("eu-west-2"))
}

// HTTP client

fn sets_an_http_client(client: impl HttpClient + 'static) -> Config {
    let shared: SharedHttpClient = client.into_shared();
    let mut builder = Config::builder().http_client(shared.clone());
    builder.set_http_client(Some(shared));
    builder.build()
}

fn takes_a_shared_configuration(sdk: &aws_types::SdkConfig) -> (Client, Client) {
    let config = aws_sdk_sqs::config::Builder::from(sdk).endpoint_url("http://localhost:1").build();
    (Client::new(sdk), Client::from_conf(config.to_builder().build()))
}

fn reads_the_http_client(config: &Config) -> Option<SharedHttpClient> {
    config.http_client()
}

// Settings of one call

async fn overrides_settings_for_a_call(client: &Client, url: &str) -> SendResult {
    let timeouts = TimeoutConfig::builder().operation_timeout(Duration::from_secs(5)).build();
    let settings = Config::builder().timeout_config(timeouts).retry_config(RetryConfig::disabled());
    client.send_message().queue_url(url).message_body("x").customize().config_override(settings).send().await
}

async fn changes_the_request_of_a_call(client: &Client, url: &str) -> SendResult {
    let request = client.send_message().queue_url(url).message_body("x").customize();
    let request = request.mutate_request(|request: &mut HttpRequest| {
        request.headers_mut().insert("x-tenant", "orders");
    });
    request.map_request(Ok::<HttpRequest, std::convert::Infallible>).send().await
}

// Settings of the builder

#[derive(Debug)]
struct Regional(DefaultResolver);

impl ResolveEndpoint for Regional {
    fn resolve_endpoint<'a>(&'a self, params: &'a Params) -> EndpointFuture<'a> {
        match params.region() {
            Some("local") => EndpointFuture::ready(Ok(Endpoint::builder().url("http://localhost:1").build())),
            _ => self.0.resolve_endpoint(params),
        }
    }
}

fn sets_an_endpoint_resolver(shared: SharedEndpointResolver) -> (aws_sdk_sqs::config::Builder, SharedEndpointResolver) {
    let mut builder = Config::builder().endpoint_resolver(Regional(DefaultResolver::new()));
    builder.set_endpoint_resolver(Some(shared));
    let resolver = builder.clone().behavior_version(BehaviorVersion::latest()).build().endpoint_resolver();
    (builder, resolver)
}

fn makes_endpoint_parameters() -> Option<String> {
    let params = Params::builder().region("eu-west-1").use_fips(false).use_dual_stack(false).build().expect("complete");
    params.region().map(str::to_owned)
}

#[derive(Debug)]
struct Impatient;

impl ClassifyRetry for Impatient {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        match context.output_or_error() {
            Some(Err(error)) if error.as_operation_error().is_some() => RetryAction::throttling_error(),
            Some(Err(_)) => RetryAction::RetryForbidden,
            _ => RetryAction::NoActionIndicated,
        }
    }

    fn name(&self) -> &'static str {
        "impatient"
    }
}

fn sets_a_retry_classifier() -> (aws_sdk_sqs::config::Builder, usize) {
    let mut builder = Config::builder().retry_classifier(Impatient);
    builder.push_retry_classifier(SharedRetryClassifier::new(Impatient));
    let config = builder.clone().behavior_version(BehaviorVersion::latest()).build();
    (builder, config.retry_classifiers().count())
}

fn sets_the_identity_cache_of_the_sdk() -> aws_sdk_sqs::config::Builder {
    let cache = IdentityCache::lazy().load_timeout(Duration::from_secs(5)).build();
    Config::builder().identity_cache(cache)
}

fn sets_a_sleep_impl(sleep: impl AsyncSleep + 'static, shared: SharedAsyncSleep) -> aws_sdk_sqs::config::Builder {
    let mut builder = Config::builder().sleep_impl(sleep);
    builder.set_sleep_impl(Some(shared));
    builder
}

fn sets_an_identity_cache(
    cache: impl ResolveCachedIdentity + 'static,
    shared: SharedIdentityCache,
) -> aws_sdk_sqs::config::Builder {
    let mut builder = Config::builder().identity_cache(cache);
    builder.set_identity_cache(shared);
    builder
}

fn sets_stalled_stream_protection() -> aws_sdk_sqs::config::Builder {
    let mut builder = Config::builder().stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    builder.set_stalled_stream_protection(Some(StalledStreamProtectionConfig::enabled().build()));
    builder
}

fn sets_a_behavior_version() -> aws_sdk_sqs::config::Builder {
    let mut builder = Config::builder().behavior_version(BehaviorVersion::latest());
    builder.set_behavior_version(Some(BehaviorVersion::latest()));
    builder
}

fn sets_a_clock(clock: impl aws_smithy_async::time::TimeSource + 'static) -> aws_sdk_sqs::config::Builder {
    let mut builder = Config::builder().time_source(clock).disable_clock_skew_correction(true);
    builder.set_time_source(None).set_disable_clock_skew_correction(Some(false));
    builder
}

fn sets_credentials(provider: impl ProvideCredentials + 'static) -> aws_sdk_sqs::config::Builder {
    let credentials = Credentials::new("AKID", "secret", Some("token".to_owned()), None, "test");
    let mut builder = Config::builder().credentials_provider(provider).credentials_provider(credentials.clone());
    builder.set_credentials_provider(Some(SharedCredentialsProvider::new(credentials)));
    builder
}

fn sets_endpoint_and_its_kind() -> aws_sdk_sqs::config::Builder {
    let mut builder = Config::builder().endpoint_url("http://localhost:1").use_fips(false).use_dual_stack(false);
    builder.set_endpoint_url(None).set_use_fips(Some(true)).set_use_dual_stack(None);
    builder.allow_no_auth()
}

fn sets_retries_and_timeouts() -> aws_sdk_sqs::config::Builder {
    let retry: RetryConfigBuilder = RetryConfigBuilder::new();
    let retry = retry.max_attempts(5).mode(RetryMode::Adaptive).reconnect_mode(ReconnectMode::ReuseAllConnections);
    let timeouts: TimeoutConfigBuilder = TimeoutConfig::builder();
    let timeouts = timeouts.connect_timeout(Duration::from_secs(1)).read_timeout(Duration::from_secs(2)).build();
    let mut builder = Config::builder().retry_config(retry.build()).timeout_config(timeouts.clone());
    builder.set_retry_config(Some(RetryConfig::standard())).set_timeout_config(Some(timeouts));
    builder
}

fn reads_the_configuration(client: &Client) -> (Option<u32>, Option<Duration>, Option<String>, &'static str) {
    let config: &Config = client.config();
    (
        config.retry_config().map(RetryConfig::max_attempts),
        config.timeout_config().and_then(TimeoutConfig::operation_timeout),
        config.region().map(ToString::to_string),
        config.signing_name(),
    )
}

// Requests

fn names_builders_and_shapes(client: &Client) -> Result<SendMessageFluentBuilder, BuildError> {
    let input: SendMessageInputBuilder = SendMessageInput::builder().queue_url("u").set_message_body(None);
    assert_eq!(input.get_queue_url().as_deref(), Some("u"));
    let entry: SendMessageBatchRequestEntryBuilder = aws_sdk_sqs::types::SendMessageBatchRequestEntry::builder();
    entry.id("1").message_body("b").build()?;
    let value = MessageAttributeValue::builder().data_type("Binary").binary_value(Blob::new([1])).build()?;
    let request: SendMessageFluentBuilder = client.send_message().message_attributes("a", value);
    let _: &SendMessageInputBuilder = request.as_input();
    Ok(request)
}

async fn sends_an_input_with_a_client(client: &Client, input: SendMessageInputBuilder) -> SendResult {
    input.send_with(client).await
}

fn makes_outputs_for_tests() -> (SendMessageOutput, ReceiveMessageOutput) {
    let builder: SendMessageOutputBuilder = SendMessageOutput::builder().message_id("m");
    let message = Message::builder().body("b").attributes(
        aws_sdk_sqs::types::MessageSystemAttributeName::ApproximateReceiveCount,
        "1",
    );
    (builder.build(), ReceiveMessageOutput::builder().messages(message.build()).build())
}

async fn goes_through_pages(client: &Client) -> Result<usize, SdkError<ListQueuesError>> {
    let list: ListQueuesFluentBuilder = client.list_queues();
    let pages: ListQueuesPaginator = list.into_paginator();
    let items: ListQueuesPaginatorItems = pages.page_size(5).stop_on_duplicate_token(true).items();
    let (mut found, mut urls) = (0, items.send());
    while let Some(url) = urls.next().await {
        found += url?.len();
    }
    let all: Result<Vec<String>, _> = client.list_queues().into_paginator().items().send().collect().await;
    Ok(found + all?.len())
}

async fn runs_a_call_in_a_task(client: Client, url: String) -> SendResult {
    let task = tokio::spawn(async move { client.send_message().queue_url(url).message_body("x").send().await });
    task.await.expect("the task ends")
}

fn uses_primitives() -> (DateTime, DateTimeFormat, QueueAttributeName, usize) {
    let name = QueueAttributeName::from("VisibilityTimeout");
    (DateTime::from_secs(1), DateTimeFormat::DateTime, name, std::mem::size_of::<SendMessage>())
}

pub(super) fn reads_the_version() -> &'static str {
    aws_sdk_sqs::meta::PKG_VERSION
}
