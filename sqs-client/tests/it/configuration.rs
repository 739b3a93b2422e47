//! Effects of the configuration, and errors of missing configuration.

use std::error::Error as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqs_client::config::credentials::EnvironmentCredentials;
use sqs_client::config::{AppName, Credentials, Region};
use sqs_client::observe::{CallReport, Observe};
use sqs_client::transport::PoolConfig;
use sqs_client::wire::protocol::Protocol;
use sqs_client::{Client, Config, ErrorKind};
use wiremock::matchers::{header, header_exists, header_regex, method};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::service::{HELLO, HELLO_MD5, QUEUE, accepted, client, json, settings};

async fn failure(config: sqs_client::config::Builder) -> sqs_client::Error {
    let client = Client::from_conf(config.build());
    client
        .send_message()
        .queue_url(QUEUE)
        .message_body(HELLO)
        .send()
        .await
        .expect_err("incomplete configuration")
}

#[tokio::test]
async fn error_of_missing_configuration_names_the_setting() {
    let credentials = Credentials::new("a", "s", None, None, "test");
    let error = failure(Config::builder().credentials_provider(credentials.clone())).await;
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Config, 0));
    assert!(error.to_string().contains("AWS_REGION"), "{error}");

    let error = failure(Config::builder().region(Region::new("eu-west-1"))).await;
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Credentials, 0));
    assert!(error.to_string().contains("AWS_ACCESS_KEY_ID"), "{error}");

    let error =
        failure(Config::builder().credentials_provider(credentials).endpoint_url("localhost:9324")).await;
    assert!(error.to_string().contains("http://localhost:9324"), "{error}");
}

#[tokio::test]
async fn credentials_error_has_the_provider_error_as_source() {
    // If the environment has credentials, this cannot be tested.
    if std::env::var("AWS_ACCESS_KEY_ID").is_ok() {
        return;
    }
    let config = Config::builder()
        .region(Region::new("eu-west-1"))
        .credentials_provider(EnvironmentCredentials::default());
    let error = failure(config).await;
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Credentials, false));
    assert!(error.source().is_some());
}

#[tokio::test]
async fn requests_have_signature_and_user_agent() {
    let server = MockServer::start().await;
    let scope = r"^AWS4-HMAC-SHA256 Credential=AKID/\d{8}/eu-west-1/sqs/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$";
    Mock::given(method("POST"))
        .and(header("x-amz-target", "AmazonSQS.SendMessage"))
        .and(header("content-type", "application/x-amz-json-1.0"))
        .and(header_exists("x-amz-date"))
        .and(header("x-amz-security-token", "token"))
        .and(header_regex("authorization", scope))
        .and(header_regex("user-agent", "^sqs-client-rust/.* app/orders$"))
        .respond_with(accepted())
        .expect(1)
        .mount(&server)
        .await;
    let config = settings(&server.uri())
        .credentials_provider(Credentials::new("AKID", "secret", Some("token".into()), None, "test"))
        .app_name(AppName::new("orders").expect("valid"))
        .pool_config(PoolConfig::default().max_idle_per_host(1).idle_timeout(Duration::from_secs(5)))
        .build();
    let send = Client::from_conf(config).send_message().queue_url(QUEUE).message_body(HELLO);
    send.send().await.expect("accepted");
}

#[tokio::test]
async fn allow_no_auth_sends_unsigned_requests() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(header_exists("authorization"))
        .respond_with(ResponseTemplate::new(500))
        .mount(&server)
        .await;
    Mock::given(method("POST")).respond_with(accepted()).expect(1).mount(&server).await;
    let config = Config::builder().endpoint_url(server.uri()).allow_no_auth().build();
    Client::from_conf(config)
        .send_message()
        .queue_url(QUEUE)
        .message_body(HELLO)
        .send()
        .await
        .expect("accepted");
}

#[tokio::test]
async fn both_protocols_return_the_same_output() {
    let in_json = MockServer::start().await;
    Mock::given(method("POST")).respond_with(accepted()).mount(&in_json).await;
    let in_xml = MockServer::start().await;
    let xml = format!(
        "<SendMessageResponse><SendMessageResult><MessageId>m-1</MessageId><MD5OfMessageBody>{HELLO_MD5}</MD5OfMessageBody>\
         </SendMessageResult><ResponseMetadata><RequestId>request-1</RequestId></ResponseMetadata></SendMessageResponse>"
    );
    let response = ResponseTemplate::new(200).set_body_raw(xml, "text/xml");
    Mock::given(header("content-type", "application/x-www-form-urlencoded; charset=utf-8"))
        .respond_with(response)
        .mount(&in_xml)
        .await;
    let query = Client::from_conf(settings(&in_xml.uri()).protocol(Protocol::Query).build());
    let send = |client: Client| async move {
        client.send_message().queue_url(QUEUE).message_body(HELLO).send().await.expect("accepted")
    };
    assert_eq!(send(client(&in_json.uri())).await, send(query).await);
}

#[tokio::test]
async fn validate_input_rejects_invalid_input_before_sending() {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(json(200, "{}")).expect(1).mount(&server).await;
    let receive = |client: Client| async move {
        client.receive_message().queue_url(QUEUE).max_number_of_messages(11).send().await
    };
    let validating = Client::from_conf(settings(&server.uri()).validate_input(true).build());
    let error = receive(validating).await.expect_err("rejected before sending");
    assert_eq!(
        (error.kind(), error.attempts(), error.code()),
        (ErrorKind::Input, 0, Some("InvalidParameterValue"))
    );
    assert!(error.to_string().contains("Must be between 1 and 10"), "{error}");
    receive(client(&server.uri())).await.expect("not validated by the client");
}

#[derive(Clone, Debug, Default)]
struct Recorder(Arc<Mutex<Vec<String>>>);

impl Observe for Recorder {
    fn call(&self, report: &CallReport<'_>) {
        let CallReport { action, attempts, error, .. } = report;
        let line = format!("{action} {attempts} {:?}", error.and_then(|error| error.code()));
        self.0.lock().expect("not poisoned").push(line);
    }
}

#[tokio::test]
async fn observer_gets_a_report_of_each_call() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(500))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(method("POST")).respond_with(accepted()).mount(&server).await;
    let recorder = Recorder::default();
    let client = Client::from_conf(settings(&server.uri()).observer(recorder.clone()).build());
    client.send_message().queue_url(QUEUE).message_body(HELLO).send().await.expect("accepted");
    assert_eq!(*recorder.0.lock().expect("not poisoned"), ["SendMessage 2 None"]);
}

#[test]
fn debug_output_has_no_secrets() {
    let credentials = Credentials::new("AKID", "very-secret", Some("very-token".into()), None, "test");
    let config = Config::builder().region(Region::new("eu-west-1")).credentials_provider(credentials).build();
    let shown = format!("{config:?} {:?} {:?}", config.to_builder(), Client::from_conf(config.clone()));
    assert!(!shown.contains("very-"), "{shown}");
}
