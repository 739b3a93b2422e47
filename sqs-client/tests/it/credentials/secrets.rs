//! No secrets in debug output, errors and logs.

use std::io::Write;
use std::sync::{Arc, Mutex};

use sqs_client::Client;
use sqs_client::config::Builder;
use sqs_client::config::credentials::{
    ContainerCredentials, CredentialsChain, EnvironmentCredentials, InstanceCredentials, ProcessCredentials,
    ProfileCredentials, WebIdentityCredentials,
};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::filter::LevelFilter;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::rig::*;
use crate::service::{HELLO, QUEUE, accepted};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Records all events of this thread, which runs all tasks of the test.
    fn start() -> (Self, DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(LevelFilter::TRACE)
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn assert_has_no_secret(&self) {
        let log = String::from_utf8_lossy(&self.0.lock().expect("not poisoned")).into_owned();
        assert!(log.contains("loaded credentials"), "nothing was logged: {log}");
        assert!(!log.contains(SECRET), "{log}");
    }
}

#[tokio::test]
async fn debug_output_errors_and_logs_contain_no_secrets() {
    let (log, _guard) = Log::start();
    let (sts, sqs, container) =
        (MockServer::start().await, MockServer::start().await, MockServer::start().await);
    let answer = assumed("AssumeRole", "AKROLE", in_an_hour());
    Mock::given(method("POST")).respond_with(answer).mount(&sts).await;
    Mock::given(method("POST")).respond_with(accepted()).mount(&sqs).await;
    Mock::given(method("GET")).respond_with(metadata("AKECS", in_an_hour())).mount(&container).await;
    let world = World::new()
        .with("AWS_ENDPOINT_URL_STS", &sts.uri())
        .with("AWS_ENDPOINT_URL_SQS", &sqs.uri())
        .with("AWS_REGION", "eu-west-1")
        .with("AWS_CONTAINER_CREDENTIALS_FULL_URI", &container.uri())
        .with("AWS_CONTAINER_AUTHORIZATION_TOKEN", SECRET)
        .file(
            ".aws/config",
            &format!(
                "[default]\nrole_arn=arn:aws:iam::1:role/r\nsource_profile=base\n[profile base]\n\
                 aws_access_key_id=AKBASE\naws_secret_access_key={SECRET}\naws_session_token={SECRET}\n"
            ),
        );
    let environment = world.environment();
    let builder = Builder::from_environment(environment.clone()).expect("valid");
    let client = Client::from_conf(builder.clone().build());
    client.send_message().queue_url(QUEUE).message_body(HELLO).send().await.expect("accepted");
    given(&ContainerCredentials::new(environment.clone())).await;
    let process = ProcessCredentials::new(environment.clone(), format!("echo {SECRET}"));
    let (error, _) = refused(&process).await;

    let shown = format!(
        "{environment:?} {builder:?} {client:?} {:?} {error:?} {process:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        client.config(),
        CredentialsChain::new(&environment),
        EnvironmentCredentials::new(environment.clone()),
        ProfileCredentials::new(environment.clone()),
        WebIdentityCredentials::new(environment.clone()),
        ContainerCredentials::new(environment.clone()),
        InstanceCredentials::new(environment.clone()),
    );
    assert!(!shown.contains(SECRET), "{shown}");
    log.assert_has_no_secret();
}

#[tokio::test]
async fn tokens_are_not_shown() {
    let (log, _guard) = Log::start();
    let (sts, instance) = (MockServer::start().await, MockServer::start().await);
    let answer = assumed("AssumeRoleWithWebIdentity", "AKWEB", in_an_hour());
    Mock::given(method("POST")).respond_with(answer).up_to_n_times(1).mount(&sts).await;
    let quoted = format!("The canonical request was\nx-amz-security-token:{SECRET}\n");
    let refusal = denied(400, "SignatureDoesNotMatch", &quoted);
    Mock::given(method("POST")).respond_with(refusal).mount(&sts).await;
    let token = ResponseTemplate::new(200).set_body_string(SECRET);
    Mock::given(method("PUT")).respond_with(token).mount(&instance).await;
    Mock::given(method("GET")).respond_with(ResponseTemplate::new(500)).mount(&instance).await;
    let world = World::new()
        .file("token", SECRET)
        .with("AWS_ROLE_ARN", "arn:aws:iam::1:role/r")
        .with("AWS_ENDPOINT_URL_STS", &sts.uri())
        .with("AWS_REGION", "eu-west-1")
        .with("AWS_EC2_METADATA_DISABLED", "false")
        .with("AWS_EC2_METADATA_SERVICE_ENDPOINT", &instance.uri());
    world.set("AWS_WEB_IDENTITY_TOKEN_FILE", &world.path("token").display().to_string());
    let environment = world.environment();
    given(&CredentialsChain::new(&environment)).await;
    refused(&WebIdentityCredentials::new(environment.clone())).await;
    refused(&InstanceCredentials::new(environment.clone())).await;
    log.assert_has_no_secret();
}
