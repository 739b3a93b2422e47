//! TLS: trusted certificates and error texts.

use std::time::Duration;

use sqs_client::transport::{PoolConfig, TlsConfig, TransportError, TransportErrorKind};
use sqs_client::{Client, ErrorKind};
use tokio::net::TcpListener;

use crate::service::{Act, HELLO, QUEUE, raw_service, settings};
use crate::transport::{Make, request, with_each_transport};
use crate::transport_service::Service;

with_each_transport! {
    added_root_is_trusted
    root_from_a_file_is_trusted
    rustls_configuration_is_used
    rustls_configuration_with_added_roots_is_an_error
    unknown_root_is_of_kind_tls_with_instructions
    certificate_for_another_host_is_of_kind_tls
    plain_http_on_an_https_port_is_of_kind_tls
    damage_after_the_handshake_is_of_kind_broken
    handshake_timeout_is_of_kind_connect
    unusable_certificate_file_is_of_kind_tls_and_named
    no_roots_are_of_kind_tls
}

async fn send<T: Make>(tls: &TlsConfig, url: &str) -> Result<(), TransportError> {
    let pool = PoolConfig::default().connect_timeout(Duration::from_secs(2));
    T::encrypted(pool, tls)?.send(request(url)).await.map(drop)
}

async fn tls_error<T: Make>(tls: &TlsConfig, url: &str) -> String {
    let sent = tokio::time::timeout(Duration::from_secs(5), send::<T>(tls, url));
    let error = sent.await.expect("no hang").expect_err("not trusted");
    assert_eq!(error.kind(), TransportErrorKind::Tls, "{error:?}");
    error.to_string()
}

async fn added_root_is_trusted<T: Make>() {
    let (service, root) = Service::encrypted().await;
    for tls in [TlsConfig::no_roots(), TlsConfig::platform_roots()] {
        send::<T>(&tls.add_root_pem(&root), &service.https()).await.expect("trusted");
    }
}

async fn root_from_a_file_is_trusted<T: Make>() {
    let (service, root) = Service::encrypted().await;
    let (_, other) = Service::encrypted().await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bundle.pem");
    // Real bundles contain comments and unusable entries.
    let unreadable = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    std::fs::write(&path, format!("# Example CA\n{other}\n{unreadable}{root}")).expect("written");
    send::<T>(&TlsConfig::ca_bundle(path), &service.https()).await.expect("trusted");
}

async fn rustls_configuration_is_used<T: Make>() {
    let (service, root) = Service::encrypted().await;
    let root = rustls::pki_types::pem::PemObject::from_pem_slice(root.as_bytes()).expect("a certificate");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(root).expect("a root");
    let mut config = rustls_config(roots);
    config.alpn_protocols = vec![b"h2".to_vec()];
    send::<T>(&TlsConfig::from_rustls(config), &service.https()).await.expect("trusted");
}

fn rustls_config(roots: rustls::RootCertStore) -> rustls::ClientConfig {
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("known versions")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Otherwise, its client certificate and its own verifier would be lost silently.
async fn rustls_configuration_with_added_roots_is_an_error<T: Make>() {
    let (service, root) = Service::encrypted().await;
    let given = TlsConfig::from_rustls(rustls_config(rustls::RootCertStore::empty()));
    for tls in [given.clone().add_root_pem(&root), given.clone().add_root_file("/etc/ssl/company.pem")] {
        let text = tls_error::<T>(&tls, &service.https()).await;
        assert!(text.contains("from_rustls(..) cannot be combined with add_root"), "{text}");
    }
}

async fn unknown_root_is_of_kind_tls_with_instructions<T: Make>() {
    let (service, _) = Service::encrypted().await;
    let (_, other) = Service::encrypted().await;
    let tls = TlsConfig::no_roots().add_root_pem(other);
    let text = tls_error::<T>(&tls, &service.https()).await;
    assert!(text.contains("certificate") && text.contains("AWS_CA_BUNDLE"), "{text}");
}

async fn certificate_for_another_host_is_of_kind_tls<T: Make>() {
    let (service, root) = Service::encrypted().await;
    let tls = TlsConfig::no_roots().add_root_pem(root);
    let text = tls_error::<T>(&tls, &format!("https://localhost:{}", service.port())).await;
    assert!(text.contains("localhost"), "{text}");
}

async fn plain_http_on_an_https_port_is_of_kind_tls<T: Make>() {
    let (url, _) = raw_service(vec![Act::Greet("HTTP/1.1 400 Bad Request\r\n\r\n")]).await;
    let (_, root) = Service::encrypted().await;
    let tls = TlsConfig::no_roots().add_root_pem(root);
    tls_error::<T>(&tls, &url.replace("http:", "https:")).await;
}

async fn damage_after_the_handshake_is_of_kind_broken<T: Make>() {
    let (service, root) = Service::damaging().await;
    let tls = TlsConfig::no_roots().add_root_pem(root);
    let error = send::<T>(&tls, &service.https()).await.expect_err("damaged");
    // The service has read the request, so the error must not claim the opposite.
    assert_eq!(error.kind(), TransportErrorKind::Broken, "{error:?}");
}

async fn handshake_timeout_is_of_kind_connect<T: Make>() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("https://{}", listener.local_addr().expect("bound"));
    let (_, root) = Service::encrypted().await;
    let pool = PoolConfig::default().connect_timeout(Duration::from_millis(80));
    let transport = T::encrypted(pool, &TlsConfig::no_roots().add_root_pem(root)).expect("a root");
    let sent = tokio::time::timeout(Duration::from_secs(5), transport.send(request(&url)));
    let error = sent.await.expect("no hang").expect_err("no handshake");
    assert_eq!(error.kind(), TransportErrorKind::Connect, "{error:?}");
}

async fn unusable_certificate_file_is_of_kind_tls_and_named<T: Make>() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        path
    };
    let unreadable = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let damaged = b"-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n";
    for (path, problem) in [
        (folder.path().join("missing.pem"), "No such file"),
        (folder.path().to_owned(), "not a regular file"),
        (file("empty.pem", b""), "BEGIN CERTIFICATE"),
        (file("garbage.pem", &[0xff; 4096]), "BEGIN CERTIFICATE"),
        (file("damaged.pem", damaged), "certificate 1 is damaged"),
        (file("unreadable.pem", unreadable), "not a root certificate"),
        (file("long.pem", &vec![b'\n'; (16 << 20) + 1]), "longer than 16 MiB"),
    ] {
        let tls = TlsConfig::ca_bundle(&path);
        let error = T::encrypted(PoolConfig::default(), &tls).expect_err("unusable");
        let text = error.to_string();
        assert_eq!(error.kind(), TransportErrorKind::Tls);
        assert!(text.contains(&path.display().to_string()) && text.contains(problem), "{text}");
    }
}

async fn no_roots_are_of_kind_tls<T: Make>() {
    let text = tls_error::<T>(&TlsConfig::no_roots(), "https://127.0.0.1:1").await;
    assert!(text.contains("add_root_file"), "{text}");
}

#[tokio::test]
async fn fixed_certificate_file_is_loaded_by_the_next_call() {
    let (service, root) = Service::encrypted().await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ca.pem");
    let client =
        Client::from_conf(settings(&service.https()).tls_config(TlsConfig::ca_bundle(&path)).build());
    let send = || client.send_message().queue_url(QUEUE).message_body(HELLO).send();

    let error = send().await.expect_err("no file");
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Transport, false));
    assert!(error.to_string().contains("ca.pem") && !error.is_outcome_unknown(), "{error}");
    std::fs::write(&path, root).expect("written");
    send().await.expect("trusted");
}

#[test]
fn debug_shows_certificate_files_but_no_contents() {
    let tls = TlsConfig::no_roots().add_root_pem("-----BEGIN PRIVATE KEY-----").add_root_file("/ca.pem");
    let shown = format!("{tls:?}");
    assert!(shown.contains("/ca.pem") && !shown.contains("PRIVATE"), "{shown}");
}

#[cfg(feature = "webpki-roots")]
#[tokio::test]
async fn bundled_roots_reject_an_unknown_root_without_platform_certificates() {
    let (service, root) = Service::encrypted().await;
    let bundled = TlsConfig::bundled_roots();
    tls_error::<sqs_client::transport::ReqwestTransport>(&bundled, &service.https()).await;
    let added = bundled.add_root_pem(root);
    send::<sqs_client::transport::ReqwestTransport>(&added, &service.https()).await.expect("trusted");
}
