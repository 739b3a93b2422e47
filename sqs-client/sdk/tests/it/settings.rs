//! Settings of `sqs_sdk`, for a client and for a single call.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::{self, ProvideCredentials, future};
use aws_smithy_runtime_api::client::identity::{
    IdentityFuture, ResolveCachedIdentity, ResolveIdentity as _, SharedIdentityResolver,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use bytes::Bytes;
use http_body_util::Full;
use sqs_mock_server::MockSqs;
use sqs_sdk::config::retry::RetryConfig;
use sqs_sdk::config::timeout::TimeoutConfig;
use sqs_sdk::config::{AppName, Builder, Region, SharedCredentialsProvider};
use sqs_sdk::error::SdkError;
use sqs_sdk::{Client, Config};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer};

use crate::service::{Act, json, raw_service, refusal};

/// Counts how often credentials are requested.
#[derive(Clone, Debug, Default)]
struct Counted(Arc<AtomicU32>);

impl Counted {
    fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

impl ProvideCredentials for Counted {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        self.0.fetch_add(1, Ordering::SeqCst);
        let credentials: provider::Result = Ok(Credentials::new("AKID", "secret", None, None, "test"));
        future::ProvideCredentials::ready(credentials)
    }
}

fn config(endpoint: &str) -> Builder {
    Config::builder()
        .region(Region::new("eu-west-1"))
        .endpoint_url(endpoint)
        .credentials_provider(Counted::default())
}

async fn empty_service() -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(json(200, "{}")).mount(&server).await;
    server
}

/// The user agents of the received requests.
async fn user_agents(server: &MockServer) -> Vec<String> {
    let requests = server.received_requests().await.expect("recorded");
    let agent =
        |request: &wiremock::Request| request.headers["user-agent"].to_str().expect("text").to_owned();
    requests.iter().map(agent).collect()
}

#[tokio::test]
async fn override_changes_only_the_given_settings_of_one_call() {
    let (usual, special) = (empty_service().await, empty_service().await);
    let credentials = Counted::default();
    let named = config(&usual.uri())
        .credentials_provider(credentials.clone())
        .app_name(AppName::new("orders").expect("valid"));
    let client = Client::from_conf(named.build());
    let elsewhere = Config::builder().endpoint_url(special.uri());
    client.list_queues().customize().config_override(elsewhere).send().await.expect("answered");
    client.list_queues().send().await.expect("answered");
    let agents = (user_agents(&usual).await, user_agents(&special).await);
    assert_eq!((agents.0.len(), agents.1.len()), (1, 1));
    assert!(agents.1[0].ends_with("app/orders"), "{agents:?}");
    assert_eq!(agents.0, agents.1);
    // Both calls used the same credentials.
    assert_eq!(credentials.count(), 1, "credentials are shared");
}

/// A service without queues that keeps connections open and counts them.
async fn keep_alive_service() -> (String, Arc<AtomicU32>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let connections = Arc::new(AtomicU32::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            let answer = hyper::service::service_fn(async |_| {
                Ok::<_, Infallible>(http::Response::new(Full::new(Bytes::from_static(b"{}"))))
            });
            let connection = hyper::server::conn::http1::Builder::new();
            tokio::spawn(connection.serve_connection(hyper_util::rt::TokioIo::new(stream), answer));
        }
    });
    (url, connections)
}

#[tokio::test]
async fn override_shares_connections_unless_it_changes_connection_settings() {
    let (endpoint, connections) = keep_alive_service().await;
    let client = Client::from_conf(config(&endpoint).build());
    client.list_queues().send().await.expect("answered");
    for _ in 0..3 {
        let settings = Config::builder().retry_config(RetryConfig::disabled());
        client.list_queues().customize().config_override(settings).send().await.expect("answered");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    let timeouts = TimeoutConfig::builder().connect_timeout(Duration::from_secs(1)).build();
    let settings = Config::builder().timeout_config(timeouts);
    client.list_queues().customize().config_override(settings).send().await.expect("answered");
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn override_replaces_credentials() {
    let server = empty_service().await;
    let client = Client::from_conf(config(&server.uri()).build());
    let other = Credentials::new("OTHER", "secret", None, None, "test");
    let settings = Config::builder().credentials_provider(other);
    client.list_queues().customize().config_override(settings).send().await.expect("answered");
    let requests = server.received_requests().await.expect("recorded");
    let authorization = requests[0].headers["authorization"].to_str().expect("text");
    assert!(authorization.contains("Credential=OTHER/"), "{authorization}");
}

#[tokio::test]
async fn override_of_retries_applies() {
    let server = MockServer::start().await;
    let busy = refusal(503, "ServiceUnavailable", "ServiceUnavailable", "busy");
    Mock::given(any()).respond_with(busy).mount(&server).await;
    let quick = RetryConfig::standard().with_initial_backoff(Duration::from_millis(1));
    let client = Client::from_conf(config(&server.uri()).retry_config(quick).build());
    let settings = Config::builder().retry_config(RetryConfig::disabled());
    client.list_queues().customize().config_override(settings).send().await.expect_err("busy");
    assert_eq!(server.received_requests().await.expect("recorded").len(), 1);
    client.list_queues().send().await.expect_err("busy");
    assert_eq!(server.received_requests().await.expect("recorded").len(), 4);
}

#[tokio::test]
async fn override_shares_the_retry_budget() {
    let server = MockServer::start().await;
    let busy = refusal(503, "ServiceUnavailable", "ServiceUnavailable", "busy");
    Mock::given(any()).respond_with(busy).mount(&server).await;
    let client = Client::from_conf(config(&server.uri()).build());
    // 500 tokens at 5 per retry allow 100 retries, over all calls.
    let eager = RetryConfig::standard().with_max_attempts(60).with_initial_backoff(Duration::from_nanos(1));
    let eager = eager.with_max_backoff(Duration::from_nanos(1));
    for _ in 0..4 {
        let settings = Config::builder().retry_config(eager.clone());
        client.list_queues().customize().config_override(settings).send().await.expect_err("busy");
    }
    assert_eq!(server.received_requests().await.expect("recorded").len(), 4 + 100);
}

/// The plain client adds the wait time of a receive to the attempt timeout, the SDK does not.
#[tokio::test(start_paused = true)]
async fn override_of_a_converted_client_cuts_no_long_poll() {
    let server = MockSqs::in_process();
    let url = server.client().create_queue().queue_name("q").send().await.expect("created").queue_url;
    let timeouts = TimeoutConfig::builder().operation_attempt_timeout(Duration::from_secs(2)).build();
    let plain = server.client_config().timeout_config(timeouts).build();
    let client = Client::from(sqs_client::Client::from_conf(plain));
    let poll = client.receive_message().set_queue_url(url).wait_time_seconds(20).customize();
    let settings = Config::builder().retry_config(RetryConfig::standard().with_max_attempts(2));
    poll.config_override(settings).send().await.expect("an empty answer after 20 seconds");
}

#[tokio::test]
async fn override_of_one_timeout_keeps_the_others() {
    let (endpoint, _) = raw_service(vec![Act::Hang(String::new())]).await;
    let short = TimeoutConfig::builder().operation_timeout(Duration::from_millis(50)).build();
    let client = Client::from_conf(config(&endpoint).timeout_config(short).build());
    let long = TimeoutConfig::builder().operation_attempt_timeout(Duration::from_secs(60)).build();
    let settings = Config::builder().timeout_config(long);
    let started = tokio::time::Instant::now();
    let error =
        client.list_queues().customize().config_override(settings).send().await.expect_err("too slow");
    assert!(matches!(error, SdkError::TimeoutError(_)), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(10), "the operation timeout still applies");
}

#[tokio::test]
async fn client_converted_from_a_plain_one_keeps_its_transport_in_both_directions() {
    let server = MockSqs::in_process();
    let client = Client::from(server.client());
    let url =
        client.create_queue().queue_name("orders").send().await.expect("created").queue_url.expect("a URL");
    let quick = Config::builder().retry_config(RetryConfig::disabled());
    client
        .send_message()
        .queue_url(&url)
        .message_body("x")
        .customize()
        .config_override(quick)
        .send()
        .await
        .expect("sent");
    let received = client.as_plain().receive_message().queue_url(&url).send().await.expect("received");
    assert_eq!(received.messages().len(), 1);
}

#[test]
fn settings_of_a_plain_configuration_can_be_cleared() {
    let timeouts = TimeoutConfig::builder().operation_timeout(Duration::from_secs(9)).build();
    let plain = sqs_client::Config::builder()
        .retry_config(RetryConfig::standard().with_max_attempts(9))
        .timeout_config(timeouts)
        .app_name(sqs_client::config::AppName::new("orders").expect("valid"));
    let mut builder = Config::from(plain.build()).to_builder();
    let of_client = |builder: &Builder| {
        let client = Client::from_conf(builder.clone().build());
        let config = client.as_plain().config();
        let timeouts = config.timeout_config().and_then(TimeoutConfig::operation_timeout);
        (config.retry_config().map(RetryConfig::max_attempts), timeouts, config.app_name().is_some())
    };
    assert_eq!(of_client(&builder), (Some(9), Some(Duration::from_secs(9)), true));
    builder.set_retry_config(None).set_timeout_config(None).set_app_name(None);
    assert_eq!(of_client(&builder), (Some(3), None, false));
}

/// Caches nothing and counts requests.
#[derive(Clone, Debug, Default)]
struct NoCache(Arc<AtomicU32>);

impl ResolveCachedIdentity for NoCache {
    fn resolve_cached_identity<'a>(
        &'a self,
        resolver: SharedIdentityResolver,
        components: &'a RuntimeComponents,
        config: &'a ConfigBag,
    ) -> IdentityFuture<'a> {
        self.0.fetch_add(1, Ordering::SeqCst);
        IdentityFuture::new(async move { resolver.resolve_identity(components, config).await })
    }
}

#[tokio::test]
async fn identity_cache_is_queried_for_each_request() {
    let server = empty_service().await;
    let (cache, credentials) = (NoCache::default(), Counted::default());
    let cached =
        config(&server.uri()).credentials_provider(credentials.clone()).identity_cache(cache.clone());
    let client = Client::from_conf(cached.build());
    for _ in 0..3 {
        client.list_queues().send().await.expect("answered");
    }
    assert_eq!((cache.0.load(Ordering::SeqCst), credentials.count()), (3, 3));
}

#[tokio::test]
async fn identity_cache_can_be_shared_with_a_client_of_the_aws_sdk() {
    let server = empty_service().await;
    let asked = Counted::default();
    let credentials = SharedCredentialsProvider::new(asked.clone());
    let sdk = aws_types::SdkConfig::builder()
        .behavior_version(aws_sdk_sqs::config::BehaviorVersion::latest())
        .region(Region::new("eu-west-1"))
        .endpoint_url(server.uri())
        .credentials_provider(credentials)
        .identity_cache(aws_sdk_sqs::config::IdentityCache::lazy().build())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    let (theirs, ours) = (aws_sdk_sqs::Client::new(&sdk), Client::new(&sdk));
    for _ in 0..2 {
        theirs.list_queues().send().await.expect("answered");
        ours.list_queues().send().await.expect("answered");
    }
    assert_eq!(asked.count(), 1);
}

#[test]
fn debug_shows_no_secret() {
    let credentials = Credentials::new("AKID", "very-secret", None, None, "test");
    let endpoint = "http://user:url-password@localhost:1";
    let client = Client::from_conf(config(endpoint).credentials_provider(credentials).build());
    let request = client.list_queues().customize().config_override(client.config().to_builder());
    let text = format!("{client:?} {:?} {:?} {request:?}", client.config(), client.config().to_builder());
    assert!(text.contains("localhost:1"), "{text}");
    assert!(!text.contains("very-secret") && !text.contains("url-password"), "{text}");
}

#[cfg(feature = "test-util")]
#[test]
fn test_defaults_set_credentials_clock_and_region() {
    let config = Config::builder().with_test_defaults_v2().build();
    assert_eq!(config.region(), Some(&Region::new("us-east-1")));
    assert!(config.credentials_provider().is_some() && config.time_source().is_some());
}
