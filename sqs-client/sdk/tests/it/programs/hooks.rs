// Calls that change requests, endpoints and retries. Compiled for both crates under the name `aws_sdk_sqs`; each returns what a
// program sees.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use aws_sdk_sqs::config::endpoint::{Endpoint, EndpointFuture, Params, ResolveEndpoint};
use aws_sdk_sqs::config::http::HttpRequest;
use aws_sdk_sqs::config::retry::{ClassifyRetry, RetryAction, RetryConfig};
use aws_sdk_sqs::config::{BehaviorVersion, Credentials, IdentityCache, Region, SharedHttpClient};
use aws_sdk_sqs::operation::list_queues::ListQueuesError;
use aws_smithy_async::time::StaticTimeSource;
use aws_smithy_runtime_api::client::interceptors::context::InterceptorContext;

pub(super) fn config(endpoint: &str, http: &SharedHttpClient) -> aws_sdk_sqs::config::Builder {
    aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-west-1"))
        .credentials_provider(Credentials::new("AKID", "secret", None, None, "test"))
        .endpoint_url(endpoint)
        .retry_config(RetryConfig::standard().with_max_attempts(3).with_initial_backoff(Duration::from_millis(1)))
        .http_client(http.clone())
}

/// Adds a header and moves the request to another path with a query; returns whether the call succeeded.
pub(super) async fn mutates(config: aws_sdk_sqs::config::Builder) -> bool {
    let client = aws_sdk_sqs::Client::from_conf(config.build());
    let request = client.list_queues().customize().mutate_request(|request: &mut HttpRequest| {
        request.headers_mut().insert("x-tenant", "orders");
        let uri = format!("{}elsewhere?tenant=orders&to=a%2Fb", request.uri());
        request.set_uri(uri).expect("a URI");
    });
    request.send().await.is_ok()
}

/// Whether the call fails before a request is sent.
pub(super) async fn fails_to_map(config: aws_sdk_sqs::config::Builder) -> String {
    let client = aws_sdk_sqs::Client::from_conf(config.build());
    let request = client.list_queues().customize();
    let request = request.map_request(|_| Err::<HttpRequest, _>(std::io::Error::other("not allowed")));
    aws_sdk_sqs::error::DisplayErrorContext(request.send().await.expect_err("cannot be mapped")).to_string()
}

#[derive(Debug)]
struct Moved(String);

impl ResolveEndpoint for Moved {
    fn resolve_endpoint<'a>(&'a self, params: &'a Params) -> EndpointFuture<'a> {
        assert_eq!(params.region(), Some("eu-west-1"));
        EndpointFuture::ready(match self.0.as_str() {
            "" => Err("no endpoint today".into()),
            url => Ok(Endpoint::builder().url(url.to_owned()).build()),
        })
    }
}

/// Sends to the endpoint of the resolver, or fails with its error.
pub(super) async fn resolves(config: aws_sdk_sqs::config::Builder, to: &str) -> Result<(), String> {
    let config = config.endpoint_resolver(Moved(to.to_owned()));
    let called = aws_sdk_sqs::Client::from_conf(config.build()).list_queues().send().await;
    called.map(drop).map_err(|error| aws_sdk_sqs::error::DisplayErrorContext(error).to_string())
}

#[derive(Clone, Debug, Default)]
struct OfTenant(Arc<AtomicU32>);

impl ClassifyRetry for OfTenant {
    fn classify_retry(&self, _: &InterceptorContext) -> RetryAction {
        RetryAction::NoActionIndicated
    }

    fn classify_retry_v2(&self, context: &InterceptorContext, previous: &RetryAction) -> RetryAction {
        self.0.fetch_add(1, Ordering::SeqCst);
        let status = context.response().map_or(0, |response| response.status().as_u16());
        let Some(Err(error)) = context.output_or_error() else { return RetryAction::NoActionIndicated };
        let error = error.as_operation_error().and_then(|error| error.downcast_ref::<ListQueuesError>());
        let is_ruled = *previous != RetryAction::NoActionIndicated;
        assert!(is_ruled || status < 500, "the rules of the client come first: {previous:?}");
        match (status, error.and_then(|error| error.meta().code().map(str::to_owned)).as_deref()) {
            (400, Some("Tenant.Busy")) => RetryAction::transient_error(),
            (500, _) => RetryAction::RetryForbidden,
            _ => RetryAction::NoActionIndicated,
        }
    }

    fn name(&self) -> &'static str {
        "of tenant"
    }
}

/// Whether the call succeeded.
pub(super) async fn classifies(config: aws_sdk_sqs::config::Builder) -> bool {
    let classifier = OfTenant::default();
    let client = aws_sdk_sqs::Client::from_conf(config.retry_classifier(classifier.clone()).build());
    let called = client.list_queues().send().await;
    assert!(classifier.0.load(Ordering::SeqCst) > 0, "the classifier was asked");
    called.is_ok()
}

/// Two clients that share an identity cache.
pub(super) async fn caches(config: aws_sdk_sqs::config::Builder) -> bool {
    let cache = IdentityCache::lazy().load_timeout(Duration::from_secs(2)).build();
    let client = aws_sdk_sqs::Client::from_conf(config.identity_cache(cache).build());
    client.list_queues().send().await.is_ok() && client.list_queues().send().await.is_ok()
}

/// Retries every failure.
#[derive(Debug)]
struct Always;

impl ClassifyRetry for Always {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        match context.output_or_error() {
            Some(Err(_)) => RetryAction::transient_error(),
            _ => RetryAction::NoActionIndicated,
        }
    }

    fn name(&self) -> &'static str {
        "always"
    }
}

/// Whether the call succeeded, with a clock that has stopped in 1970.
pub(super) async fn classifies_with_a_wrong_clock(config: aws_sdk_sqs::config::Builder) -> bool {
    let clock = StaticTimeSource::from_secs(1_000);
    let config = config.time_source(clock).retry_classifier(Always);
    aws_sdk_sqs::Client::from_conf(config.build()).list_queues().send().await.is_ok()
}
