//! Credentials from ECS and EKS Pod Identity.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::config::credentials::ContainerCredentials;
use sqs_client::time::TimeSource as _;
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::rig::*;

const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";

async fn service(answer: ResponseTemplate) -> (MockServer, World) {
    let server = MockServer::start().await;
    Mock::given(method("GET")).and(path("/v1/credentials")).respond_with(answer).mount(&server).await;
    let world = World::new().with(FULL, &format!("{}/v1/credentials", server.uri()));
    (server, world)
}

fn provider(world: &World) -> ContainerCredentials {
    ContainerCredentials::new(world.environment())
}

#[tokio::test]
async fn ecs_returns_credentials_with_expiry() {
    let server = MockServer::start().await;
    let answer = metadata("AKECS", in_an_hour());
    Mock::given(path("/v2/credentials/1")).respond_with(answer).expect(1).mount(&server).await;
    let world = World::new().with("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/1");
    let transport = Rerouted::to(&server.uri());
    let hosts = Arc::clone(&transport.hosts);
    let credentials =
        given(&ContainerCredentials::new(world.environment().metadata_transport(transport))).await;
    assert_eq!(credentials.access_key_id(), "AKECS");
    assert_eq!(credentials.session_token(), Some("hunter2-secret-token"));
    assert!(credentials.expiry().is_some());
    assert_eq!(*hosts.lock().expect("not poisoned"), ["169.254.170.2"]);
}

#[tokio::test]
async fn eks_pod_identity_token_file_is_read_at_each_call() {
    let (server, world) = service(ResponseTemplate::new(401)).await;
    for token in ["token-1", "token-2"] {
        let answer = metadata(&token.replace("token", "AK"), in_an_hour());
        Mock::given(header("authorization", token))
            .respond_with(answer)
            .with_priority(1)
            .mount(&server)
            .await;
    }
    world.write("token", "token-1\n");
    world.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &world.path("token").display().to_string());
    world.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "the file wins");
    let provider = provider(&world);
    assert_eq!(given(&provider).await.access_key_id(), "AK-1");
    world.write("token", "token-2");
    assert_eq!(given(&provider).await.access_key_id(), "AK-2");
    std::fs::remove_file(world.path("token")).expect("removed");
    let text = invalid(&provider).await;
    assert_contains(&text, &["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "token does not exist"]);
    world.write("token", "token-1");
    assert_eq!(given(&provider).await.access_key_id(), "AK-1", "fixed");
}

#[tokio::test]
async fn invalid_header_value_as_token_is_not_sent_and_not_shown() {
    let (_server, world) = service(metadata("AK", in_an_hour())).await;
    world.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", &format!("{SECRET}\r\nhost: evil"));
    assert_contains(&invalid(&provider(&world)).await, &["AWS_CONTAINER_AUTHORIZATION_TOKEN", "one line"]);
}

#[tokio::test]
async fn service_error_is_quoted_and_not_retried() {
    let server = MockServer::start().await;
    let body = r#"{"code":"AccessDeniedException","message":"no association"}"#;
    let answer = ResponseTemplate::new(403).set_body_raw(body, "application/json");
    Mock::given(method("GET")).respond_with(answer).expect(1).mount(&server).await;
    let world = World::new().with(FULL, &server.uri());
    let text = invalid(&provider(&world)).await;
    assert_contains(&text, &[&server.uri(), "status 403", "AccessDeniedException: no association"]);
}

#[tokio::test]
async fn service_failure_is_retried_and_then_retryable() {
    let server = MockServer::start().await;
    Mock::given(method("GET")).respond_with(ResponseTemplate::new(503)).expect(3).mount(&server).await;
    let world = World::new().with(FULL, &server.uri());
    assert_contains(&passing(&provider(&world)).await, &[&server.uri(), "status 503"]);
    server.verify().await;
    server.reset().await;
    Mock::given(method("GET")).respond_with(ResponseTemplate::new(500)).up_to_n_times(2).mount(&server).await;
    Mock::given(method("GET")).respond_with(metadata("AK", in_an_hour())).mount(&server).await;
    assert_eq!(given(&provider(&world)).await.access_key_id(), "AK");
}

#[tokio::test]
async fn slow_service_times_out_with_a_retryable_error() {
    let answer = metadata("AK", in_an_hour()).set_delay(Duration::from_secs(5));
    let (_server, world) = service(answer).await;
    let text = passing(&ContainerCredentials::new(world.impatient())).await;
    assert_contains(&text, &["no response within 40ms"]);
}

#[tokio::test]
async fn unreachable_service_is_a_retryable_error() {
    let world = World::new().with(FULL, &nowhere().await);
    assert_contains(&passing(&provider(&world)).await, &["http://127.0.0.1:", "cannot connect"]);
}

#[tokio::test]
async fn error_for_invalid_response_names_the_problem_and_quotes_nothing() {
    for (body, expected) in [
        (format!("{SECRET}!"), "is not JSON"),
        (format!(r#"{{"SecretAccessKey":"{SECRET}","Expiration":"2099-01-01T00:00:00Z"}}"#), "AccessKeyId"),
        (format!(r#"{{"AccessKeyId":"{SECRET}","SecretAccessKey":"{SECRET}"}}"#), "Expiration"),
    ] {
        let (_server, world) = service(ResponseTemplate::new(200).set_body_string(body)).await;
        assert_contains(&passing(&provider(&world)).await, &["/v1/credentials", expected]);
    }
    let (_server, world) = service(ResponseTemplate::new(200).set_body_bytes(vec![b' '; 100_000])).await;
    assert_contains(&invalid(&provider(&world)).await, &["longer than 65536 bytes"]);
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let target = MockServer::start().await;
    Mock::given(method("GET")).respond_with(metadata("AK", in_an_hour())).expect(0).mount(&target).await;
    let redirect = ResponseTemplate::new(302).insert_header("location", target.uri().as_str());
    let (_server, world) = service(redirect).await;
    assert_contains(&invalid(&provider(&world)).await, &["status 302"]);
}

#[tokio::test]
async fn source_without_variables_is_skipped() {
    assert_contains(&skipped(&provider(&World::new())).await, &["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"]);
}

/// Runs in a separate process, with the variables that the next test sets.
#[tokio::test]
#[ignore = "needs the variables of metadata_service_is_queried_without_proxy"]
async fn child_with_a_proxy() {
    let credentials = given(&ContainerCredentials::default()).await;
    assert_eq!(credentials.access_key_id(), "AK");
}

#[tokio::test]
async fn metadata_service_is_queried_without_proxy() {
    let proxy = MockServer::start().await;
    Mock::given(method("GET")).respond_with(metadata("PROXY", in_an_hour())).expect(0).mount(&proxy).await;
    let (server, _world) = service(metadata("AK", in_an_hour())).await;
    let name = "credentials::container::child_with_a_proxy";
    let child = tokio::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--ignored"])
        .env(FULL, format!("{}/v1/credentials", server.uri()))
        .env_remove("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
        .env("HTTP_PROXY", proxy.uri())
        .env("http_proxy", proxy.uri())
        .env("ALL_PROXY", proxy.uri())
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .await
        .expect("it runs");
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && output.contains("1 passed"), "{output}");
}

#[tokio::test]
async fn credentials_that_have_expired_by_the_local_clock_are_used() {
    let clock = Clock::new();
    clock.advance(86_400);
    let (_server, world) = service(metadata("AK", in_an_hour())).await;
    let provider = ContainerCredentials::new(world.environment().time_source(clock.clone()));
    assert!(given(&provider).await.expiry().expect("set") > clock.now());
}
