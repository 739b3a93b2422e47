//! Requests to services that the server does not have.

use http::request::Parts;
use sqs_client::wire::protocol::Detected;

use crate::http::form_text;
use crate::service::operation::ServiceName;

/// The services of this port, except for S3.
pub(super) const SERVED: &[ServiceName] = if cfg!(feature = "sns") {
    &[ServiceName::Sqs, ServiceName::Sns, ServiceName::Sts]
} else {
    &[ServiceName::Sqs]
};

/// The services with REST and XML, by their names in the credential scope.
const REST_XML: [&str; 3] = ["cloudfront", "route53", "s3"];

/// What names the service.
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
