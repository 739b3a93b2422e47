//! Finds the service of a request.
//!
//! The first of these decides: the header `X-Amz-Target` of SQS, the service in the credential scope, the host, another
//! `X-Amz-Target`, the API version, the name of the action. What names no service is for SQS. Requests to S3 are found
//! without their body.

use std::borrow::Cow;

use http::header::AUTHORIZATION;
use http::request::Parts;
use sqs_client::wire::protocol::Detected;

use crate::http::form_text;
use crate::service::operation::{Operation, ServiceName};

/// The services of this port, except for S3.
const SERVED: [ServiceName; 3] = [ServiceName::Sqs, ServiceName::Sns, ServiceName::Sts];

/// The services with REST and XML, by their names in the credential scope.
const REST_XML: [&str; 3] = ["cloudfront", "route53", "s3"];

/// Where a request goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Destination {
    Service(ServiceName),
    /// The certificate of notifications.
    Certificate,
    /// No service of this port.
    Unknown(Foreign),
}

/// What names a service that the server does not have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Foreign {
    /// Its name in the credential scope or in the header `X-Amz-Target`.
    Name(String),
    /// Its API version.
    Version(String),
}

impl Foreign {
    /// The text of the error.
    pub(super) fn refusal(&self, has_s3: bool) -> String {
        let (service, is_s3) = match self {
            Self::Name(name) => (format!("{name:?}"), name == ServiceName::S3.as_str()),
            Self::Version(version) => (format!("with the API version {version:?}"), false),
        };
        // A client without a socket cannot reach S3.
        let s3 = (has_s3 && !is_s3).then_some(&ServiceName::S3);
        let served: Vec<_> = SERVED.iter().chain(s3).map(|service| service.as_str()).collect();
        format!("This server has no service {service}; it has {}.", served.join(", "))
    }

    /// The protocol of the answer. The services with REST and XML have other errors than Query services, but their
    /// clients read both.
    pub(super) fn protocol(&self, head: &Parts, body: &[u8]) -> Detected {
        let is_rest_xml = matches!(self, Self::Name(name) if REST_XML.contains(&name.as_str()));
        let is_query = || form_urlencoded::parse(&form_text(head, body)).any(|(name, _)| name == "Action");
        match Detected::from_headers(&head.headers) {
            Detected::Query if !is_rest_xml && !is_query() => Detected::AwsJson(Err(String::new())),
            detected => detected,
        }
    }
}

/// Finds the service of a request that is not for S3.
pub(super) fn of(head: &Parts, body: &[u8]) -> Destination {
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

/// Whether a request is for S3.
#[cfg(feature = "s3")]
pub(super) fn is_s3(head: &Parts) -> bool {
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
        // `s3.<domain>` or `<bucket>.s3.<domain>`.
        None => host_of(head).split('.').take(2).any(|label| label == s3),
    }
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
    crate::service::caller::host(head).unwrap_or_default()
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
    if crate::sns::certificate::is_asked_for(head) {
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

#[cfg(test)]
#[path = "destination_tests.rs"]
mod tests;
