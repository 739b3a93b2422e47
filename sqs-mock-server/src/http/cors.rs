//! CORS headers for pages of listed origins.
//!
//! Source: <https://fetch.spec.whatwg.org/#http-cors-protocol>

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::guard::{Guard, foreign};

const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Scripts in browsers may read all headers: ids, error codes, dates, checksums and metadata of objects.
const EXPOSED: &str = "*";
/// The maximum time that Chromium caches a preflight.
const PREFLIGHT_SECONDS: &str = "7200";

impl Guard {
    /// The response to a CORS preflight; `None` for other requests.
    pub(crate) fn preflight(&self, head: &Parts) -> Option<Response<Bytes>> {
        let asks = head.method == Method::OPTIONS && head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let (true, Some(_)) = (asks, head.headers.get(ORIGIN)) else { return None };
        let mut response = Response::new(Bytes::new());
        if self.listed_origin(head).is_none() {
            *response.status_mut() = StatusCode::FORBIDDEN;
            *response.body_mut() = Bytes::from(foreign(head) + "\n");
            return Some(response);
        }
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers
            .insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, POST, PUT, DELETE"));
        if let Some(names) = head.headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
        }
        if head.headers.contains_key(REQUEST_PRIVATE_NETWORK) {
            headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
        }
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_SECONDS));
        self.allow_reading(head, headers);
        Some(response)
    }

    /// Adds the headers that allow a listed page to read the response.
    pub(crate) fn allow_reading(&self, head: &Parts, answer: &mut HeaderMap) {
        self.allow_reader(self.listed_origin(head).cloned(), answer);
    }

    /// Like [`allow_reading`](Self::allow_reading), for the listed origin of a request, if there is one.
    pub(crate) fn allow_reader(&self, origin: Option<HeaderValue>, answer: &mut HeaderMap) {
        if self.cors_origins.is_empty() {
            return;
        }
        // Responses to other pages too: a cache must not give them to this one.
        answer.append(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = origin {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
    }

    /// The origin of a request, if it is listed.
    pub(crate) fn listed_origin<'h>(&self, head: &'h Parts) -> Option<&'h HeaderValue> {
        let origin = head.headers.get(ORIGIN)?;
        self.cors_origins.iter().any(|listed| listed.as_bytes() == origin.as_bytes()).then_some(origin)
    }
}
