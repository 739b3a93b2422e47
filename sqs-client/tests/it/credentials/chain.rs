//! The order of the sources, and the error if none has credentials.

use std::error::Error as _;
use std::time::Duration;

use sqs_client::config::credentials::{CredentialsChain, CredentialsError, EnvironmentCredentials};
use sqs_client::config::{Builder, Credentials, Region};
use sqs_client::time::TimeSource as _;
use sqs_client::{Client, ErrorKind};
use wiremock::matchers::{header_regex, method};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::rig::*;
use crate::service::{HELLO, QUEUE, accepted};

fn chain(world: &World) -> CredentialsChain {
    CredentialsChain::new(&world.environment())
}

fn client(world: &World) -> Client {
    Client::from_conf(Builder::from_environment(world.environment()).expect("valid").build())
}

async fn send(client: &Client) -> Result<(), sqs_client::Error> {
    client.send_message().queue_url(QUEUE).message_body(HELLO).send().await.map(drop)
}

#[tokio::test]
async fn sources_are_tried_in_the_order_of_aws() {
    let metadata_service = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(metadata("AKCONTAINER", in_an_hour()))
        .mount(&metadata_service)
        .await;
    let sts = MockServer::start().await;
    let answer = assumed("AssumeRoleWithWebIdentity", "AKTOKEN", in_an_hour());
    Mock::given(method("POST")).respond_with(answer).mount(&sts).await;
    let world = World::new().with("AWS_ENDPOINT_URL_STS", &sts.uri()).file("token", "jwt");
    let chain = chain(&world);

    world.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", &metadata_service.uri());
    assert_eq!(given(&chain).await.access_key_id(), "AKCONTAINER");
    world.set("AWS_WEB_IDENTITY_TOKEN_FILE", &world.path("token").display().to_string());
    world.set("AWS_ROLE_ARN", "arn:aws:iam::1:role/r");
    assert_eq!(given(&chain).await.access_key_id(), "AKTOKEN");
    world.write(".aws/credentials", "[default]\naws_access_key_id=AKFILE\naws_secret_access_key=s\n");
    assert_eq!(given(&chain).await.access_key_id(), "AKFILE");
    world.set("AWS_ACCESS_KEY_ID", "AKVAR");
    world.set("AWS_SECRET_ACCESS_KEY", SECRET);
    assert_eq!(given(&chain).await.access_key_id(), "AKVAR");
}

#[tokio::test]
async fn failure_of_a_configured_source_ends_the_chain() {
    let world = World::new().with("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/unused");
    world.write(".aws/config", "[default]\ncredential_process = no-such-program-here\n");
    assert_contains(&invalid(&chain(&world)).await, &["profile: ", "credential_process: the program failed"]);
    world.set("AWS_ACCESS_KEY_ID", "AK");
    let text = invalid(&EnvironmentCredentials::new(world.environment())).await;
    assert_contains(&text, &["AWS_SECRET_ACCESS_KEY is not"]);
    assert_contains(&invalid(&chain(&world)).await, &["variables: ", "AWS_SECRET_ACCESS_KEY is not"]);
}

#[tokio::test]
async fn error_without_credentials_lists_all_sources_and_solutions() {
    let world = World::new().with("AWS_REGION", "eu-west-1");
    let error = send(&client(&world)).await.expect_err("no credentials");
    assert_eq!((error.kind(), error.attempts(), error.is_retryable()), (ErrorKind::Credentials, 0, false));
    let parts = [
        "SendMessage: no credentials: ",
        "variables: AWS_ACCESS_KEY_ID is not set",
        "profile: profile \"default\" is not in ",
        "web identity: AWS_WEB_IDENTITY_TOKEN_FILE is not set",
        "container: neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "instance metadata: AWS_EC2_METADATA_DISABLED is true",
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for SSO, enable the feature `aws-config`",
    ];
    assert_contains(&error.to_string(), &parts);
    assert_eq!(format!("{error:?}"), error.to_string(), "`Debug` repeats nothing");
    let source = error.source().and_then(|source| source.downcast_ref::<CredentialsError>());
    assert!(matches!(source, Some(CredentialsError::CredentialsNotLoaded(_))));
}

#[tokio::test]
async fn error_of_the_last_source_lists_the_sources_before_it() {
    let world = World::new().with("AWS_EC2_METADATA_DISABLED", "");
    world.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", &nowhere().await);
    let text = passing(&chain(&world)).await;
    assert_contains(&text, &["instance metadata: ", "cannot connect", "Sources tried before: variables: "]);
}

#[tokio::test]
async fn calls_fail_at_once_on_invalid_configuration_and_succeed_after_the_fix() {
    let sqs = MockServer::start().await;
    let signed = header_regex("authorization", "Credential=AK/");
    Mock::given(method("POST")).and(signed).respond_with(accepted()).expect(1).mount(&sqs).await;
    let world = World::new().with("AWS_REGION", "eu-west-1").with("AWS_ENDPOINT_URL_SQS", &sqs.uri());
    let client = client(&world);
    world.write(".aws/config", "[default]\ngarbage\n");
    let error = send(&client).await.expect_err("malformed");
    assert_eq!((error.attempts(), error.is_retryable()), (0, false));
    assert_contains(&error.to_string(), &[".aws/config:2: expected a setting"]);
    world.write(".aws/config", "[default]\naws_access_key_id = AK\naws_secret_access_key = s\n");
    send(&client).await.expect("mended");
}

#[tokio::test]
async fn failure_of_a_service_is_retryable() {
    let service = MockServer::start().await;
    Mock::given(method("GET")).respond_with(ResponseTemplate::new(503)).mount(&service).await;
    let world = World::new().with("AWS_REGION", "eu-west-1");
    let client = client(&world.with("AWS_CONTAINER_CREDENTIALS_FULL_URI", &service.uri()));
    let error = send(&client).await.expect_err("unavailable");
    assert!(error.is_retryable() && error.kind() == ErrorKind::Credentials, "{error}");
    assert_contains(&error.to_string(), &["container: ", "status 503"]);
}

#[tokio::test]
async fn chain_uses_the_region_and_clock_of_the_builder() {
    let clock = Clock::new();
    clock.advance(7_200);
    let today = stamp(clock.now()).replace(['-', ':'], "");
    let (sts, sqs) = (MockServer::start().await, MockServer::start().await);
    Mock::given(header_regex("authorization", "/eu-central-1/sts/aws4_request"))
        .and(header_regex("x-amz-date", &format!("^{}", &today[..11])))
        .respond_with(assumed("AssumeRole", "AK", clock.now() + Duration::from_secs(3_600)))
        .expect(1)
        .mount(&sts)
        .await;
    Mock::given(method("POST")).respond_with(accepted()).mount(&sqs).await;
    let world = World::new().with("AWS_ENDPOINT_URL_STS", &sts.uri()).with("AWS_REGION", "eu-west-1").file(
        ".aws/config",
        "[default]\nrole_arn=arn:aws:iam::1:role/r\nsource_profile=base\n\
         [profile base]\naws_access_key_id=AKBASE\naws_secret_access_key=s\n",
    );
    let builder = Builder::from_environment(world.environment()).expect("valid");
    let builder = builder.region(Region::new("eu-central-1")).time_source(clock).endpoint_url(sqs.uri());
    send(&Client::from_conf(builder.build())).await.expect("accepted");
}

#[tokio::test]
async fn derived_clients_share_credentials_until_the_provider_is_replaced() {
    let service = MockServer::start().await;
    let answer = metadata("AKSHARED", in_an_hour());
    Mock::given(method("GET")).respond_with(answer).expect(1).mount(&service).await;
    let sqs = MockServer::start().await;
    Mock::given(method("POST")).respond_with(accepted()).mount(&sqs).await;
    let world = World::new()
        .with("AWS_REGION", "eu-west-1")
        .with("AWS_ENDPOINT_URL_SQS", &sqs.uri())
        .with("AWS_CONTAINER_CREDENTIALS_FULL_URI", &service.uri());
    let first = client(&world);
    send(&first).await.expect("accepted");
    let derived = Client::from_conf(first.config().to_builder().validate_input(true).build());
    send(&derived).await.expect("accepted");
    let own =
        first.config().to_builder().credentials_provider(Credentials::new("AKOWN", "s", None, None, "x"));
    send(&Client::from_conf(own.build())).await.expect("accepted");
    let keys: Vec<_> = sqs.received_requests().await.expect("recorded").iter().map(key).collect();
    assert_eq!(keys, ["AKSHARED", "AKSHARED", "AKOWN"]);
}

fn key(request: &wiremock::Request) -> String {
    let header = request.headers.get("authorization").expect("signed").to_str().expect("text");
    let from = header.find("Credential=").expect("a credential") + "Credential=".len();
    header[from..].split('/').next().unwrap_or_default().to_owned()
}
