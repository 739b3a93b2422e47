//! Finds the service of a request.
//!
//! The first of these decides: the header `X-Amz-Target`, the service in the credential scope, the host, the parameter
//! `Version`, the name of the action. What names no service is for SQS.

use std::borrow::Cow;

use http::header::AUTHORIZATION;
use http::request::Parts;

use crate::http::form_text;
use crate::service::operation::ServiceName;

/// Where a request goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Destination {
    Service(ServiceName),
    /// The certificate of notifications.
    #[cfg(feature = "sns")]
    Certificate,
    /// No service of this port. The text is its name in the credential scope.
    Unknown(String),
}

/// The services of this port.
const SERVED: &[ServiceName] = if cfg!(feature = "sns") {
    &[ServiceName::Sqs, ServiceName::Sns, ServiceName::Sts]
} else {
    &[ServiceName::Sqs]
};

/// Finds the service of a request.
pub(super) fn of(head: &Parts, body: &[u8]) -> Destination {
    // Nearly all requests have one of these two, which are cheap to find.
    if head.headers.get("x-amz-target").is_some_and(|target| target.as_bytes().starts_with(b"AmazonSQS.")) {
        return Destination::Service(ServiceName::Sqs);
    }
    let header = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let credential = header.and_then(|header| header.split_once("Credential=")).map(|(_, rest)| rest);
    match credential.and_then(scope) {
        Some("sqs") => Destination::Service(ServiceName::Sqs),
        Some(scope) => named(scope),
        None => unsigned(head, body),
    }
}

/// The text for a request to another service.
pub(super) fn refusal(name: &str) -> String {
    let served: Vec<_> = SERVED.iter().map(|service| service.as_str()).collect();
    let served = served.join(", ");
    format!(
        "The credential scope names the service {name:?}, which this endpoint does not have; it has {served}."
    )
}

/// The service of `<key>/<date>/<region>/<service>/aws4_request`.
fn scope(credential: &str) -> Option<&str> {
    let credential = credential.split([',', ' ', '&']).next()?;
    let mut parts = credential.split('/').skip(3);
    parts.next().filter(|_| parts.next() == Some("aws4_request"))
}

fn named(name: &str) -> Destination {
    let served = SERVED.iter().find(|service| service.as_str() == name);
    served.map_or_else(|| Destination::Unknown(name.to_owned()), |service| Destination::Service(*service))
}

/// A request without a signature in its headers.
fn unsigned(head: &Parts, body: &[u8]) -> Destination {
    #[cfg(feature = "sns")]
    if crate::sns::signing::is_certificate(head) {
        return Destination::Certificate;
    }
    let host = crate::service::caller::host(head).unwrap_or_default();
    let first = host.split('.').next().unwrap_or_default();
    let by_host = match first.trim_end_matches("-fips") {
        "sqs" | "queue" => Some(ServiceName::Sqs),
        "sns" => Some(ServiceName::Sns),
        "sts" => Some(ServiceName::Sts),
        _ => None,
    };
    let in_url = parameter(head.uri.query().unwrap_or_default().as_bytes(), "X-Amz-Credential");
    if let Some(name) = in_url.as_deref().and_then(scope) {
        return named(name);
    }
    let form = form_text(head, body);
    let parameter = |name| parameter(&form, name);
    let by_version = || match &*parameter("Version")? {
        "2012-11-05" => Some(ServiceName::Sqs),
        "2010-03-31" => Some(ServiceName::Sns),
        "2011-06-15" => Some(ServiceName::Sts),
        _ => None,
    };
    let by_action = || {
        let is_topic = parameter("TopicArn").is_some();
        service_of_action(&parameter("Action")?, is_topic)
    };
    let found = by_host.or_else(by_version).or_else(by_action);
    let found = found.filter(|service| SERVED.contains(service));
    Destination::Service(found.unwrap_or(ServiceName::Sqs))
}

fn parameter<'f>(form: &'f [u8], name: &str) -> Option<Cow<'f, str>> {
    form_urlencoded::parse(form).find(|(known, _)| known == name).map(|(_, value)| value)
}

/// The service of an action, if it is not SQS. SQS and SNS share the names of two actions.
fn service_of_action(action: &str, names_topic: bool) -> Option<ServiceName> {
    let of_sns = match action {
        "AddPermission" | "RemovePermission" => names_topic,
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
