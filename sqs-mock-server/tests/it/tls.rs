//! HTTPS on the port of HTTP.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sqs_client::transport::TlsConfig;
use sqs_client::{Client, Config};
use sqs_mock_server::faults::Fault;
use sqs_mock_server::{Limits, MockSqs, MockSqsBuilder, Tls};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::wire::{Wire, still_answers};

/// A client that trusts only the root of the server, over real sockets.
fn client(server: &MockSqs, url: &str) -> Client {
    let tls = TlsConfig::no_roots().add_root_pem(server.tls_root().unwrap());
    let config = Config::builder().tls_config(tls).endpoint_url(url);
    let config = config.region(sqs_client::config::Region::new("us-east-1"));
    let credentials = sqs_client::config::Credentials::new("test", "test", None, None, "test");
    Client::from_conf(config.credentials_provider(credentials).build())
}

/// A certificate for localhost and another key, in files.
fn files() -> (TempDir, PathBuf, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let key = KeyPair::generate().unwrap();
    let cert = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (cert, key) = (file("cert.pem", &cert.pem()), file("key.pem", &key.serialize_pem()));
    let other = file("other.pem", &KeyPair::generate().unwrap().serialize_pem());
    (directory, cert, key, other)
}

#[tokio::test]
async fn server_speaks_https_and_http_on_one_port() {
    let server = MockSqs::builder().tls(Tls::default()).start().await.unwrap();
    let https = server.https_url().unwrap();
    for url in [https.clone(), https.replace("127.0.0.1", "localhost")] {
        let client = client(&server, &url);
        let queue = client.create_queue().queue_name("q").send().await.unwrap().queue_url.unwrap();
        assert_eq!(queue, format!("{url}/000000000000/q"), "the scheme is that of the caller");
        client.send_message().queue_url(&queue).message_body("tea").send().await.unwrap();
    }
    assert_eq!(server.queue("q").bodies(), ["tea", "tea"]);
    let answer = Wire::connect(&server).await.json("GetQueueUrl", r#"{"QueueName":"q"}"#).await;
    assert!(answer.text().contains(r#"{"QueueUrl":"http://"#), "{}", answer.text());
    let root = Wire::connect(&server).await.get("/_mock/tls-root").await;
    assert_eq!(root.text(), server.tls_root().unwrap());
}

/// Makes a handshake with a client that calls the server by this name.
async fn shake_hands(server: &MockSqs, name: &str) -> std::io::Result<()> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(server.tls_root().unwrap().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(server.endpoint_url().trim_start_matches("http://")).await?;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.map(drop)
}

#[tokio::test]
async fn generated_certificate_names_the_hosts_by_which_the_server_is_called() {
    let builder = MockSqs::builder().tls(Tls::default()).allow_host("sqs.example.com");
    let server = builder.public_url("https://public.example.com/sqs").start().await.unwrap();
    for name in [
        "127.0.0.1",
        "localhost",
        "sqs.us-east-1.localhost",
        "orders.s3.localhost.localstack.cloud",
        "sqs.example.com",
        "public.example.com",
    ] {
        shake_hands(&server, name).await.unwrap();
    }
    for name in ["other.example.com", "a.b.localhost"] {
        let error = shake_hands(&server, name).await.unwrap_err().to_string();
        assert!(error.contains("not valid for name"), "{name}: {error}");
    }
    let other = MockSqs::builder().tls(Tls::default()).start().await.unwrap();
    let https = server.https_url().unwrap();
    let error = client(&other, &https).list_queues().send().await.unwrap_err();
    assert!(format!("{error:?}").contains("UnknownIssuer"), "a client that trusts another root: {error:?}");
}

#[tokio::test]
async fn certificate_of_files_is_served() {
    let (_directory, cert, key, _) = files();
    let server = MockSqs::builder().tls(Tls::files(&cert, &key)).start().await.unwrap();
    assert_eq!(server.tls_root().unwrap(), std::fs::read_to_string(&cert).unwrap());
    let url = server.https_url().unwrap().replace("127.0.0.1", "localhost");
    assert!(client(&server, &url).list_queues().send().await.is_ok());
    // A file with both, whose root everybody may read.
    let both =
        format!("{}{}", std::fs::read_to_string(&key).unwrap(), std::fs::read_to_string(&cert).unwrap());
    std::fs::write(&key, both).unwrap();
    let server = MockSqs::builder().tls(Tls::files(&key, &key)).start().await.unwrap();
    assert_eq!(server.tls_root().unwrap(), std::fs::read_to_string(&cert).unwrap());
}

#[tokio::test]
async fn wrong_files_are_named_with_what_is_expected() {
    let (directory, cert, key, other) = files();
    let absent = directory.path().join("absent.pem");
    let refused = |tls| async { MockSqs::builder().tls(tls).start().await.unwrap_err() };
    for (tls, text) in [
        (Tls::files(&absent, &key), "absent.pem: "),
        (Tls::files(&cert, &absent), "absent.pem: "),
        (Tls::files(&key, &key), "key.pem: no certificate in PEM"),
        (Tls::files(&cert, &cert), "cert.pem: no private key in PEM"),
        (Tls::files(&cert, &other), "certificate and key cannot be used: "),
    ] {
        let error = refused(tls).await;
        assert!(error.kind() == ErrorKind::InvalidInput && error.to_string().contains(text), "{error}");
    }
    let half = MockSqsBuilder::from_toml("[tls]\ncert = 'cert.pem'").unwrap().start().await.unwrap_err();
    assert_eq!(half.to_string(), "tls: cert requires key");
}

/// Nothing, garbage, and a request where a handshake was expected.
#[tokio::test]
async fn connection_without_a_handshake_delays_no_other() {
    let mut limits = Limits::default();
    limits.head_timeout = Duration::from_millis(50);
    let server = MockSqs::builder().tls(Tls::default()).limits(limits).start().await.unwrap();
    let mut silent = Wire::connect(&server).await;
    let mut garbage = Wire::connect(&server).await;
    garbage.write(b"\x16\x03\x01\xff\xffgarbage").await.unwrap();
    let mut half = Wire::connect(&server).await;
    half.write(b"\x16").await.unwrap();
    for wire in [&mut silent, &mut garbage, &mut half] {
        assert!(wire.answer().await.is_none_or(|answer| answer.status != 200));
    }
    still_answers(&server).await;
    let https = server.https_url().unwrap();
    assert!(client(&server, &https).list_queues().send().await.is_ok());
}

#[tokio::test]
async fn shutdown_does_not_wait_for_handshakes() {
    let server = MockSqs::builder().tls(Tls::default()).start().await.unwrap();
    let (_silent, mut half) = (Wire::connect(&server).await, Wire::connect(&server).await);
    half.write(b"\x16").await.unwrap();
    still_answers(&server).await;
    let began = tokio::time::Instant::now();
    server.shutdown().await;
    assert!(began.elapsed() < Limits::default().grace / 2, "{:?}", began.elapsed());
}

#[tokio::test]
async fn fault_resets_an_encrypted_connection() {
    let server = MockSqs::builder().tls(Tls::default()).start().await.unwrap();
    let client = client(&server, &server.https_url().unwrap());
    client.create_queue().queue_name("q").send().await.unwrap();
    let hits = server.faults().inject(Fault::reset_before().times(1));
    assert!(client.list_queues().send().await.is_ok(), "it is retried");
    assert_eq!(hits.hits(), 1);
}

/// Its root is trusted like one of the system.
#[cfg(feature = "cli")]
#[tokio::test]
async fn web_hook_with_https_needs_a_certificate_that_is_trusted() {
    use crate::command_line::{Running, binary};

    // Any server with HTTPS does: it refuses the request, but with a status.
    let hook = MockSqs::builder().tls(Tls::default()).start().await.unwrap();
    let url = hook.https_url().unwrap().replace("127.0.0.1", "localhost");
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root.pem");
    std::fs::write(&root, hook.tls_root().unwrap()).unwrap();
    let config = directory.path().join("sqs.toml");
    let text = format!(
        "[[topics]]\nname = 'news'\n[[subscriptions]]\ntopic = 'news'\nprotocol = 'https'\nendpoint = '{url}/hook'\n"
    );
    std::fs::write(&config, text).unwrap();
    for (trusted, expected) in [(None, "certificate"), (Some(&root), r#""status":4"#)] {
        let mut command = binary();
        command.args(["--port", "0", "--config", config.to_str().unwrap()]);
        command.envs(trusted.map(|root| ("SSL_CERT_FILE", root)));
        let mut server = Running::start(&mut command);
        let mut wire = Wire::open(&server.endpoint()).await.unwrap();
        let publish =
            "Action=Publish&Version=2010-03-31&Message=tea&TopicArn=arn:aws:sns:us-east-1:000000000000:news";
        assert_eq!(wire.exchange("POST /", crate::wire::FORM, publish.as_bytes()).await.status, 200);
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            let deliveries = wire.get("/_mock/deliveries").await;
            if deliveries.text().contains(expected) {
                break;
            }
            assert!(tokio::time::Instant::now() < deadline, "{}", deliveries.text());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
