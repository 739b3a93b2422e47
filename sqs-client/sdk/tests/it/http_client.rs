//! A configured HTTP client of the AWS SDK sends every request.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_runtime_api::client::dns::ResolveDnsError;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_types::SdkConfig;
use sqs_client::transport::{TransportError, TransportErrorKind};
use sqs_sdk as sdk;
use sqs_sdk::config::endpoint::{Endpoint, EndpointFuture, Params, ResolveEndpoint};

/// Responds without a socket, and records requests and settings.
#[derive(Clone, Debug)]
struct Recorder(Arc<Mutex<Recorded>>);

/// Creates the response to each request.
type Answer = fn() -> Result<HttpResponse, ConnectorError>;

#[derive(Debug)]
struct Recorded {
    requests: Vec<HttpRequest>,
    settings: Vec<HttpConnectorSettings>,
    answer: Answer,
}

impl Recorder {
    fn new(answer: Answer) -> Self {
        Self(Arc::new(Mutex::new(Recorded { requests: Vec::new(), settings: Vec::new(), answer })))
    }

    fn look<T>(&self, at: impl FnOnce(&mut Recorded) -> T) -> T {
        at(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn requests(&self) -> usize {
        self.look(|recorded| recorded.requests.len())
    }
}

impl HttpConnector for Recorder {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::ready(self.look(|recorded| {
            recorded.requests.push(request);
            (recorded.answer)()
        }))
    }
}

impl HttpClient for Recorder {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        assert!(components.sleep_impl().is_some() && components.time_source().is_some());
        self.look(|recorded| recorded.settings.push(settings.clone()));
        SharedHttpConnector::new(self.clone())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other responses are errors")]
fn no_queues() -> Result<HttpResponse, ConnectorError> {
    let response = http::Response::builder().status(200).header("x-amzn-requestid", "r-1");
    let response = response.body(SdkBody::from(r#"{"QueueUrls":["u"]}"#)).expect("valid");
    Ok(response.try_into().expect("valid"))
}

fn shared_config(http: Recorder) -> SdkConfig {
    SdkConfig::builder()
        .region(aws_types::region::Region::new("eu-west-1"))
        .credentials_provider(SharedCredentialsProvider::new(Credentials::new(
            "AKID", "secret", None, None, "test",
        )))
        .http_client(http)
        .build()
}

#[tokio::test]
async fn plain_client_uses_the_http_client_of_a_shared_configuration() {
    let http = Recorder::new(no_queues);
    let client = sqs_client::Client::new(&shared_config(http.clone()));
    // Without the recorder, this call would go to AWS.
    assert_eq!(client.list_queues().send().await.expect("answered").queue_urls(), ["u"]);
    http.look(|recorded| {
        let request = &recorded.requests[0];
        assert_eq!(request.uri(), "https://sqs.eu-west-1.amazonaws.com/");
        assert_eq!(request.headers().get("x-amz-target"), Some("AmazonSQS.ListQueues"));
        assert!(request.headers().get("authorization").is_some_and(|text| text.contains("Credential=AKID/")));
        assert_eq!(request.body().bytes(), Some(&b"{}"[..]));
    });
}

#[tokio::test]
async fn sdk_client_uses_the_http_client_of_a_shared_configuration() {
    let http = Recorder::new(no_queues);
    let client = sdk::Client::new(&shared_config(http.clone()));
    client.list_queues().send().await.expect("answered");
    assert_eq!(http.requests(), 1);
    assert!(client.config().http_client().is_some());
}

#[tokio::test]
async fn default_transport_can_replace_the_http_client_of_a_shared_configuration() {
    let http = Recorder::new(no_queues);
    let server = sqs_mock_server::MockSqs::in_process();
    let config =
        sqs_client::config::Builder::from(&shared_config(http.clone())).transport(server.transport());
    sqs_client::Client::from_conf(config.build()).list_queues().send().await.expect("answered");
    assert_eq!(http.requests(), 0);
}

#[test]
fn debug_output_makes_no_connector() {
    let http = Recorder::new(no_queues);
    let config = sdk::Config::new(&shared_config(http.clone()));
    let shown = format!("{config:?} {:?}", config.to_builder());
    assert!(shown.contains("eu-west-1"), "{shown}");
    assert_eq!(http.look(|recorded| recorded.settings.len()), 0);
}

#[tokio::test]
async fn http_client_gets_the_configured_timeouts() {
    let http = Recorder::new(no_queues);
    let timeouts =
        aws_smithy_types::timeout::TimeoutConfig::builder().read_timeout(Duration::from_secs(7)).build();
    let config = shared_config(http.clone()).into_builder().timeout_config(timeouts).build();
    sdk::Client::new(&config).list_queues().send().await.expect("answered");
    let settings = http.look(|recorded| recorded.settings[0].clone());
    assert_eq!(settings.read_timeout(), Some(Duration::from_secs(7)));
    assert_eq!(settings.connect_timeout(), Some(Duration::from_millis(3_100)));
}

#[tokio::test]
async fn http_client_of_one_call_is_used_for_that_call_only() {
    let (usual, special) = (Recorder::new(no_queues), Recorder::new(no_queues));
    let client = sdk::Client::new(&shared_config(usual.clone()));
    let settings = sdk::Config::builder().http_client(special.clone());
    client.list_queues().customize().config_override(settings).send().await.expect("answered");
    assert_eq!((usual.requests(), special.requests()), (0, 1));
    client.list_queues().customize().config_override(sdk::Config::builder()).send().await.expect("answered");
    assert_eq!((usual.requests(), special.requests()), (1, 1));
    assert_eq!(usual.look(|recorded| recorded.settings.len()), 1, "the connector is kept");
}

#[tokio::test]
async fn override_that_disables_the_connect_timeout_reaches_the_http_client() {
    let http = Recorder::new(no_queues);
    let client = sdk::Client::new(&shared_config(http.clone()));
    let without = aws_smithy_types::timeout::TimeoutConfig::builder().disable_connect_timeout().build();
    let settings = sdk::Config::builder().timeout_config(without);
    client.list_queues().customize().config_override(settings).send().await.expect("answered");
    let latest = http.look(|recorded| recorded.settings.last().map(HttpConnectorSettings::connect_timeout));
    assert_eq!(latest, Some(None));
}

#[tokio::test]
async fn http_client_failures_keep_their_kind() {
    type IsKind = fn(&ConnectorError) -> bool;

    fn user() -> Result<HttpResponse, ConnectorError> {
        Err(ConnectorError::user("not today".into()))
    }
    fn timeout() -> Result<HttpResponse, ConnectorError> {
        Err(ConnectorError::timeout("too slow".into()))
    }
    fn other() -> Result<HttpResponse, ConnectorError> {
        Err(ConnectorError::other("odd".into(), None))
    }
    let checks: [(Answer, IsKind); 3] = [
        (user, ConnectorError::is_user),
        (timeout, ConnectorError::is_timeout),
        (other, ConnectorError::is_other),
    ];
    for (answer, is_kind) in checks {
        let config = shared_config(Recorder::new(answer)).into_builder();
        let config = config.retry_config(aws_smithy_types::retry::RetryConfig::disabled()).build();
        let error = sdk::Client::new(&config).list_queues().send().await.expect_err("it fails");
        let sdk::error::SdkError::DispatchFailure(failure) = &error else { panic!("{error:?}") };
        assert!(failure.as_connector_error().is_some_and(is_kind), "{failure:?}");
    }
}

#[tokio::test]
async fn response_over_the_limit_is_an_error() {
    #[expect(clippy::unnecessary_wraps, reason = "other responses are errors")]
    fn endless() -> Result<HttpResponse, ConnectorError> {
        let body = SdkBody::from(vec![b' '; 73 * 1_048_576]);
        Ok(HttpResponse::new(http::StatusCode::OK.as_u16().try_into().expect("valid"), body))
    }
    let http = Recorder::new(endless);
    let error =
        sqs_client::Client::new(&shared_config(http)).list_queues().send().await.expect_err("too long");
    let kind = error.transport_error().map(TransportError::kind);
    assert_eq!(kind, Some(TransportErrorKind::TooLarge));
}

#[tokio::test]
async fn outcome_is_known_when_an_http_client_made_no_connection() {
    fn unknown_host() -> Result<HttpResponse, ConnectorError> {
        Err(ConnectorError::io(ResolveDnsError::new("no such host").into()))
    }
    fn unreachable() -> Result<HttpResponse, ConnectorError> {
        Err(ConnectorError::io(io::Error::from(io::ErrorKind::HostUnreachable).into()))
    }
    fn connect_timeout() -> Result<HttpResponse, ConnectorError> {
        Err(ConnectorError::timeout("HTTP connect timeout occurred after 3.1s".into()))
    }
    fn no_handshake() -> Result<HttpResponse, ConnectorError> {
        Err(ConnectorError::io("client error (Connect)".into()))
    }
    fn reset() -> Result<HttpResponse, ConnectorError> {
        Err(ConnectorError::io(io::Error::from(io::ErrorKind::ConnectionReset).into()))
    }
    let checks: [(Answer, TransportErrorKind, bool); 5] = [
        (unknown_host, TransportErrorKind::Connect, false),
        (unreachable, TransportErrorKind::Connect, false),
        (connect_timeout, TransportErrorKind::Connect, false),
        (no_handshake, TransportErrorKind::Connect, false),
        (reset, TransportErrorKind::Broken, true),
    ];
    for (answer, kind, is_unknown) in checks {
        let config = shared_config(Recorder::new(answer)).into_builder();
        let config = config.retry_config(aws_smithy_types::retry::RetryConfig::disabled()).build();
        let error = sqs_client::Client::new(&config).list_queues().send().await.expect_err("it fails");
        assert_eq!(error.transport_error().map(TransportError::kind), Some(kind), "{error:?}");
        assert_eq!(error.is_outcome_unknown(), is_unknown, "{error:?}");
    }
}

/// Responds to each request after 20 seconds, unless it is told to read no longer.
#[derive(Clone, Debug)]
struct Slow {
    recorder: Recorder,
    read_timeout: Option<Duration>,
}

impl Slow {
    fn new() -> Self {
        Self { recorder: Recorder::new(no_queues), read_timeout: None }
    }
}

impl HttpConnector for Slow {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let read_timeout = self.read_timeout;
        self.recorder.look(|recorded| recorded.requests.push(request));
        HttpConnectorFuture::new(async move {
            let wait = Duration::from_secs(20);
            if let Some(limit) = read_timeout.filter(|limit| *limit < wait) {
                tokio::time::sleep(limit).await;
                return Err(ConnectorError::timeout("HTTP read timeout occurred".into()));
            }
            tokio::time::sleep(wait).await;
            Ok(HttpResponse::new(200.try_into().expect("valid"), SdkBody::from("{}")))
        })
    }
}

impl HttpClient for Slow {
    fn http_connector(&self, settings: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(Self { read_timeout: settings.read_timeout(), ..self.clone() })
    }
}

#[tokio::test(start_paused = true)]
async fn timeouts_cut_long_polls_of_the_client_but_not_of_layers_over_it() {
    let builder = aws_smithy_types::timeout::TimeoutConfig::builder;
    let limit = Duration::from_secs(5);
    for timeouts in
        [builder().read_timeout(limit).build(), builder().operation_attempt_timeout(limit).build()]
    {
        let config = shared_config(Recorder::new(no_queues)).into_builder().http_client(Slow::new());
        let config = config.retry_config(aws_smithy_types::retry::RetryConfig::disabled());
        let client = sdk::Client::new(&config.timeout_config(timeouts).build());
        let url = "https://sqs.eu-west-1.amazonaws.com/1/q";
        client.receive_message().queue_url(url).wait_time_seconds(20).send().await.expect_err("cut");
        let polled = client.as_plain().receive_message().queue_url(url).wait_time_seconds(20).send().await;
        polled.expect("an empty answer");
        // They still limit other requests.
        let error = client.as_plain().list_queues().send().await.expect_err("too slow");
        assert!(error.is_timeout(), "{error:?}");
    }
}

/// Resolves an endpoint after some time.
#[derive(Debug)]
struct Pensive(Duration);

impl ResolveEndpoint for Pensive {
    fn resolve_endpoint<'a>(&'a self, _: &'a Params) -> EndpointFuture<'a> {
        EndpointFuture::new(async {
            tokio::time::sleep(self.0).await;
            Ok(Endpoint::builder().url("https://sqs.eu-west-1.amazonaws.com").build())
        })
    }
}

#[tokio::test(start_paused = true)]
async fn operation_timeout_covers_the_endpoint_resolver_and_the_call() {
    let limit = Duration::from_secs(2);
    for pause in [Duration::from_millis(1_500), Duration::from_secs(5)] {
        let timeouts = aws_smithy_types::timeout::TimeoutConfig::builder().operation_timeout(limit).build();
        let config = sdk::Config::new(&shared_config(Recorder::new(no_queues))).to_builder();
        let config = config.http_client(Slow::new()).timeout_config(timeouts);
        let client = sdk::Client::from_conf(config.endpoint_resolver(Pensive(pause)).build());
        let begun = tokio::time::Instant::now();
        let error = client.list_queues().send().await.expect_err("too slow");
        assert!(matches!(error, sdk::error::SdkError::TimeoutError(_)), "{error:?}");
        assert!(begun.elapsed() < limit + Duration::from_millis(100), "{:?}", begun.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn read_timeout_of_a_shared_configuration_does_not_cut_long_polls() {
    let timeouts = aws_smithy_types::timeout::TimeoutConfig::builder();
    let timeouts = timeouts.read_timeout(Duration::from_secs(5)).build();
    let slow = Slow::new();
    let config = shared_config(slow.recorder.clone()).into_builder();
    let config = config.http_client(slow.clone()).timeout_config(timeouts);
    let client = sqs_client::Client::new(&config.build());
    let receive =
        client.receive_message().queue_url("https://sqs.eu-west-1.amazonaws.com/1/q").wait_time_seconds(20);
    receive.send().await.expect("an empty answer");
    assert_eq!(slow.recorder.requests(), 1);
    // It still limits other requests.
    let error = client.list_queues().send().await.expect_err("too slow");
    assert!(error.is_timeout() && error.attempts() == 3, "{error:?}");
}

#[tokio::test]
async fn timeout_of_an_http_client_is_a_timeout() {
    fn timeout() -> Result<HttpResponse, ConnectorError> {
        Err(ConnectorError::timeout("HTTP read timeout occurred after 5s".into()))
    }
    let config = shared_config(Recorder::new(timeout)).into_builder();
    let config = config.retry_config(aws_smithy_types::retry::RetryConfig::disabled()).build();
    let error = sqs_client::Client::new(&config).list_queues().send().await.expect_err("it fails");
    assert_eq!(error.kind(), sqs_client::ErrorKind::Timeout);
    assert_eq!(error.transport_error().map(TransportError::kind), Some(TransportErrorKind::Timeout));
    assert!(error.is_timeout() && error.is_retryable() && error.is_outcome_unknown(), "{error:?}");
}

#[tokio::test]
async fn disabled_connect_timeout_reaches_the_http_client() {
    let builder = aws_smithy_types::timeout::TimeoutConfig::builder;
    for (timeouts, expected) in [
        (builder().disable_connect_timeout().build(), None),
        (aws_smithy_types::timeout::TimeoutConfig::disabled(), None),
        (builder().build(), Some(Duration::from_millis(3_100))),
    ] {
        let http = Recorder::new(no_queues);
        let config = shared_config(http.clone()).into_builder().timeout_config(timeouts.clone()).build();
        sdk::Client::new(&config).list_queues().send().await.expect("answered");
        sqs_client::Client::new(&config).list_queues().send().await.expect("answered");
        let given = http.look(|recorded| {
            recorded.settings.iter().map(HttpConnectorSettings::connect_timeout).collect::<Vec<_>>()
        });
        assert_eq!(given, [expected, expected], "{timeouts:?}");
    }
}
