//! Signatures, verified by the mock server over HTTP.

use std::time::{Duration, SystemTime};

use sqs_client::Client;
use sqs_client::config::{Builder, Credentials};
use sqs_client::time::TimeSource;
use sqs_client::wire::protocol::Protocol;
use sqs_mock_server::MockSqs;

async fn verifying_server() -> (MockSqs, Builder) {
    let server =
        MockSqs::builder().require_signatures([("AKID", "secret")]).start().await.expect("a free port");
    let mut config = server.client_config();
    config.set_transport(None);
    (server, config)
}

#[tokio::test]
async fn signed_requests_of_both_protocols_are_accepted() {
    let (_server, config) = verifying_server().await;
    for protocol in [Protocol::AwsJson, Protocol::Query] {
        for token in [None, Some("to/ken+==".to_owned())] {
            let credentials = Credentials::new("AKID", "secret", token, None, "test");
            let config = config.clone().protocol(protocol).credentials_provider(credentials).build();
            let client = Client::from_conf(config);
            let created = client.create_queue().queue_name("q").send().await.expect("accepted");
            let send = client.send_message().queue_url(created.queue_url().expect("has a URL"));
            send.message_body("ünïcödé \r\n & more").send().await.expect("accepted");
        }
    }
}

#[derive(Debug)]
struct HourAhead;

impl TimeSource for HourAhead {
    #[expect(clippy::disallowed_methods, reason = "this clock is one hour ahead of the real one")]
    fn now(&self) -> SystemTime {
        SystemTime::now() + Duration::from_secs(3_600)
    }
}

#[tokio::test]
async fn clock_skew_is_corrected_by_the_date_of_the_server() {
    let (_server, config) = verifying_server().await;
    let config = config.time_source(HourAhead);
    let uncorrected = Client::from_conf(config.clone().disable_clock_skew_correction(true).build());
    let error = uncorrected.list_queues().send().await.expect_err("rejected");
    assert_eq!(error.code(), Some("SignatureDoesNotMatch"));
    Client::from_conf(config.build())
        .list_queues()
        .send()
        .await
        .expect("corrected by the Date of the response");
}
