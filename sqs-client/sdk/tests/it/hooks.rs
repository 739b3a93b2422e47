//! Request changes, endpoint resolvers, retry classifiers and identity caches have the same effect with both crates.

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_runtime_api::shared::IntoShared as _;
use wiremock::matchers::{any, header, header_regex, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::service::json;

mod with_aws_sdk {
    include!("programs/hooks.rs");
}

mod with_sqs_sdk {
    use sqs_sdk as aws_sdk_sqs;
    include!("programs/hooks.rs");
}

fn http() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().build_http().into_shared()
}

/// Runs a function of both programs against a server each, and compares what they return and how many requests they sent.
macro_rules! same {
    ($mount:expr, $config:ident, $url:ident => $call:ident($($argument:expr),*)) => {{
        let mut seen = Vec::new();
        for is_theirs in [true, false] {
            let server = MockServer::start().await;
            $mount(&server).await;
            let $url = server.uri();
            let result = if is_theirs {
                let $config = with_aws_sdk::config(&$url, &http());
                with_aws_sdk::$call($($argument),*).await
            } else {
                let $config = with_sqs_sdk::config(&$url, &http());
                with_sqs_sdk::$call($($argument),*).await
            };
            seen.push((result, server.received_requests().await.expect("recorded").len()));
        }
        let ours = seen.pop().expect("two runs");
        (seen.pop().expect("two runs"), ours)
    }};
}

async fn empty(server: &MockServer) {
    Mock::given(any()).respond_with(json(200, "{}")).mount(server).await;
}

#[tokio::test]
async fn changed_request_is_the_one_that_is_sent_and_signed() {
    async fn elsewhere(server: &MockServer) {
        let found = Mock::given(path("/elsewhere")).and(header("x-tenant", "orders"));
        let found = found.and(header_regex("authorization", "SignedHeaders=[a-z0-9;-]*;x-tenant,"));
        let found = found.and(query_param("tenant", "orders")).and(query_param("to", "a/b"));
        found.respond_with(json(200, "{}")).mount(server).await;
    }
    let (theirs, ours) = same!(elsewhere, config, _url => mutates(config));
    assert_eq!((theirs, ours), ((true, 1), (true, 1)));
}

#[tokio::test]
async fn request_that_cannot_be_mapped_is_not_sent() {
    let (theirs, ours) = same!(empty, config, _url => fails_to_map(config));
    assert_eq!((theirs.1, ours.1), (0, 0));
    assert!(theirs.0.contains("not allowed") && ours.0.contains("not allowed"), "{theirs:?} {ours:?}");
}

#[tokio::test]
async fn requests_go_to_the_resolved_endpoint() {
    let elsewhere = MockServer::start().await;
    empty(&elsewhere).await;
    let (theirs, ours) = same!(empty, config, _url => resolves(config, &elsewhere.uri()));
    assert_eq!((theirs, ours), ((Ok(()), 0), (Ok(()), 0)));
    assert_eq!(elsewhere.received_requests().await.expect("recorded").len(), 2);
    let (theirs, ours) = same!(empty, config, _url => resolves(config, ""));
    for (result, requests) in [theirs, ours] {
        assert_eq!(requests, 0);
        assert!(result.is_err_and(|error| error.contains("no endpoint today")));
    }
}

#[tokio::test]
async fn retry_classifier_decides_over_the_rules() {
    fn refused(status: u16, code: &str) -> ResponseTemplate {
        json(status, "{}").insert_header("x-amzn-query-error", format!("{code};Sender"))
    }
    async fn busy_once(server: &MockServer) {
        Mock::given(any()).respond_with(refused(400, "Tenant.Busy")).up_to_n_times(1).mount(server).await;
        empty(server).await;
    }
    async fn broken(server: &MockServer) {
        Mock::given(any()).respond_with(refused(500, "InternalFailure")).mount(server).await;
    }
    async fn throttled(server: &MockServer) {
        Mock::given(any()).respond_with(refused(403, "RequestThrottled")).mount(server).await;
    }
    let (theirs, ours) = same!(busy_once, config, _url => classifies(config));
    assert_eq!((theirs, ours), ((true, 2), (true, 2)), "retried");
    let (theirs, ours) = same!(broken, config, _url => classifies(config));
    assert_eq!((theirs, ours), ((false, 1), (false, 1)), "forbidden");
    let (theirs, ours) = same!(throttled, config, _url => classifies(config));
    assert_eq!((theirs, ours), ((false, 3), (false, 3)), "left to the rules");
}

#[tokio::test]
async fn clock_is_corrected_also_if_a_classifier_has_the_attempt_retried() {
    async fn punctual(server: &MockServer) {
        let late = json(403, "{}").insert_header("x-amzn-query-error", "RequestTimeTooSkewed;Sender");
        let in_1970 = Mock::given(header_regex("x-amz-date", "^1970"));
        in_1970.respond_with(late).with_priority(1).mount(server).await;
        empty(server).await;
    }
    let (theirs, ours) = same!(punctual, config, _url => classifies_with_a_wrong_clock(config));
    assert_eq!((theirs, ours), ((true, 2), (true, 2)));
}

#[tokio::test]
async fn identity_cache_of_the_sdk_provides_credentials() {
    let (theirs, ours) = same!(empty, config, _url => caches(config));
    assert_eq!((theirs, ours), ((true, 2), (true, 2)));
}
