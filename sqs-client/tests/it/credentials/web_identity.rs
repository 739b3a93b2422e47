//! Credentials in exchange for tokens of an identity provider, such as on EKS.

use std::time::Duration;

use sqs_client::config::credentials::{ProfileCredentials, WebIdentityCredentials};
use wiremock::matchers::{body_string_contains, header, method};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::rig::*;

const ACTION: &str = "AssumeRoleWithWebIdentity";
const ROLE: &str = "arn:aws:iam::123456789012:role/orders";

async fn sts(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(answer).mount(&server).await;
    server
}

fn world(sts: &str) -> World {
    let world = World::new().file("token", "jwt-1\n");
    world.set("AWS_WEB_IDENTITY_TOKEN_FILE", &world.path("token").display().to_string());
    world.with("AWS_ROLE_ARN", ROLE).with("AWS_REGION", "eu-west-1").with("AWS_ENDPOINT_URL_STS", sts)
}

fn provider(world: &World) -> WebIdentityCredentials {
    WebIdentityCredentials::new(world.environment())
}

#[tokio::test]
async fn token_file_is_read_and_exchanged_at_each_call() {
    let server = MockServer::start().await;
    for number in [1, 2] {
        Mock::given(method("POST"))
            .and(header("content-type", "application/x-www-form-urlencoded; charset=utf-8"))
            .and(body_string_contains(format!(
                "Action={ACTION}&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A"
            )))
            .and(body_string_contains("RoleSessionName=billing"))
            .and(body_string_contains(format!("WebIdentityToken=jwt-{number}")))
            .respond_with(assumed(ACTION, &format!("AK{number}"), in_an_hour()))
            .expect(1)
            .mount(&server)
            .await;
    }
    let world = world(&server.uri()).with("AWS_ROLE_SESSION_NAME", "billing");
    let provider = provider(&world);
    let credentials = given(&provider).await;
    assert_eq!(credentials.access_key_id(), "AK1");
    assert!(credentials.expiry().is_some() && credentials.session_token().is_some());
    world.write("token", "jwt-2");
    assert_eq!(given(&provider).await.access_key_id(), "AK2");
    let requests = server.received_requests().await.expect("recorded");
    assert!(requests.iter().all(|request| !request.headers.contains_key("authorization")), "not signed");
}

#[tokio::test]
async fn error_names_missing_or_empty_token_file_and_next_call_reads_the_fixed_one() {
    let server = sts(assumed(ACTION, "AK", in_an_hour())).await;
    let world = world(&server.uri());
    let provider = provider(&world);
    std::fs::remove_file(world.path("token")).expect("removed");
    let text = invalid(&provider).await;
    assert_contains(&text, &["AWS_WEB_IDENTITY_TOKEN_FILE", "token does not exist"]);
    world.write("token", " \n");
    assert_contains(&invalid(&provider).await, &["token is empty"]);
    std::fs::remove_file(world.path("token")).expect("removed");
    std::fs::create_dir(world.path("token")).expect("made");
    assert_contains(&invalid(&provider).await, &["is not a regular file"]);
    std::fs::remove_dir(world.path("token")).expect("removed");
    world.write("token", "jwt-1");
    assert_eq!(given(&provider).await.access_key_id(), "AK");
}

#[tokio::test]
async fn token_file_without_role_is_an_error() {
    let world = world("http://unused").with("AWS_ROLE_ARN", "");
    assert_contains(&invalid(&provider(&world)).await, &["AWS_ROLE_ARN is not"]);
    assert_contains(&skipped(&provider(&World::new())).await, &["AWS_WEB_IDENTITY_TOKEN_FILE is not set"]);
}

#[tokio::test]
async fn service_error_names_role_code_and_endpoint() {
    let server = MockServer::start().await;
    let answer = denied(403, "AccessDenied", "Not authorized &amp; so on");
    Mock::given(method("POST")).respond_with(answer).expect(1).mount(&server).await;
    let text = invalid(&provider(&world(&server.uri()))).await;
    assert_contains(
        &text,
        &["web identity", &server.uri(), ROLE, "403", "AccessDenied: Not authorized & so on"],
    );
    let server = sts(denied(400, "IDPCommunicationError", "later")).await;
    assert_contains(&passing(&provider(&world(&server.uri()))).await, &["IDPCommunicationError"]);
}

#[tokio::test]
async fn failing_slow_or_unreachable_service_is_a_retryable_error() {
    let server = sts(denied(500, "InternalFailure", "")).await;
    assert_contains(&passing(&provider(&world(&server.uri()))).await, &["status 500"]);
    assert_eq!(server.received_requests().await.expect("recorded").len(), 3);

    let server = sts(assumed(ACTION, "AK", in_an_hour()).set_delay(Duration::from_secs(5))).await;
    let slow = WebIdentityCredentials::new(world(&server.uri()).impatient());
    assert_contains(&passing(&slow).await, &["no response within 20ms"]);

    assert_contains(&passing(&provider(&world(&nowhere().await))).await, &["cannot connect"]);
}

#[tokio::test]
async fn error_for_invalid_response_quotes_nothing() {
    for body in [SECRET.to_owned(), format!("<a><SecretAccessKey>{SECRET}</SecretAccessKey></a>")] {
        let server = sts(ResponseTemplate::new(200).set_body_string(body)).await;
        assert_contains(&passing(&provider(&world(&server.uri()))).await, &[&server.uri()]);
    }
}

#[tokio::test]
async fn token_file_can_come_from_the_profile() {
    let server = sts(assumed(ACTION, "AK", in_an_hour())).await;
    let world = World::new().with("AWS_ENDPOINT_URL_STS", &server.uri()).file("token", "jwt-1");
    let provider = ProfileCredentials::new(world.environment());
    for token in [world.path("token").display().to_string(), "~/token".to_owned()] {
        world.write(
            ".aws/config",
            &format!(
                "[default]\nrole_arn = {ROLE}\nweb_identity_token_file = {token}\nrole_session_name = x1\n"
            ),
        );
        assert_eq!(given(&provider).await.access_key_id(), "AK", "{token}");
    }
    std::fs::remove_file(world.path("token")).expect("removed");
    assert_contains(&invalid(&provider).await, &[".aws/config:3: web_identity_token_file", "does not exist"]);
}
