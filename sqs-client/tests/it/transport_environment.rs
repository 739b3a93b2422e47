//! Effects of environment variables. Each test runs a `child_` test in a separate process, because variables cannot be set
//! safely in this one.

use std::process::Command;

use sqs_client::config::{Builder, Credentials};
use sqs_client::transport::{PoolConfig, TlsConfig, TransportErrorKind};
use sqs_client::{Client, Error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::service::{HELLO, QUEUE, is_whole_request};
use crate::transport::{Make, request};
use crate::transport_service::Service;

/// Runs a `child_` test with these variables. Removes all variables that could interfere.
async fn child(test: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "--ignored", "--nocapture"]).arg(format!("transport_environment::{test}"));
    for (name, _) in std::env::vars_os() {
        let upper = name.to_string_lossy().to_ascii_uppercase();
        if upper.ends_with("_PROXY") || upper.starts_with("AWS_") || upper.starts_with("SSL_CERT_") {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().copied());
    let run = tokio::task::spawn_blocking(move || command.output().expect("started"));
    let output = run.await.expect("no panic");
    let told = String::from_utf8_lossy(&output.stdout);
    let panics = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}{panics}");
}

async fn send(builder: Builder) -> Result<(), Error> {
    let credentials = Credentials::new("AKID", "secret", None, None, "test");
    let client = Client::from_conf(builder.credentials_provider(credentials).build());
    client.send_message().queue_url(QUEUE).message_body(HELLO).send().await.map(drop)
}

#[tokio::test]
async fn missing_platform_certificates_are_of_kind_tls_with_instructions() {
    let none = [("SSL_CERT_FILE", "/no/such/file"), ("SSL_CERT_DIR", "/no/such/folder")];
    child("child_without_certificates", &none).await;
}

#[tokio::test]
#[ignore = "run by the test above"]
async fn child_without_certificates() {
    let error = send(Builder::from_env().expect("valid").endpoint_url("https://127.0.0.1:1"));
    let error = error.await.expect_err("no certificates");
    let transport = error.transport_error().expect("of the transport");
    assert_eq!((transport.kind(), error.is_retryable()), (TransportErrorKind::Tls, false));
    let text = error.to_string();
    for solution in ["ca-certificates", "AWS_CA_BUNDLE", "webpki-roots", "bundled_roots"] {
        assert!(text.contains(solution), "{text}");
    }
    // Plain HTTP works without certificates.
    let service = Service::plain().await;
    send(Builder::from_env().expect("valid").endpoint_url(service.http())).await.expect("accepted");
}

#[tokio::test]
async fn ca_bundle_of_the_environment_replaces_the_platforms_roots() {
    let (service, root) = Service::encrypted().await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, root).expect("written");
    let variables = [
        ("AWS_CA_BUNDLE", path.to_str().expect("text")),
        ("AWS_ENDPOINT_URL_SQS", &service.https()),
        ("SSL_CERT_FILE", "/no/such/file"),
    ];
    child("child_with_ca_bundle", &variables).await;
    assert_eq!(service.accepted(), 1);
}

#[tokio::test]
#[ignore = "run by the test above"]
async fn child_with_ca_bundle() {
    send(Builder::from_env().expect("valid")).await.expect("trusted");
}

/// A proxy that opens tunnels for the user `user` with the password `pass`. Returns its URL and the requested hosts.
async fn proxy() -> (String, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://user:pass@{}", listener.local_addr().expect("bound"));
    let (tell, asked) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(tunnel(client, tell.clone()));
        }
    });
    (url, asked)
}

async fn tunnel(mut client: TcpStream, tell: tokio::sync::mpsc::UnboundedSender<String>) {
    let mut seen = Vec::new();
    while !is_whole_request(&seen) {
        let Ok(1..) = client.read_buf(&mut seen).await else { return };
    }
    let head = String::from_utf8_lossy(&seen).into_owned();
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let knows = head.to_ascii_lowercase().contains("proxy-authorization: basic dxnlcjpwyxnz");
    let _ = tell.send(target.clone());
    if !knows {
        let _ = client.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await;
        return;
    }
    let port = target.rsplit(':').next().unwrap_or_default();
    let mut server = TcpStream::connect(format!("127.0.0.1:{port}")).await.expect("listening");
    let _ = client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
}

#[tokio::test]
async fn https_uses_the_proxy_of_the_environment_unless_no_proxy_matches() {
    let (service, root) = Service::encrypted().await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, root).expect("written");
    let (url, mut asked) = proxy().await;
    let endpoint = service.https();
    let mut variables = vec![
        ("HTTPS_PROXY", url.as_str()),
        ("AWS_CA_BUNDLE", path.to_str().expect("text")),
        ("SQS_TEST_URL", &endpoint),
    ];
    child("child_behind_a_proxy", &variables).await;
    let target = format!("127.0.0.1:{}", service.port());
    for _ in 0..TRANSPORTS {
        assert_eq!(asked.try_recv().as_deref(), Ok(target.as_str()));
    }
    variables.push(("NO_PROXY", "127.0.0.1"));
    child("child_behind_a_proxy", &variables).await;
    assert!(asked.try_recv().is_err(), "directly");
}

const TRANSPORTS: usize = if cfg!(feature = "hyper") { 2 } else { 1 };

#[tokio::test]
#[ignore = "run by the test above"]
async fn child_behind_a_proxy() {
    async fn send<T: Make>() {
        let variable = |name: &str| std::env::var(name).expect("set");
        let tls = TlsConfig::ca_bundle(variable("AWS_CA_BUNDLE"));
        let transport = T::encrypted(PoolConfig::default(), &tls).expect("a root");
        transport.send(request(&variable("SQS_TEST_URL"))).await.expect("a response");
    }
    send::<sqs_client::transport::ReqwestTransport>().await;
    #[cfg(feature = "hyper")]
    send::<sqs_client::transport::HyperTransport>().await;
}

#[cfg(feature = "hyper")]
#[tokio::test]
async fn error_of_unsupported_or_rejecting_proxy_shows_no_password() {
    let (url, _asked) = proxy().await;
    let variables = [("HTTPS_PROXY", url.as_str()), ("SQS_TEST_KIND", "Connect")];
    child("child_with_a_bad_proxy", &[("HTTPS_PROXY", &url.replace("pass", "secret")), variables[1]]).await;
    let socks = [("HTTPS_PROXY", "socks5://user:secret@127.0.0.1:9"), ("SQS_TEST_KIND", "Invalid")];
    child("child_with_a_bad_proxy", &socks).await;
}

#[cfg(feature = "hyper")]
#[tokio::test]
#[ignore = "run by the test above"]
async fn child_with_a_bad_proxy() {
    use sqs_client::transport::HyperTransport;

    let (service, root) = Service::encrypted().await;
    let tls = TlsConfig::no_roots().add_root_pem(root);
    let transport = HyperTransport::encrypted(PoolConfig::default(), &tls).expect("a root");
    let error = sqs_client::transport::Transport::send(&transport, request(&service.https()));
    let error = error.await.expect_err("bad proxy");
    assert_eq!(format!("{:?}", error.kind()), std::env::var("SQS_TEST_KIND").expect("set"));
    assert!(!format!("{error:?} {error} {transport:?}").contains("secret"), "{error:?}");
}

#[tokio::test]
async fn trace_of_a_lambda_invocation_is_sent_with_each_request() {
    let trace =
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=3995c3f42cd8ad8;Sampled=1;lineage=a:1|b\u{e9}:2";
    child("child_in_lambda", &[("AWS_LAMBDA_FUNCTION_NAME", "orders"), ("_X_AMZN_TRACE_ID", trace)]).await;
    child("child_outside_of_lambda", &[("_X_AMZN_TRACE_ID", trace)]).await;
}

async fn sent_trace() -> Option<String> {
    let server = wiremock::MockServer::start().await;
    let accepted = wiremock::Mock::given(wiremock::matchers::any()).respond_with(crate::service::accepted());
    accepted.mount(&server).await;
    send(Builder::from_env().expect("valid").endpoint_url(server.uri())).await.expect("accepted");
    let requests = server.received_requests().await.expect("recorded");
    requests[0].headers.get("x-amzn-trace-id").map(|trace| trace.to_str().expect("ASCII").to_owned())
}

#[tokio::test]
#[ignore = "run by the test above"]
async fn child_in_lambda() {
    let trace =
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=3995c3f42cd8ad8;Sampled=1;lineage=a:1|b%C3%A9:2";
    assert_eq!(sent_trace().await.as_deref(), Some(trace));
}

#[tokio::test]
#[ignore = "run by the test above"]
async fn child_outside_of_lambda() {
    assert_eq!(sent_trace().await, None);
}
