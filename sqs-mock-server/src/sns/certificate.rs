//! The certificate of the key that signs notifications, over HTTP.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Response};

use super::signing::PATH;

/// Valid until 2119.
const CERTIFICATE: &str = include_str!("certificate.pem");

/// Whether a request is for the certificate.
pub(crate) fn is_asked_for(head: &Parts) -> bool {
    head.uri.path() == PATH && (head.method == Method::GET || head.method == Method::HEAD)
}

/// The response with the certificate.
pub(crate) fn response() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(CERTIFICATE.as_bytes()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-pem-file"));
    response
}
