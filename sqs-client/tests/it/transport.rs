//! The same tests for each transport, over plain HTTP.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use sqs_client::Client;
use sqs_client::transport::{
    PoolConfig, ReqwestTransport, TlsConfig, Transport, TransportError, TransportErrorKind,
};
use wiremock::matchers::{body_bytes, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::service::{Act, raw_service, settings};
use crate::transport_service::Service;

/// Creates a transport.
pub(crate) trait Make: Transport + Sized {
    fn plain(pool: PoolConfig) -> Self;
    fn encrypted(pool: PoolConfig, tls: &TlsConfig) -> Result<Self, TransportError>;
}

impl Make for ReqwestTransport {
    fn plain(pool: PoolConfig) -> Self {
        Self::plain_http(pool).expect("no TLS")
    }

    fn encrypted(pool: PoolConfig, tls: &TlsConfig) -> Result<Self, TransportError> {
        Self::with_tls(pool, tls)
    }
}

#[cfg(feature = "hyper")]
impl Make for sqs_client::transport::HyperTransport {
    fn plain(pool: PoolConfig) -> Self {
        Self::plain_http(pool)
    }

    fn encrypted(pool: PoolConfig, tls: &TlsConfig) -> Result<Self, TransportError> {
        Self::with_tls(pool, tls)
    }
}

/// Runs generic tests with each transport.
macro_rules! with_each_transport {
    ($($test:ident)*) => {
        mod reqwest {
            $(#[tokio::test]
            async fn $test() {
                super::$test::<sqs_client::transport::ReqwestTransport>().await;
            })*
        }

        #[cfg(feature = "hyper")]
        mod hyper {
            $(#[tokio::test]
            async fn $test() {
                super::$test::<sqs_client::transport::HyperTransport>().await;
            })*
        }
    };
}
pub(crate) use with_each_transport;

with_each_transport! {
    request_and_response_are_transmitted_unchanged
    long_bodies_are_transmitted_completely
    idle_connection_is_reused
    connection_is_closed_after_the_idle_timeout
    no_connection_is_reused_if_the_pool_allows_no_idle_ones
    connection_with_outstanding_response_is_not_reused
    redirect_is_returned
    refused_connection_is_of_kind_connect_and_names_the_address
    closed_connection_and_truncated_response_are_of_kind_broken
    response_that_is_not_http_is_of_kind_broken
    endless_headers_are_of_kind_broken
    announced_response_over_the_limit_is_of_kind_too_large
    relative_url_is_of_kind_invalid
    https_url_over_a_plain_transport_is_of_kind_invalid
}

pub(crate) fn request(url: &str) -> Request<Bytes> {
    let host = url.split('/').nth(2).unwrap_or("none").to_owned();
    let request = Request::post(url).header("host", host).header("x-amz-target", "AmazonSQS.SendMessage");
    request.body(Bytes::from_static(b"{}")).expect("valid")
}

async fn send<T: Make>(transport: &T, url: &str) -> Result<Response<Bytes>, TransportError> {
    transport.send(request(url)).await
}

async fn kind<T: Make>(acts: Vec<Act>) -> TransportErrorKind {
    let (url, _) = raw_service(acts).await;
    let transport = T::plain(PoolConfig::default());
    let sent = tokio::time::timeout(Duration::from_secs(5), send(&transport, &url));
    let error = sent.await.expect("no hang").expect_err("no complete response");
    assert!(error.source().is_some(), "{error}");
    error.kind()
}

async fn request_and_response_are_transmitted_unchanged<T: Make>() {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(418).insert_header("x-amzn-requestid", "r-1").set_body_bytes("short");
    Mock::given(method("POST"))
        .and(path("/some/path"))
        .and(header("host", server.address().to_string()))
        .and(header("x-amz-target", "AmazonSQS.SendMessage"))
        .and(body_bytes("{}"))
        .respond_with(answer)
        .expect(1)
        .mount(&server)
        .await;
    let transport = T::plain(PoolConfig::default());
    let answer = send(&transport, &format!("{}/some/path", server.uri())).await.expect("a response");
    assert_eq!((answer.status(), &answer.body()[..]), (StatusCode::IM_A_TEAPOT, &b"short"[..]));
    assert_eq!(answer.headers()["x-amzn-requestid"], "r-1");
}

async fn long_bodies_are_transmitted_completely<T: Make>() {
    let server = MockServer::start().await;
    let long: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    Mock::given(body_bytes(long.clone()))
        .respond_with(ResponseTemplate::new(200).set_body_bytes(long.clone()))
        .mount(&server)
        .await;
    let mut request = request(&server.uri());
    *request.body_mut() = long.clone().into();
    let answer = T::plain(PoolConfig::default()).send(request).await.expect("a response");
    assert!(answer.status().is_success() && answer.body() == &long, "{}", answer.body().len());
}

async fn idle_connection_is_reused<T: Make>() {
    let service = Service::plain().await;
    let transport = T::plain(PoolConfig::default());
    for _ in 0..3 {
        send(&transport, &service.http()).await.expect("a response");
    }
    assert_eq!(service.accepted(), 1);
}

async fn connection_is_closed_after_the_idle_timeout<T: Make>() {
    let service = Service::plain().await;
    let transport = T::plain(PoolConfig::default().idle_timeout(Duration::from_millis(20)));
    for _ in 0..2 {
        send(&transport, &service.http()).await.expect("a response");
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    assert_eq!(service.accepted(), 2);
}

/// A task of the pool closes idle connections. If it panics, only a hook sees it.
#[tokio::test]
async fn pool_keeps_connections_for_ever_without_a_panic() {
    async fn reuses<T: Make>() {
        let service = Service::plain().await;
        let transport = T::plain(PoolConfig::default().idle_timeout(Duration::MAX));
        for _ in 0..2 {
            send(&transport, &service.http()).await.expect("a response");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(service.accepted(), 1);
    }

    static HAS_PANICKED: AtomicBool = AtomicBool::new(false);
    // The runtime of this test has no other thread.
    let (own, earlier) = (std::thread::current().id(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        HAS_PANICKED.fetch_or(std::thread::current().id() == own, Ordering::SeqCst);
        earlier(panic);
    }));
    reuses::<ReqwestTransport>().await;
    #[cfg(feature = "hyper")]
    reuses::<sqs_client::transport::HyperTransport>().await;
    assert!(!HAS_PANICKED.load(Ordering::SeqCst));
}

async fn no_connection_is_reused_if_the_pool_allows_no_idle_ones<T: Make>() {
    let service = Service::plain().await;
    let transport = T::plain(PoolConfig::default().max_idle_per_host(0));
    for _ in 0..2 {
        send(&transport, &service.http()).await.expect("a response");
    }
    assert_eq!(service.accepted(), 2);
}

async fn connection_with_outstanding_response_is_not_reused<T: Make>() {
    let late = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nlate".to_owned();
    let (url, requests) = raw_service(vec![Act::Hang(late), Act::whole("second")]).await;
    let transport = T::plain(PoolConfig::default());
    let given_up = tokio::time::timeout(Duration::from_millis(60), send(&transport, &url)).await;
    assert!(given_up.is_err());
    let answer = send(&transport, &url).await.expect("a response");
    assert_eq!(answer.body(), "second");
    assert_eq!(requests.load(std::sync::atomic::Ordering::SeqCst), 2, "connections");
}

async fn redirect_is_returned<T: Make>() {
    let server = MockServer::start().await;
    let redirect = ResponseTemplate::new(307).insert_header("location", "/elsewhere");
    Mock::given(method("POST")).respond_with(redirect).expect(1).mount(&server).await;
    let answer = send(&T::plain(PoolConfig::default()), &server.uri()).await.expect("a response");
    assert_eq!(answer.status(), StatusCode::TEMPORARY_REDIRECT);
}

async fn refused_connection_is_of_kind_connect_and_names_the_address<T: Make>() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let error = send(&T::plain(PoolConfig::default()), &url).await.expect_err("connection refused");
    assert_eq!(error.kind(), TransportErrorKind::Connect);

    let client = Client::from_conf(settings(&url).transport(T::plain(PoolConfig::default())).build());
    let error = client.list_queues().send().await.expect_err("connection refused").to_string();
    let address = url.trim_start_matches("http://");
    assert!(error.starts_with(&format!("ListQueues: cannot connect to {address} (")), "{error}");
}

async fn closed_connection_and_truncated_response_are_of_kind_broken<T: Make>() {
    for act in [Act::Close, Act::cut("an answer", 4)] {
        assert_eq!(kind::<T>(vec![act]).await, TransportErrorKind::Broken);
    }
}

async fn response_that_is_not_http_is_of_kind_broken<T: Make>() {
    let act = Act::Write("220 mail.example.com ESMTP\r\n".to_owned());
    assert_eq!(kind::<T>(vec![act]).await, TransportErrorKind::Broken);
}

async fn endless_headers_are_of_kind_broken<T: Make>() {
    let act = Act::Hang(format!("HTTP/1.1 200 OK\r\n{}", "x-header: value\r\n".repeat(100_000)));
    assert_eq!(kind::<T>(vec![act]).await, TransportErrorKind::Broken);
}

async fn announced_response_over_the_limit_is_of_kind_too_large<T: Make>() {
    let act = Act::Hang("HTTP/1.1 200 OK\r\ncontent-length: 99000000\r\n\r\n".to_owned());
    let (url, _) = raw_service(vec![act]).await;
    let error = send(&T::plain(PoolConfig::default()), &url).await.expect_err("too long");
    assert_eq!(error.kind(), TransportErrorKind::TooLarge);
}

async fn relative_url_is_of_kind_invalid<T: Make>() {
    let error = send(&T::plain(PoolConfig::default()), "/queue").await.expect_err("no host");
    assert_eq!(error.kind(), TransportErrorKind::Invalid);
}

async fn https_url_over_a_plain_transport_is_of_kind_invalid<T: Make>() {
    let error =
        send(&T::plain(PoolConfig::default()), "https://127.0.0.1:1/").await.expect_err("no certificates");
    assert_eq!(error.kind(), TransportErrorKind::Invalid);
    assert!(error.to_string().contains("plain_http"), "{error}");
}
