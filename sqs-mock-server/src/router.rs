//! Routes requests to the admin API or to their service.
//!
//! ```text
//! socket -> Router: a request to S3? -> its front, which streams the body
//!                   else reads the body --+
//!                                         +-> answer: preflight of a browser? -> guard; path of the admin API? -> admin; else -> destination: a service
//! InProcess ------------------------------+
//! ```
//!
//! Finds the service of a request.
//!
//! The first of these decides: the header `X-Amz-Target` of SQS, the service in the credential scope, the host, another
//! `X-Amz-Target`, the API version, the name of the action. What names no service is for SQS. Requests to S3 are found
//! without their body.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, EXPECT, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
#[cfg(feature = "s3")]
use http_body_util::Either;
use hyper::body::Incoming;
use sqs_client::transport::{Transport, TransportError, TransportErrorKind, TransportFuture};
use sqs_client::wire::protocol::Detected;

use crate::admin;
use crate::admin::{Answer, console};
use crate::control::caller;
use crate::control::operation::{Operation, ServiceName};
use crate::http::body::{Admitted, Intake, Limits, form_text};
use crate::http::reply::{Break, Outgoing, Reply};
use crate::http::server::Site;
#[cfg(feature = "s3")]
use crate::s3::front::Front;
use crate::services::{S3_IS_OFF, Services};

/// Serves the connections of a server.
pub(crate) struct Router {
    services: Arc<Services>,
    #[cfg(feature = "s3")]
    s3: Option<Arc<Front>>,
    intake: Intake,
}

impl Router {
    pub(crate) fn new(services: Arc<Services>, limits: Limits) -> Self {
        Self {
            services,
            #[cfg(feature = "s3")]
            s3: None,
            intake: Intake::new(limits),
        }
    }

    /// Passes requests to S3 on.
    #[cfg(feature = "s3")]
    pub(crate) fn serve_s3(&mut self, front: Arc<Front>) {
        self.s3 = Some(front);
    }

    async fn serve(&self, head: Parts, incoming: Incoming) -> Reply {
        match self.intake.read(incoming, head.headers.contains_key(EXPECT)).await {
            Ok(Admitted { body, share }) => {
                let reply = answer(&self.services, Request::from_parts(head, body)).await;
                drop(share);
                reply
            }
            Err(error) => {
                let (sqs, front) = (&self.services.sqs, &self.services.front);
                let mut reply = sqs.refuse_body(front, &head, error, &self.intake.limits);
                if let Some(headers) = reply.headers_mut() {
                    self.services.guard().allow_reading(&head, headers);
                    // Otherwise the rest of the body would be read as the next request.
                    headers.insert(CONNECTION, HeaderValue::from_static("close"));
                }
                reply
            }
        }
    }
}

impl Site for Router {
    type Body = Outgoing;

    /// # Cancel safety
    /// If the future is dropped, the request is either not applied, or applied as if its response was lost.
    async fn route(&self, request: Request<Incoming>) -> Result<Response<Outgoing>, Break> {
        let (head, incoming) = request.into_parts();
        #[cfg(feature = "s3")]
        if let Some(front) = &self.s3
            && is_s3(&head)
            && !is_admin_of_s3_host(&head)
        {
            // Boxed, so that the future of SQS requests stays small.
            let response = Box::pin(front.route(Request::from_parts(head, incoming))).await?;
            return Ok(response.map(Either::Right));
        }
        self.serve(head, incoming).await.into_response()
    }

    fn connected(&self) -> impl Drop + Send {
        self.services.sqs.count_connection()
    }
}

/// Answers a request in its own protocol and in the form that it accepts.
///
/// # Cancel safety
/// If the future is dropped while a receive waits, the receive takes no messages.
async fn answer(services: &Arc<Services>, request: Request<Bytes>) -> Reply {
    let (mut head, body) = request.into_parts();
    if let Some(answer) = services.guard().preflight(&head) {
        return answer.into();
    }
    let mut reply = if admin::owns(head.uri.path()) {
        // Boxed, so that the future of SQS requests stays small.
        match Box::pin(admin::answer(services, &head, &body)).await {
            Answer::Reply(reply) => reply,
            Answer::Action => {
                caller::trust(&mut head);
                Box::pin(answer_action(services, &head, &body)).await
            }
        }
    } else {
        if console::is_of_address_bar(services, &head) {
            return console::to_console().into();
        }
        answer_action(services, &head, &body).await
    };
    if let Some(headers) = reply.headers_mut() {
        services.guard().allow_reading(&head, headers);
    }
    reply
}

async fn answer_action(services: &Services, head: &Parts, body: &[u8]) -> Reply {
    match of(head, body) {
        Destination::Service(ServiceName::Sqs) => services.front.answer(&services.sqs, head, body).await,
        other => Box::pin(answer_other(services, other, head, body)).await,
    }
}

/// Answers a request that is not for SQS.
async fn answer_other(services: &Services, destination: Destination, head: &Parts, body: &[u8]) -> Reply {
    match destination {
        Destination::Service(ServiceName::Sns) => services.front.answer(&services.sns, head, body).await,
        Destination::Service(ServiceName::Sts) => services.front.answer(&services.sts, head, body).await,
        Destination::Certificate => crate::sns::signing::response().into(),
        Destination::Service(_) => services.front.answer(&services.sqs, head, body).await,
        Destination::Unknown(foreign) => {
            let (protocol, message) = (foreign.protocol(head, body), foreign.refusal(services.has_s3()));
            services.sqs.refuse_service(&services.front, head, &protocol, message)
        }
    }
}

/// The services of this port, except for S3.
const SERVED: [ServiceName; 3] = [ServiceName::Sqs, ServiceName::Sns, ServiceName::Sts];

/// The services with REST and XML, by their names in the credential scope.
const REST_XML: [&str; 3] = ["cloudfront", "route53", "s3"];

/// Where a request goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Destination {
    Service(ServiceName),
    /// The certificate of notifications.
    Certificate,
    /// No service of this port.
    Unknown(Foreign),
}

/// What names a service that the server does not have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Foreign {
    /// Its name in the credential scope or in the header `X-Amz-Target`.
    Name(String),
    /// Its API version.
    Version(String),
}

impl Foreign {
    /// The text of the error.
    pub(crate) fn refusal(&self, has_s3: bool) -> String {
        let (service, is_s3) = match self {
            Self::Name(name) => (format!("{name:?}"), name == ServiceName::S3.as_str()),
            Self::Version(version) => (format!("with the API version {version:?}"), false),
        };
        // A client without a socket cannot reach S3.
        let s3 = (has_s3 && !is_s3).then_some(&ServiceName::S3);
        let served: Vec<_> = SERVED.iter().chain(s3).map(|service| service.as_str()).collect();
        let hint = if is_s3 && !has_s3 { format!(" {S3_IS_OFF}.") } else { String::new() };
        format!("This server has no service {service}; it has {}.{hint}", served.join(", "))
    }

    /// The protocol of the answer. The services with REST and XML have other errors than Query services, but their
    /// clients read both.
    pub(crate) fn protocol(&self, head: &Parts, body: &[u8]) -> Detected {
        let is_rest_xml = matches!(self, Self::Name(name) if REST_XML.contains(&name.as_str()));
        let is_query = || form_urlencoded::parse(&form_text(head, body)).any(|(name, _)| name == "Action");
        match Detected::from_headers(&head.headers) {
            Detected::Query if !is_rest_xml && !is_query() => Detected::AwsJson(Err(String::new())),
            detected => detected,
        }
    }
}

/// Finds the service of a request that is not for S3.
pub(crate) fn of(head: &Parts, body: &[u8]) -> Destination {
    // Nearly all requests have one of these two, which are cheap to find.
    if has_target(head) {
        return Destination::Service(ServiceName::Sqs);
    }
    match signed_scope(head) {
        Some("sqs") => Destination::Service(ServiceName::Sqs),
        Some(scope) => named(scope),
        None => unsigned(head, body),
    }
}

/// Whether a request is for S3: by its signature, or by its host if the signature names no service.
#[cfg(feature = "s3")]
pub(crate) fn is_s3(head: &Parts) -> bool {
    if has_target(head) {
        return false;
    }
    let s3 = ServiceName::S3.as_str();
    if let Some(scope) = signed_scope(head) {
        return scope == s3;
    }
    let in_url = credential_in_url(head);
    match in_url.as_deref().and_then(scope) {
        Some(scope) => scope == s3,
        None if has_old_signature(head) => true,
        // `s3.<domain>` or `<bucket>.s3.<domain>`.
        None => host_of(head).split('.').take(2).any(|label| label == s3),
    }
}

/// Whether a request is for the admin API, although its host is `s3.<domain>`: no name of a bucket begins as its paths do.
#[cfg(feature = "s3")]
fn is_admin_of_s3_host(head: &Parts) -> bool {
    head.uri.path().starts_with("/_") && admin::owns(head.uri.path()) && host_of(head).starts_with("s3.")
}

/// Whether a request has a signature of version 2 for S3, in a header or in a presigned URL. That of other services is in
/// the query of an action.
#[cfg(feature = "s3")]
fn has_old_signature(head: &Parts) -> bool {
    let in_header =
        head.headers.get(AUTHORIZATION).is_some_and(|value| value.as_bytes().starts_with(b"AWS "));
    let query = head.uri.query().unwrap_or_default().as_bytes();
    let has = |name| parameter(query, name).is_some();
    in_header || has("AWSAccessKeyId") && has("Signature") && has("Expires") && !has("Action")
}

fn has_target(head: &Parts) -> bool {
    head.headers.get("x-amz-target").is_some_and(|target| target.as_bytes().starts_with(b"AmazonSQS."))
}

/// The service in the header `Authorization`.
fn signed_scope(head: &Parts) -> Option<&str> {
    let header = head.headers.get(AUTHORIZATION)?.to_str().ok()?;
    scope(header.split_once("Credential=")?.1)
}

fn credential_in_url(head: &Parts) -> Option<Cow<'_, str>> {
    parameter(head.uri.query()?.as_bytes(), "X-Amz-Credential")
}

fn host_of(head: &Parts) -> &str {
    crate::control::caller::host(head).unwrap_or_default()
}

/// The service of `<key>/<date>/<region>/<service>/aws4_request`.
fn scope(credential: &str) -> Option<&str> {
    let credential = credential.split([',', ' ', '&']).next()?;
    let mut parts = credential.split('/').skip(3);
    parts.next().filter(|_| parts.next() == Some("aws4_request"))
}

fn named(name: &str) -> Destination {
    match SERVED.iter().find(|service| service.as_str() == name) {
        Some(service) => Destination::Service(*service),
        None => Destination::Unknown(Foreign::Name(name.to_owned())),
    }
}

/// A request without a signature in its headers.
fn unsigned(head: &Parts, body: &[u8]) -> Destination {
    if crate::sns::signing::is_asked_for(head) {
        return Destination::Certificate;
    }
    let in_url = credential_in_url(head);
    if let Some(name) = in_url.as_deref().and_then(scope) {
        return named(name);
    }
    let first = host_of(head).split('.').next().unwrap_or_default();
    match first.trim_end_matches("-fips") {
        "sqs" | "queue" => return Destination::Service(ServiceName::Sqs),
        name @ ("sns" | "sts") => return named(name),
        _ => {}
    }
    if let Some(name) = target_service(head) {
        return Destination::Unknown(Foreign::Name(name.to_owned()));
    }
    let form = form_text(head, body);
    let action = parameter(&form, "Action");
    let version = match action {
        Some(_) => parameter(&form, "Version"),
        // REST services have it at the start of the path.
        None => {
            head.uri.path().trim_start_matches('/').split_once('/').map(|(version, _)| Cow::Borrowed(version))
        }
    };
    match version.as_deref() {
        Some("2012-11-05" | "2011-10-01" | "2009-02-01" | "2008-01-01" | "2007-05-01") => {
            return Destination::Service(ServiceName::Sqs);
        }
        Some("2010-03-31") => return named("sns"),
        Some("2011-06-15") => return named("sts"),
        Some(version) if is_version(version) && !action.as_deref().is_some_and(is_known) => {
            return Destination::Unknown(Foreign::Version(version.to_owned()));
        }
        _ => {}
    }
    let is_topic = || parameter(&form, "TopicArn").is_some();
    let found = action.and_then(|action| service_of_action(&action, is_topic));
    let found = found.filter(|service| SERVED.contains(service));
    Destination::Service(found.unwrap_or(ServiceName::Sqs))
}

/// The service in the header `X-Amz-Target`, such as `DynamoDB_20120810.ListTables`.
fn target_service(head: &Parts) -> Option<&str> {
    let (service, _) = head.headers.get("x-amz-target")?.to_str().ok()?.rsplit_once('.')?;
    Some(service)
}

/// Whether a text looks like an API version, such as `2012-11-05`.
fn is_version(text: &str) -> bool {
    text.split('-').map(str::len).eq([4, 2, 2])
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Whether a service of this port has an action. Callers of SQS may have a wrong version.
fn is_known(action: &str) -> bool {
    Operation::find(None, action).is_ok()
}

fn parameter<'f>(form: &'f [u8], name: &str) -> Option<Cow<'f, str>> {
    form_urlencoded::parse(form).find(|(known, _)| known == name).map(|(_, value)| value)
}

/// The service of an action, if it is not SQS. SQS and SNS share the names of two actions.
fn service_of_action(action: &str, names_topic: impl FnOnce() -> bool) -> Option<ServiceName> {
    let of_sns = match action {
        "AddPermission" | "RemovePermission" => names_topic(),
        "ListTagsForResource"
        | "Publish"
        | "PublishBatch"
        | "Subscribe"
        | "TagResource"
        | "Unsubscribe"
        | "UntagResource" => true,
        action => action.contains("Topic") || action.contains("Subscription"),
    };
    let of_sts = action.starts_with("Assume") || matches!(action, "GetCallerIdentity" | "GetSessionToken");
    if of_sns { Some(ServiceName::Sns) } else { of_sts.then_some(ServiceName::Sts) }
}

/// A transport that passes requests of a client to a server in the same process.
///
/// Requests and responses are encoded and signed as over HTTP; only the connection is missing. Tests can therefore use
/// tokio's paused clock, and only a [fault](crate::faults) can lose a request or a response. After the server
/// has stopped, requests fail with a connection error.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use sqs_mock_server::MockSqs;
/// use sqs_client::Client;
/// use sqs_client::config::{Config, Credentials, Region};
///
/// let server = MockSqs::in_process();
/// let config = Config::builder() // or server.client_config(), which has all of this
///     .region(Region::new("us-east-1"))
///     .credentials_provider(Credentials::new("test", "test", None, None, "example"))
///     .endpoint_url(server.endpoint_url())
///     .transport(server.transport());
/// Client::from_conf(config.build()).list_queues().send().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct InProcess {
    services: Arc<Services>,
    /// Whether requests fail after the server has stopped.
    stops: bool,
}

impl InProcess {
    pub(crate) fn new(services: Arc<Services>) -> Self {
        Self { services, stops: true }
    }

    /// For a consumer within the server, which finishes its work while the server stops.
    pub(crate) fn of_server(services: Arc<Services>) -> Self {
        Self { services, stops: false }
    }
}

impl Transport for InProcess {
    fn send(&self, request: Request<Bytes>) -> TransportFuture<'_> {
        Box::pin(async move {
            if self.stops && self.services.sqs.service().is_shut_down() {
                return Err(TransportError::new(TransportErrorKind::Connect, "the server has stopped"));
            }
            match answer(&self.services, request).await {
                Reply::Whole(response) => Ok(response),
                Reply::Live(_) => {
                    let text = "a response that does not end requires a socket";
                    Err(TransportError::new(TransportErrorKind::Invalid, text))
                }
                Reply::Truncated(_) | Reply::Lost => {
                    Err(TransportError::new(TransportErrorKind::Broken, Break::Reset))
                }
            }
        })
    }
}

#[cfg(test)]
#[path = "router_tests.rs"]
mod tests;
