//! State that the clones of a client share. Uses tokio's paused clock and an in-process transport instead of sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use sqs_client::config::retry::RetryConfig;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::config::{Builder, Credentials, ProvideCredentials};
use sqs_client::transport::{Transport, TransportFuture};
use sqs_client::{Client, Error};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::service::{HELLO, HELLO_MD5, QUEUE, settings};

type Respond = dyn Fn(u32, &HeaderMap) -> Response<Bytes> + Send + Sync;

/// Responds after 10 ms with the result of a function of request number and headers.
#[derive(Clone)]
struct Scripted {
    requests: Arc<AtomicU32>,
    respond: Arc<Respond>,
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripted")
    }
}

impl Scripted {
    fn new(respond: impl Fn(u32, &HeaderMap) -> Response<Bytes> + Send + Sync + 'static) -> Self {
        Self { requests: Arc::default(), respond: Arc::new(respond) }
    }
}

impl Transport for Scripted {
    fn send(&self, request: Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            let number = self.requests.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(10)).await;
            Ok((self.respond)(number, request.headers()))
        })
    }
}

fn accepted() -> Response<Bytes> {
    Response::new(format!(r#"{{"MessageId":"m","MD5OfMessageBody":"{HELLO_MD5}"}}"#).into())
}

fn rejected(code: &str) -> Response<Bytes> {
    let response = Response::builder().status(403).header("x-amzn-query-error", format!("{code};Sender"));
    response.body(Bytes::from_static(b"{}")).expect("valid")
}

fn builder(transport: &Scripted) -> Builder {
    settings("http://sqs.test").transport(transport.clone())
}

async fn send(client: &Client) -> Result<(), Error> {
    client.send_message().queue_url(QUEUE).message_body(HELLO).send().await.map(drop)
}

async fn send_concurrently(client: &Client, calls: usize) -> Vec<Result<(), Error>> {
    let mut running = JoinSet::new();
    for _ in 0..calls {
        let client = client.clone();
        running.spawn(async move { send(&client).await });
    }
    running.join_all().await
}

#[tokio::test(start_paused = true)]
async fn clock_skew_is_corrected_for_all_concurrent_calls() {
    #[expect(clippy::disallowed_methods, reason = "the service's clock is one hour ahead of the real one")]
    let ahead = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3_600));
    let server_hour = ahead.clone();
    let transport = Scripted::new(move |_, headers| {
        // `Sat, 21 Nov 2026 13:..` and `20261121T13..`
        let signed = headers["x-amz-date"].to_str().expect("text");
        if signed[9..11] == server_hour[17..19] {
            return accepted();
        }
        let mut stale = rejected("SignatureDoesNotMatch");
        stale.headers_mut().insert("date", ahead.parse().expect("a date"));
        stale
    });
    let client = Client::from_conf(builder(&transport).build());
    for result in send_concurrently(&client, 10).await {
        result.expect("corrected");
    }
}

/// Provides credentials that never expire. Their ids number the calls.
#[derive(Clone, Debug, Default)]
struct Numbered(Arc<AtomicU32>);

impl ProvideCredentials for Numbered {
    fn provide_credentials<'a>(&'a self) -> aws_credential_types::provider::future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        let credentials = Credentials::new(format!("AK{number}"), "secret", None, None, "numbered");
        aws_credential_types::provider::future::ProvideCredentials::ready(Ok(credentials))
    }
}

#[tokio::test(start_paused = true)]
async fn expired_token_is_refreshed_once_for_all_concurrent_calls() {
    let transport = Scripted::new(|_, headers| {
        let first = headers["authorization"].to_str().expect("text").contains("Credential=AK0/");
        if first { rejected("ExpiredToken") } else { accepted() }
    });
    let provider = Numbered::default();
    let client = Client::from_conf(builder(&transport).credentials_provider(provider.clone()).build());
    for result in send_concurrently(&client, 20).await {
        result.expect("refreshed");
    }
    assert_eq!(provider.0.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn token_that_stays_expired_is_retried_once() {
    let transport = Scripted::new(|_, _| rejected("ExpiredToken"));
    let retries = RetryConfig::standard().with_max_attempts(10);
    let builder = builder(&transport).retry_config(retries).credentials_provider(Numbered::default());
    let client = Client::from_conf(builder.build());
    assert_eq!(send(&client).await.expect_err("still expired").attempts(), 2);
}

#[tokio::test(start_paused = true)]
async fn adaptive_mode_retries_as_standard_mode() {
    for retries in [RetryConfig::standard(), RetryConfig::adaptive()] {
        let transport = Scripted::new(|_, _| rejected("RequestThrottled"));
        let client = Client::from_conf(builder(&transport).retry_config(retries).build());
        assert_eq!(send(&client).await.expect_err("throttled").attempts(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn operation_timeout_covers_credentials_and_request_together() {
    #[derive(Debug)]
    struct Slow;
    impl ProvideCredentials for Slow {
        fn provide_credentials<'a>(&'a self) -> aws_credential_types::provider::future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            aws_credential_types::provider::future::ProvideCredentials::new(async {
                tokio::time::sleep(Duration::from_millis(295)).await;
                Ok(Credentials::new("AK", "secret", None, None, "slow"))
            })
        }
    }
    let transport = Scripted::new(|_, _| accepted());
    let timeouts = TimeoutConfig::builder().operation_timeout(Duration::from_millis(300)).build();
    let client = builder(&transport).credentials_provider(Slow).timeout_config(timeouts);
    let started = Instant::now();
    let error = send(&Client::from_conf(client.build())).await.expect_err("too slow");
    assert!(error.is_timeout() && error.to_string().contains("300ms"), "{error}");
    assert_eq!(started.elapsed(), Duration::from_millis(300));
}

#[tokio::test(start_paused = true)]
async fn maximum_durations_as_timeouts_do_not_overflow() {
    let transport = Scripted::new(|_, _| Response::new(Bytes::from_static(b"{}")));
    let longest = Duration::MAX;
    let timeouts =
        TimeoutConfig::builder().operation_timeout(longest).operation_attempt_timeout(longest).build();
    let client = Client::from_conf(builder(&transport).timeout_config(timeouts).build());
    client.receive_message().queue_url(QUEUE).send().await.expect("no overflow");
}

#[test]
fn client_outlives_the_runtimes_of_its_calls() {
    use std::time::Duration;

    use sqs_client::config::retry::RetryConfig;

    let runtime = || {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
    };
    let first = runtime();
    let server = first.block_on(sqs_mock_server::MockSqs::start());
    for retry in [RetryConfig::standard(), RetryConfig::disabled()] {
        let config = crate::service::settings(server.endpoint_url()).retry_config(retry);
        let client = sqs_client::Client::from_conf(config.build());
        for _ in 0..10 {
            let runtime = runtime();
            runtime.block_on(async {
                for _ in 0..20 {
                    client.list_queues().send().await.expect("answered");
                }
            });
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}
