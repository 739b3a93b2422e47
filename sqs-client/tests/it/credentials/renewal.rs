//! Programs that keep sending while credentials expire and are renewed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use sqs_client::Client;
use sqs_client::config::Builder;
use sqs_client::time::TimeSource as _;
use sqs_client::transport::{ReqwestTransport, Transport, TransportFuture};
use sqs_mock_server::MockSqs;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::rig::*;

/// Call number N returns credentials with N in the key. They expire in an hour on the test clock.
struct Hourly {
    clock: Clock,
    calls: Arc<AtomicU32>,
    answer: fn(&str, SystemTime) -> ResponseTemplate,
}

impl Respond for Hourly {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        (self.answer)(&format!("AK{call}"), self.clock.now() + Duration::from_secs(3_600))
    }
}

/// Records the access key of each request.
#[derive(Debug)]
struct Noted {
    inner: ReqwestTransport,
    keys: Arc<Mutex<BTreeSet<String>>>,
}

impl Transport for Noted {
    fn send(&self, request: http::Request<bytes::Bytes>) -> TransportFuture<'_> {
        let header = request.headers()["authorization"].to_str().expect("text").to_owned();
        let key = header.split("Credential=").nth(1).and_then(|rest| rest.split('/').next());
        self.keys.lock().expect("not poisoned").insert(key.unwrap_or_default().to_owned());
        self.inner.send(request)
    }
}

#[tokio::test]
async fn call_after_the_file_is_fixed_uses_the_new_keys() {
    for (status, code) in [(403, "InvalidClientTokenId"), (403, "SignatureDoesNotMatch")] {
        let sqs = MockServer::start().await;
        let refused = crate::service::refusal(status, code, code, "wrong key");
        Mock::given(method("POST")).respond_with(refused).up_to_n_times(1).mount(&sqs).await;
        Mock::given(method("POST")).respond_with(crate::service::accepted()).mount(&sqs).await;
        let keys =
            |key: &str| format!("[default]\naws_access_key_id={key}\naws_secret_access_key={SECRET}\n");
        let world = World::new()
            .with("AWS_REGION", "eu-west-1")
            .with("AWS_ENDPOINT_URL_SQS", &sqs.uri())
            .file(".aws/credentials", &keys("AKWRONG"));
        let builder = Builder::from_environment(world.environment()).expect("valid");
        let client = Client::from_conf(builder.build());
        let send = || client.send_message().queue_url(crate::service::QUEUE).message_body("hello").send();
        assert_eq!(send().await.expect_err("rejected").code(), Some(code));
        world.write(".aws/credentials", &keys("AKRIGHT"));
        let _ = send().await;
        let requests = sqs.received_requests().await.expect("recorded");
        let key = |request: &Request| {
            let header = request.headers["authorization"].to_str().expect("text").to_owned();
            ["AKWRONG", "AKRIGHT"].into_iter().find(|key| header.contains(key))
        };
        assert_eq!(
            requests.iter().map(key).collect::<Vec<_>>(),
            [Some("AKWRONG"), Some("AKRIGHT")],
            "{code}"
        );
    }
}

/// Sends while credentials expire three times, and once more during an outage of the source.
async fn keeps_sending(world: World, clock: Clock, source: MockServer) {
    let server = MockSqs::start().await;
    let client = keeps_sending_until_an_outage(&server, world, &clock, &source).await;
    let url = client.get_queue_url().queue_name("orders");
    let error = url.send().await.expect_err("the source is down");
    assert_eq!(error.kind(), sqs_client::ErrorKind::Credentials);
}

/// Returns the client after its last credentials have expired.
async fn keeps_sending_until_an_outage(
    server: &MockSqs,
    world: World,
    clock: &Clock,
    source: &MockServer,
) -> Client {
    let keys: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let inner = ReqwestTransport::plain_http(sqs_client::transport::PoolConfig::default()).expect("no TLS");
    let world = world.with("AWS_REGION", "us-east-1").with("AWS_ENDPOINT_URL_SQS", server.endpoint_url());
    let config = Builder::from_environment(world.environment()).expect("valid");
    let config = config.time_source(clock.clone()).transport(Noted { inner, keys: Arc::clone(&keys) });
    let client = Client::from_conf(config.build());
    let url = client.create_queue().queue_name("orders").send().await.expect("created");
    let url = url.queue_url().expect("a URL");
    let send = || client.send_message().queue_url(url).message_body("hello").send();
    for _ in 0..3 {
        send().await.expect("accepted");
        // The call uses the valid credentials, and a task renews them.
        clock.advance(3_400);
        send().await.expect("accepted");
        clock.advance(400);
        send().await.expect("accepted");
    }
    assert!(keys.lock().expect("not poisoned").len() >= 4, "{keys:?}");
    source.reset().await;
    Mock::given(wiremock::matchers::any()).respond_with(ResponseTemplate::new(503)).mount(source).await;
    clock.advance(1_000);
    send().await.expect("the cached credentials are still valid");
    clock.advance(3_600);
    client
}

#[tokio::test]
async fn program_on_ecs_keeps_sending_after_credentials_expire() {
    let (clock, source) = (Clock::new(), MockServer::start().await);
    let hourly = Hourly { clock: clock.clone(), calls: Arc::default(), answer: metadata };
    Mock::given(method("GET")).respond_with(hourly).mount(&source).await;
    let world = World::new().with("AWS_CONTAINER_CREDENTIALS_FULL_URI", &source.uri());
    keeps_sending(world, clock, source).await;
}

#[tokio::test]
async fn program_on_eks_with_pod_identity_keeps_sending_after_credentials_expire() {
    let (clock, source) = (Clock::new(), MockServer::start().await);
    let hourly = Hourly { clock: clock.clone(), calls: Arc::default(), answer: metadata };
    let with_token = wiremock::matchers::header("authorization", "jwt");
    Mock::given(method("GET")).and(with_token).respond_with(hourly).mount(&source).await;
    let world = World::new().with("AWS_CONTAINER_CREDENTIALS_FULL_URI", &source.uri()).file("token", "jwt");
    world.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &world.path("token").display().to_string());
    keeps_sending(world, clock, source).await;
}

#[tokio::test]
async fn program_on_eks_with_web_identity_keeps_sending_after_credentials_expire() {
    let (clock, source) = (Clock::new(), MockServer::start().await);
    let answer = |key: &str, expiry| assumed("AssumeRoleWithWebIdentity", key, expiry);
    let hourly = Hourly { clock: clock.clone(), calls: Arc::default(), answer };
    Mock::given(method("POST")).respond_with(hourly).mount(&source).await;
    let world = World::new().with("AWS_ENDPOINT_URL_STS", &source.uri()).file("token", "jwt");
    world.set("AWS_WEB_IDENTITY_TOKEN_FILE", &world.path("token").display().to_string());
    keeps_sending(world.with("AWS_ROLE_ARN", "arn:aws:iam::1:role/r"), clock, source).await;
}

#[tokio::test]
async fn program_with_a_profile_role_keeps_sending_after_credentials_expire() {
    let (clock, source) = (Clock::new(), MockServer::start().await);
    let answer = |key: &str, expiry| assumed("AssumeRole", key, expiry);
    let hourly = Hourly { clock: clock.clone(), calls: Arc::default(), answer };
    Mock::given(method("POST")).respond_with(hourly).mount(&source).await;
    let world = World::new().with("AWS_ENDPOINT_URL_STS", &source.uri()).file(
        ".aws/config",
        "[default]\nrole_arn=arn:aws:iam::1:role/r\nsource_profile=base\n\
         [profile base]\naws_access_key_id=AKBASE\naws_secret_access_key=s\n",
    );
    keeps_sending(world, clock, source).await;
}

#[tokio::test]
async fn program_on_ec2_keeps_sending_after_credentials_expire() {
    let (clock, source) = (Clock::new(), MockServer::start().await);
    let hourly = Hourly { clock: clock.clone(), calls: Arc::default(), answer: metadata };
    let token = ResponseTemplate::new(200).set_body_string("token");
    Mock::given(method("PUT")).respond_with(token).mount(&source).await;
    let roles = "/latest/meta-data/iam/security-credentials/";
    let role = ResponseTemplate::new(200).set_body_string("orders");
    Mock::given(path(roles)).respond_with(role).mount(&source).await;
    Mock::given(path(format!("{roles}orders"))).respond_with(hourly).mount(&source).await;
    let world = World::new()
        .with("AWS_EC2_METADATA_DISABLED", "")
        .with("AWS_EC2_METADATA_SERVICE_ENDPOINT", &source.uri());
    let server = MockSqs::start().await;
    let client = keeps_sending_until_an_outage(&server, world, &clock, &source).await;
    // As the AWS SDKs do: the service may fail for longer than its keys are valid, and AWS may accept them longer.
    for _ in 0..3 {
        clock.advance(3_600);
        client.list_queues().send().await.expect("the last credentials of the instance stay in use");
    }
    // As after each failure, the service is asked again after ten seconds.
    let asked = async || source.received_requests().await.expect("recorded").len();
    let before = asked().await;
    clock.advance(9);
    client.list_queues().send().await.expect("sent with the last credentials");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(asked().await, before);
    clock.advance(2);
    client.list_queues().send().await.expect("sent with the last credentials");
    let is_asked = async {
        while asked().await == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), is_asked).await.expect("asked again");
}

/// Takes six minutes of the test clock, as a program that asks for a code.
#[derive(Debug)]
struct Patient(Clock);

impl sqs_client::config::ProvideCredentials for Patient {
    fn provide_credentials<'a>(&'a self) -> aws_credential_types::provider::future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        self.0.advance(360);
        let keys = sqs_client::config::Credentials::new("AK", SECRET, None, None, "patient");
        aws_credential_types::provider::future::ProvideCredentials::ready(Ok(keys))
    }
}

#[tokio::test]
async fn request_is_signed_with_the_time_after_its_credentials_were_loaded() {
    let sqs = MockServer::start().await;
    Mock::given(method("POST")).respond_with(crate::service::accepted()).mount(&sqs).await;
    let clock = Clock::new();
    let config = crate::service::settings(&sqs.uri()).time_source(clock.clone());
    let client = Client::from_conf(config.credentials_provider(Patient(clock.clone())).build());
    client
        .send_message()
        .queue_url(crate::service::QUEUE)
        .message_body("hello")
        .send()
        .await
        .expect("accepted");
    let requests = sqs.received_requests().await.expect("recorded");
    let signed = requests[0].headers["x-amz-date"].to_str().expect("text").to_owned();
    let now: String = stamp(clock.now()).chars().filter(|c| !"-:".contains(*c)).collect();
    assert_eq!(signed[..15], now[..15]);
}
