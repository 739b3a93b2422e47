//! Credentials from EC2 instances.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqs_client::config::Builder;
use sqs_client::config::credentials::InstanceCredentials;
use sqs_client::transport::{Transport, TransportError, TransportErrorKind, TransportFuture};
use wiremock::matchers::{header, header_exists, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::rig::*;

const ROLES: &str = "/latest/meta-data/iam/security-credentials/";

fn world(endpoint: &str) -> World {
    World::new()
        .with("AWS_EC2_METADATA_DISABLED", "false")
        .with("AWS_EC2_METADATA_SERVICE_ENDPOINT", endpoint)
}

fn provider(endpoint: &str) -> InstanceCredentials {
    InstanceCredentials::new(world(endpoint).environment())
}

/// A service that issues tokens, and returns a role name for requests with a token.
async fn instance() -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("PUT"))
        .and(path("/latest/api/token"))
        .and(header_exists("x-aws-ec2-metadata-token-ttl-seconds"))
        .respond_with(ResponseTemplate::new(200).set_body_string("imds-token"))
        .mount(&server)
        .await;
    on_get(&server, ROLES, ResponseTemplate::new(200).set_body_string("orders-role\n")).await;
    server
}

async fn on_get(server: &MockServer, at: &str, answer: ResponseTemplate) {
    let with_token = header("x-aws-ec2-metadata-token", "imds-token");
    Mock::given(method("GET")).and(path(at)).and(with_token).respond_with(answer).mount(server).await;
}

#[tokio::test]
async fn instance_role_is_loaded_with_a_session_token() {
    let server = instance().await;
    on_get(&server, &format!("{ROLES}orders-role"), metadata("AKEC2", in_an_hour())).await;
    let credentials = given(&provider(&server.uri())).await;
    assert_eq!(credentials.access_key_id(), "AKEC2");
    assert!(credentials.expiry().is_some());
}

#[tokio::test]
async fn default_endpoint_is_used_unless_another_is_configured() {
    for (mode, host) in [("", "169.254.169.254"), ("ipv6", "[fd00:ec2::254]")] {
        let server = instance().await;
        on_get(&server, &format!("{ROLES}orders-role"), metadata("AK", in_an_hour())).await;
        let transport = Rerouted::to(&server.uri());
        let hosts = Arc::clone(&transport.hosts);
        let world = world("").with("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", mode);
        given(&InstanceCredentials::new(world.environment().metadata_transport(transport))).await;
        assert!(hosts.lock().expect("not poisoned").iter().all(|asked| asked == host));
    }
    let world = world("").with("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPv5");
    let text = invalid(&InstanceCredentials::new(world.environment())).await;
    assert_contains(&text, &["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE=\"IPv5\"", "IPv4 or IPv6"]);
}

#[tokio::test]
async fn version_1_is_never_used() {
    let server = MockServer::start().await;
    Mock::given(method("PUT")).respond_with(ResponseTemplate::new(403)).mount(&server).await;
    Mock::given(method("GET")).respond_with(metadata("AK", in_an_hour())).expect(0).mount(&server).await;
    assert_contains(&invalid(&provider(&server.uri())).await, &["/latest/api/token", "403", "disabled"]);
}

#[tokio::test]
async fn instance_without_a_role_is_skipped() {
    let server = instance().await;
    let world = world(&server.uri());
    server.reset().await;
    Mock::given(method("PUT"))
        .respond_with(ResponseTemplate::new(200).set_body_string("imds-token"))
        .mount(&server)
        .await;
    let text = skipped(&InstanceCredentials::new(world.environment())).await;
    assert_contains(&text, &["the instance has no IAM role"]);
}

#[tokio::test]
async fn service_failures_are_retried_and_then_retryable() {
    let server = instance().await;
    let role = format!("{ROLES}orders-role");
    Mock::given(path(role.as_str()))
        .respond_with(ResponseTemplate::new(500))
        .up_to_n_times(2)
        .with_priority(1)
        .mount(&server)
        .await;
    on_get(&server, &role, metadata("AK", in_an_hour())).await;
    assert_eq!(given(&provider(&server.uri())).await.access_key_id(), "AK");
    Mock::given(path(role.as_str()))
        .respond_with(ResponseTemplate::new(500))
        .with_priority(1)
        .mount(&server)
        .await;
    assert_contains(&passing(&provider(&server.uri())).await, &["orders-role: status 500"]);
}

#[tokio::test]
async fn error_distinguishes_rejection_timeout_and_invalid_response() {
    let role = format!("{ROLES}orders-role");
    let server = instance().await;
    on_get(&server, &role, ResponseTemplate::new(401)).await;
    assert_contains(&invalid(&provider(&server.uri())).await, &[&server.uri(), "orders-role: status 401"]);

    let server = instance().await;
    on_get(&server, &role, metadata("AK", in_an_hour()).set_delay(Duration::from_secs(5))).await;
    let text = passing(&InstanceCredentials::new(world(&server.uri()).impatient())).await;
    assert_contains(&text, &["no response within 40ms"]);

    let server = instance().await;
    on_get(&server, &role, ResponseTemplate::new(200).set_body_string(SECRET)).await;
    assert_contains(&passing(&provider(&server.uri())).await, &["orders-role", "is not JSON"]);

    let server = MockServer::start().await;
    Mock::given(method("PUT"))
        .respond_with(ResponseTemplate::new(200).set_body_string("imds-token"))
        .mount(&server)
        .await;
    let page = ResponseTemplate::new(200).set_body_string("<html>hello</html>");
    Mock::given(method("GET")).respond_with(page).mount(&server).await;
    assert_contains(&passing(&provider(&server.uri())).await, &["is not a valid role name"]);
}

#[tokio::test]
async fn absent_service_is_skipped_unless_configured_or_seen_before() {
    let nowhere = nowhere().await;
    assert_contains(&passing(&provider(&nowhere)).await, &["cannot connect"]);

    let environment = world("").environment().metadata_transport(Rerouted::to(&nowhere));
    let text = skipped(&InstanceCredentials::new(environment)).await;
    assert_contains(&text, &["no EC2 metadata service", "http://169.254.169.254"]);

    let server = instance().await;
    on_get(&server, &format!("{ROLES}orders-role"), metadata("AK", in_an_hour())).await;
    let transport = Rerouted::to(&server.uri());
    let fake = Arc::clone(&transport.fake);
    let provider = InstanceCredentials::new(world("").environment().metadata_transport(transport));
    given(&provider).await;
    *fake.lock().expect("not poisoned") = nowhere;
    assert_eq!(given(&provider).await.access_key_id(), "AK", "the last credentials stay in use");
}

/// Accepts no connection, or does not respond, and counts requests.
#[derive(Clone, Debug)]
struct Silent {
    accepts: bool,
    requests: Arc<AtomicUsize>,
}

impl Transport for Silent {
    fn send(&self, _: http::Request<bytes::Bytes>) -> TransportFuture<'_> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let accepts = self.accepts;
        Box::pin(async move {
            if accepts {
                std::future::pending::<()>().await;
            }
            Err(TransportError::new(TransportErrorKind::Connect, "refused"))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn silent_service_is_queried_again_only_after_10_seconds() {
    for (accepts, attempts) in [(false, 1), (true, 3)] {
        let requests: Arc<AtomicUsize> = Arc::default();
        let transport = Silent { accepts, requests: Arc::clone(&requests) };
        let environment = world("").environment().metadata_transport(transport);
        for (after, queries) in [(0, 1), (9, 1), (1, 2), (0, 2)] {
            tokio::time::advance(Duration::from_secs(after)).await;
            // All providers of an environment share what is known.
            let provider = InstanceCredentials::new(environment.clone());
            let text = if accepts { passing(&provider).await } else { skipped(&provider).await };
            assert_contains(&text, &["http://169.254.169.254"]);
            assert_eq!(requests.load(Ordering::SeqCst), queries * attempts, "after {after} s");
        }
    }
}

#[tokio::test]
async fn metadata_service_of_another_cloud_is_skipped() {
    let server = MockServer::start().await;
    let environment = world("").environment().metadata_transport(Rerouted::to(&server.uri()));
    let text = skipped(&InstanceCredentials::new(environment)).await;
    assert_contains(&text, &["status 404: not an EC2 instance"]);
    Mock::given(method("PUT")).respond_with(ResponseTemplate::new(403)).mount(&server).await;
    let environment = world("").environment().metadata_transport(Rerouted::to(&server.uri()));
    let text = skipped(&InstanceCredentials::new(environment)).await;
    assert_contains(&text, &["status 403: the service is disabled"]);
}

#[tokio::test]
async fn expired_credentials_are_used_if_there_are_no_newer_ones() {
    let server = instance().await;
    let past = in_an_hour() - Duration::from_secs(7_200);
    on_get(&server, &format!("{ROLES}orders-role"), metadata("AK", past)).await;
    let expiry = given(&provider(&server.uri())).await.expiry().expect("set");
    assert!(expiry > past + Duration::from_secs(3_600));
}

#[tokio::test]
async fn region_comes_from_the_instance_if_nothing_else_is_configured() {
    let server = instance().await;
    let region = ResponseTemplate::new(200).set_body_string("eu-south-2");
    on_get(&server, "/latest/meta-data/placement/region", region).await;
    let loaded = |world: World| async move {
        let config = Builder::load_from(world.environment()).await.expect("valid").build();
        config.region().map(ToString::to_string)
    };
    assert_eq!(loaded(world(&server.uri())).await.as_deref(), Some("eu-south-2"));
    let named = world(&server.uri()).with("AWS_REGION", "eu-west-1");
    assert_eq!(loaded(named).await.as_deref(), Some("eu-west-1"));
    let of_endpoint =
        world(&server.uri()).with("AWS_ENDPOINT_URL_SQS", "https://sqs.eu-west-3.amazonaws.com");
    assert_eq!(loaded(of_endpoint).await, None, "the client takes it from the endpoint");
    assert_eq!(loaded(World::new()).await, None);
    assert_eq!(loaded(world(&nowhere().await)).await, None);
}
