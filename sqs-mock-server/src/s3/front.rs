//! The HTTP layer around s3s.
//!
//! ```text
//! connection -> preflight, guard -> limited body (timeout, pace) -> headers in a presigned URL -> strip_signature (without --auth)
//!                                   -> s3s -> Gate -> operations
//!                                   damaged body (pace, truncate, corrupt) <-------------------------------+
//! ```
//! A `RequestContext` among the extensions of the request carries what the operations report besides their output.
//! `Gate` computes the fault plan once s3s knows the operation, and stores it there, where the bodies and `Front` find it.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::host::{S3Host, VirtualHost};
use s3s::path::check_bucket_name;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::validation::NameValidation;
use s3s::{Body, S3Error, S3ErrorCode, S3Result, StdError, s3_error};
use sqs_client::wire::service_error::ErrorCode;
use sqs_client::wire::sign::VerifyError;
use tokio::time::timeout;

use crate::control::arn::Resource;
use crate::control::faults;
use crate::control::faults::fault::{Damage, Failure, Rejection};
use crate::control::journal::PendingRecord;
use crate::control::metrics::{ABORTED, Counters, Exposition, Gauge, INJECTED_STATUS, Kind, UNKNOWN};
use crate::control::operation::{S3Action, ServiceName};
use crate::control::seed;
use crate::front::{Stopped, enter};
use crate::http::body::Limits;
use crate::http::reply::{Break, Live, foreign, may_have_a_body};
use crate::http::server::Site;
use crate::s3::ops::Operations;
use crate::s3::ops::copy::check_source;
use crate::s3::ops::objects::{MAX_KEY, check_key};
use crate::s3::outbox::{Outbox, Unanswered};
use crate::s3::store::Store;
use crate::s3::store::bucket::no_such_bucket;
use crate::s3::{Host, RequestContext, RequestInfo, body};

/// How long the events of all requests wait for a client that holds back its body after the change.
const EVENTS_WAIT: Duration = Duration::from_secs(2);

/// The largest XML body in bytes: enough for 10,000 parts with checksums, and for 1,000 keys of 1,024 bytes.
const MAX_XML: usize = 2 << 20;

/// The most bytes of the fields of a form.
const MAX_FIELDS: usize = 64 << 10;

/// How far the time of a signature may differ, as for SQS.
const MAX_SKEW: u32 = 300;

/// The limits of what s3s keeps in memory: files of forms even before it checks who asks.
fn limits(limits: &Limits) -> S3Config {
    let mut config = S3Config::default();
    config.xml_max_body_size = MAX_XML;
    config.post_object_max_file_size = limits.max_body as u64;
    config.form_max_field_size = MAX_FIELDS;
    config.form_max_fields_size = MAX_FIELDS;
    config.presigned_url_max_skew_time_secs = MAX_SKEW;
    config
}

/// Serves connections, and requests to S3 on those of the SQS server.
pub(crate) struct Front {
    service: S3Service,
    gate: Gate,
    outbox: Arc<Outbox>,
    metrics: Arc<Metrics>,
    host: Arc<Host>,
    ids: Mutex<Rng>,
}

impl Front {
    pub(crate) fn new(operations: Operations, metrics: Arc<Metrics>, host: Arc<Host>) -> Self {
        let outbox = Arc::clone(&operations.outbox);
        let gate = Gate { host: Arc::clone(&host), store: Arc::clone(&operations.store) };
        let mut builder = S3ServiceBuilder::new(operations);
        builder.set_host(gate.clone());
        builder.set_auth(gate.clone());
        builder.set_access(gate.clone());
        builder.set_validation(AnyName);
        builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(limits(&host.limits)))));
        let ids = Mutex::new(host.seed.generator("request ids of S3"));
        Self { service: builder.build(), gate, outbox, metrics, host, ids }
    }

    /// Handles a request after the rules for browsers.
    async fn guarded(&self, request: Request<Incoming>, unanswered: &Unanswered) -> Response<Body> {
        let (head, incoming) = request.into_parts();
        let guard = &self.host.names.guard;
        if let Err(text) = guard.check_s3(&head, self.host.names.keys.is_none()) {
            let denied = S3Error::with_message(S3ErrorCode::AccessDenied, text).to_http_response();
            return denied.unwrap_or_else(|_| status(StatusCode::FORBIDDEN, String::new()));
        }
        if is_of_sqs(&head) {
            let names = &self.host.names;
            let text =
                format!("This is the port of S3. SQS is at {}.", names.base_url("http", &names.own_host));
            let wrong = S3Error::with_message(S3ErrorCode::InvalidRequest, text).to_http_response();
            return wrong.unwrap_or_else(|_| status(StatusCode::BAD_REQUEST, String::new()));
        }
        self.answer(Request::from_parts(head, incoming), unanswered).await
    }

    async fn answer(&self, request: Request<Incoming>, unanswered: &Unanswered) -> Response<Body> {
        let context = &unanswered.context;
        let (mut head, incoming) = request.into_parts();
        let (limit, expects_continue) = (self.host.limits.body_timeout, head.headers.contains_key(EXPECT));
        let body = body::limited(incoming, Arc::clone(context), limit, expects_continue);
        hoist_parameters(&mut head);
        if self.host.names.keys.is_none() {
            strip_signature(&mut head);
        }
        let answered = self.call(Request::from_parts(head, body), context).await;
        // A client that still sends its body would lose the response if the connection closed now.
        let mut drained = pin!(body::drain(context, limit));
        if timeout(EVENTS_WAIT, drained.as_mut()).await.is_err() {
            unanswered.release();
            drained.await;
        }
        answered.unwrap_or_else(|error| {
            tracing::error!(?error, "cannot build a response of S3");
            status(StatusCode::INTERNAL_SERVER_ERROR, String::new())
        })
    }

    /// Passes a request to s3s, unless its key is too long: the error of s3s would not contain the length.
    async fn call(&self, request: Request<Body>, context: &RequestContext) -> S3Result<Response<Body>> {
        if let Err(refusal) = self.gate.check_path(&request, context) {
            return refusal.to_http_response();
        }
        let internal = |error| S3Error::with_source(S3ErrorCode::InternalError, StdError::from(error));
        self.service.call(request).await.map_err(internal)
    }
}

impl Site for Front {
    type Body = Live;

    /// # Cancel safety
    /// A request that is dropped is applied as a whole or not at all.
    async fn route(&self, request: Request<Incoming>) -> Result<Response<Live>, Break> {
        let (head, incoming) = request.into_parts();
        let guard = &self.host.names.guard;
        if let Some(answer) = guard.preflight(&head) {
            return Ok(answer.map(|body| Body::from(body).boxed_unsync()));
        }
        let reader = guard.listed_origin(&head).cloned();
        let mut request = Request::from_parts(head, incoming);
        let id = seed::uuid(&mut self.ids.lock()).to_string();
        let trace_header = request.headers().get("x-amzn-trace-id").and_then(|value| value.to_str().ok());
        // Dropped at the end, also if the caller disconnects.
        let unanswered = self.outbox.begin(id, trace_header.map(str::to_owned));
        let context = &unanswered.context;
        request.extensions_mut().insert(Arc::clone(context));
        let mut observer = Observer::begin(&self.metrics, &self.host, context);
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let response = self.guarded(request, &unanswered).await;
        let (mut response, code) = body::complete_error(response, (&method, &uri), context);
        if let Some(code) = code {
            observer.pending.refused(&code);
        }
        for (name, value) in [("x-amz-request-id", &context.id), ("x-amz-id-2", &context.host_id())] {
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        let plan = context.plan.get();
        let damage = plan.and_then(|plan| plan.damage);
        let rejection = plan.and_then(|plan| plan.rejection.as_ref());
        if let Some(Rejection::Status(code, body)) = rejection {
            observer.pending.refused(&ErrorCode::from_name(INJECTED_STATUS));
            response = foreign(*code, body.clone()).map(Body::from);
        }
        guard.allow_reader(reader, response.headers_mut());
        let has_body = method != Method::HEAD && may_have_a_body(response.status());
        let is_reset = match damage {
            Some(Damage::Lost) => true,
            Some(Damage::Truncated) if !has_body => true,
            _ => matches!(rejection, Some(Rejection::Reset)),
        };
        if is_reset {
            observer.pending.answered(None);
            return Err(Break::Reset);
        }
        observer.pending.answered(Some(response.status()));
        Ok(body::damaged(response, damage, plan.and_then(|plan| plan.pace)))
    }

    fn connected(&self) -> impl Drop + Send {
        self.metrics.connections.enter()
    }
}

fn status(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
}

/// How long a number of bytes takes at a rate.
pub(crate) fn pace(bytes: usize, per_second: u64) -> Duration {
    #[expect(clippy::cast_precision_loss, reason = "the error is far below the resolution of the timer")]
    let seconds = bytes as f64 / per_second.max(1) as f64;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// Answers the questions of s3s about the head of a request.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) host: Arc<Host>,
    pub(crate) store: Arc<Store>,
}

/// Accepts any host name of the server. `<bucket>.<any host>` names a bucket that exists, `<bucket>.localhost` names
/// any bucket. For all other hosts the bucket is in the path.
impl S3Host for Gate {
    fn parse_host_header<'a>(&'a self, host: &'a str) -> S3Result<VirtualHost<'a>> {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let labels = name.match_indices('.').filter_map(|(at, _)| name.get(..at));
        let existing = labels.rev().find(|name| self.store.bucket(name).is_some());
        let server = VirtualHost::new(host);
        Ok(match existing.or_else(|| of_localhost(name)) {
            Some(bucket) => server.with_bucket(bucket),
            None => server,
        })
    }
}

fn of_localhost(name: &str) -> Option<&str> {
    let bucket = name.strip_suffix(".localhost")?;
    let bucket = bucket.strip_suffix(".s3").unwrap_or(bucket);
    (bucket != "s3").then_some(bucket)
}

/// The text of the error `InvalidAccessKeyId`.
const UNKNOWN_KEY: &str = "The AWS Access Key Id you provided does not exist in our records.";

#[async_trait::async_trait]
impl S3Auth for Gate {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        let secret = self.host.names.keys.as_ref().and_then(|keys| keys.secret_of(access_key));
        Ok(SecretKey::from(&*secret.ok_or_else(|| s3_error!(InvalidAccessKeyId, "{UNKNOWN_KEY}"))?))
    }
}

/// Lets names of buckets pass, since errors of s3s do not contain the name. [`Gate`] checks them.
#[derive(Debug)]
struct AnyName;

impl NameValidation for AnyName {
    fn validate_bucket_name(&self, name: &str) -> bool {
        !name.is_empty()
    }
}

/// The text of the error `InvalidBucketName`.
pub(crate) const INVALID_BUCKET_NAME: &str = "The specified bucket is not valid.";

/// Checks each request once s3s knows its operation.
#[async_trait::async_trait]
impl S3Access for Gate {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let info = RequestInfo {
            operation: context.s3_op().name().to_owned(),
            resource: Resource::in_s3(
                context.s3_path().get_bucket_name(),
                context.s3_path().get_object_key(),
            ),
        };
        let request = RequestContext::of(context.extensions_mut());
        let info = request.info.get_or_init(|| info);
        let names = &self.host.names;
        let is_anonymous = names.keys.is_some() && context.credentials().is_none();
        let is_of_another = |header| {
            let owner = context.headers().get(header);
            owner.is_some_and(|owner| owner.as_bytes() != names.account.as_bytes())
        };
        let owners = ["x-amz-expected-bucket-owner", "x-amz-source-expected-bucket-owner"];
        if is_anonymous || owners.into_iter().any(is_of_another) {
            return Err(s3_error!(AccessDenied, "Access Denied"));
        }
        if let (Some(keys), Some(credentials)) = (&names.keys, context.credentials()) {
            let header = context.headers().get("x-amz-security-token").and_then(|token| token.to_str().ok());
            let query = context.uri().query().unwrap_or_default();
            let query = form_urlencoded::parse(query.as_bytes())
                .find_map(|(name, value)| (name == "X-Amz-Security-Token").then_some(value));
            let token = query.as_deref().or(header);
            keys.check_token(&credentials.access_key, token).map_err(|error| match error {
                VerifyError::ExpiredToken => s3_error!(ExpiredToken, "The provided token has expired."),
                _ if token.is_none() => s3_error!(InvalidAccessKeyId, "{UNKNOWN_KEY}"),
                _ => s3_error!(InvalidToken, "The provided token is malformed or otherwise invalid."),
            })?;
        }
        let action = S3Action::from_name(&info.operation);
        let streams =
            matches!(action, Some(S3Action::PostObject | S3Action::PutObject | S3Action::UploadPart));
        let length =
            context.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        // s3s has the same limit, but reports the excess as its own failure.
        if !streams && length.is_some_and(|length: usize| length > MAX_XML) {
            return Err(S3ErrorCode::MaxMessageLengthExceeded.into());
        }
        if context.s3_path().get_bucket_name().is_some_and(|name| !check_bucket_name(name)) {
            return Err(s3_error!(InvalidBucketName, "{INVALID_BUCKET_NAME}"));
        }
        // A look into the console must not use up a fault.
        if !context.headers().contains_key("x-sqs-mock-console") {
            self.apply_faults(&request, info).await?;
        }
        if action.is_none() {
            return Err(s3_error!(NotImplemented, "This server does not implement {}.", info.operation));
        }
        check_source(&request, context.headers())
    }
}

impl Gate {
    /// Checks the length of the key in the path, which s3s finds in the same way.
    fn check_path(&self, request: &Request<Body>, context: &RequestContext) -> S3Result<()> {
        let path = request.uri().path();
        // A decoded path is not longer.
        if path.len() <= MAX_KEY {
            return Ok(());
        }
        let Ok(path) = percent_decode_str(path).decode_utf8() else { return Ok(()) };
        let path = path.strip_prefix('/').unwrap_or(&path);
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let is_address = host.parse::<SocketAddr>().is_ok() || host.parse::<IpAddr>().is_ok();
        let is_virtual_hosted = !is_address && self.parse_host_header(host)?.bucket().is_some();
        // s3s refuses a path without a bucket.
        let in_path =
            || path.split_once('/').filter(|(bucket, _)| !bucket.is_empty()).map_or("", |(_, key)| key);
        check_key(context, if is_virtual_hosted { path } else { in_path() })
    }

    async fn apply_faults(&self, request: &RequestContext, info: &RequestInfo) -> S3Result<()> {
        let host = &self.host;
        let plan = host.faults.plan(|| faults::Request {
            service: ServiceName::S3,
            operation: &info.operation,
            resource: info.resource.clone(),
            account: &host.names.account,
            region: &host.names.region,
            time: host.clock.now(),
            entries: Vec::new(),
            can_redeliver: false,
            caller: "",
            number: None,
        });
        request.notes.lock().extend(plan.applied.iter().cloned());
        let entered = enter(&host.faults, request.plan.get_or_init(|| plan)).await;
        entered.map_err(|stopped| match stopped {
            // The client does not retry this error.
            Stopped::Reset => no_such_bucket(),
            Stopped::Error(failure) => error(&failure),
            // The front sends another response, or none.
            Stopped::Replaced(..) | Stopped::Lost => s3_error!(InternalError, "replaced by a fault"),
        })
    }
}

/// Whether a request is one to SQS: in AWS JSON, or a form to the root.
fn is_of_sqs(head: &Parts) -> bool {
    let is_form = || {
        let kind = head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        head.method == Method::POST
            && head.uri.path() == "/"
            && kind.starts_with(b"application/x-www-form-urlencoded")
    };
    head.headers.contains_key("x-amz-target") || is_form()
}

/// The error of a fault. S3 has its own error code for too many requests.
fn error(failure: &Failure) -> S3Error {
    let (code, message) = match failure.code.as_deref() {
        None | Some("RequestThrottled") => ("SlowDown", "Please reduce your request rate."),
        Some(code) => (code, "This failure was injected."),
    };
    let code = S3ErrorCode::from_bytes(code.as_bytes()).unwrap_or(S3ErrorCode::InternalError);
    S3Error::with_message(code, failure.message.clone().unwrap_or_else(|| message.to_owned()))
}

/// Parameters of a presigned URL that belong to its signature, of version 4 or 2, in lower case.
const SIGNATURE: [&str; 9] = [
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-signature",
    "x-amz-signedheaders",
    "awsaccesskeyid",
    "expires",
    "signature",
];

/// The name of a parameter in lower case, and its value.
fn parameter(pair: &str) -> (String, &str) {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    (name.to_ascii_lowercase(), value)
}

/// The query of a presigned URL.
fn presigned(head: &Parts) -> Option<&str> {
    let is_signature = |pair: &str| ["x-amz-signature", "signature"].contains(&parameter(pair).0.as_str());
    head.uri.query().filter(|query| query.split('&').any(is_signature))
}

/// Whether a parameter of a presigned URL, in lower case, is a header that an SDK moved there. Those of signature version 2
/// also move the last two.
fn is_hoisted(name: &str) -> bool {
    name.starts_with("x-amz-") && !SIGNATURE.contains(&name)
        || ["content-md5", "content-type"].contains(&name)
}

/// Adds the headers that a presigned URL has in its query, unless the request has them too. They stay in the query, which
/// the signature covers.
pub(crate) fn hoist_parameters(head: &mut Parts) {
    let Some(query) = presigned(head) else { return };
    let header = |pair| {
        let (name, value) = parameter(pair);
        let name = HeaderName::try_from(name).ok().filter(|name| is_hoisted(name.as_str()))?;
        let value: Cow<'_, [u8]> = percent_decode_str(value).into();
        Some((name, HeaderValue::from_bytes(&value).ok()?))
    };
    let headers: Vec<_> = query.split('&').filter_map(header).collect();
    for (name, value) in headers {
        head.headers.entry(name).or_insert(value);
    }
}

/// Removes the signature from the head of a request, for servers that accept any credentials: s3s rejects signatures that
/// it cannot verify.
pub(crate) fn strip_signature(head: &mut Parts) {
    head.headers.remove(AUTHORIZATION);
    let Some(query) = presigned(head) else { return };
    let is_kept = |pair: &&str| !SIGNATURE.contains(&parameter(pair).0.as_str());
    let kept: Vec<_> = query.split('&').filter(is_kept).collect();
    let path = head.uri.path();
    let uri = if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) };
    // Parsing cannot fail: the text is a part of a valid URI.
    if let Ok(uri) = uri.parse() {
        head.uri = uri;
    }
}

/// Counters since the start of the server.
#[derive(Debug)]
pub(crate) struct Metrics {
    requests: Counters<2>,
    pub(crate) connections: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { requests: Counters::new(["operation", "status"]), connections: Gauge::default() }
    }
}

impl Metrics {
    /// Counts a request. The operation is `None` if the server does not implement it, or rejected the request before the
    /// operation was known. The status is `None` without a complete response.
    fn count(&self, action: Option<S3Action>, status: Option<u16>) {
        let status = status.map_or(ABORTED.into(), |status| status.to_string().into());
        self.requests.count([action.map_or(UNKNOWN, S3Action::name).into(), status]);
    }

    /// Writes all counters.
    pub(crate) fn write(&self, text: &mut Exposition) {
        let name = "sqs_mock_s3_requests_total";
        let help =
            "Requests to S3 by operation and status; the status is aborted without a complete response.";
        text.family(name, Kind::Counter, help);
        self.requests.write(text, name);
        let open = self.connections.count();
        text.single("sqs_mock_s3_open_connections", Kind::Gauge, "Open connections to S3.", open);
    }
}

/// A request in progress. Its drop reports it, so that aborted requests are reported too.
#[derive(Debug)]
pub(crate) struct Observer<'a> {
    metrics: &'a Metrics,
    context: &'a RequestContext,
    /// The recorded request. The front sets how it ends.
    pub(crate) pending: PendingRecord<'a>,
}

impl<'a> Observer<'a> {
    pub(crate) fn begin(metrics: &'a Metrics, host: &'a Host, context: &'a RequestContext) -> Self {
        let pending = PendingRecord::open(&host.journal, &host.clock, ServiceName::S3, &context.id, None);
        Self { metrics, context, pending }
    }
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        let info = self.context.info.get();
        let operation = info.map(|info| info.operation.as_str());
        let ending = self.pending.ending();
        let (status, code, request_id) = (ending.status(), ending.code(), &*self.context.id);
        let resource = info.and_then(|info| info.resource.as_ref());
        if ending.is_failure() {
            tracing::warn!(request_id, operation, ?resource, status, code, "request to S3");
        } else {
            tracing::debug!(request_id, operation, ?resource, status, code, "request to S3");
        }
        self.metrics.count(operation.and_then(S3Action::from_name), status);
        if let Some(operation) = operation {
            self.pending.asked(operation.to_owned());
        }
        self.pending.note(|record| {
            record.resource = resource.cloned();
            record.warnings = std::mem::take(&mut *self.context.notes.lock()).into();
        });
    }
}
