//! Where a request of a socket goes: the health check, or the service.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, EXPECT, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;

use super::endpoint::Endpoint;
use super::{Limits, body};

/// What connections answer with.
pub(super) type Answer = Response<Full<Bytes>>;

/// Answers one request.
///
/// # Cancel safety
/// Dropped before its end, the request is as if it had not been made, or as if its answer had been lost.
pub(super) async fn route(
    endpoint: &Endpoint,
    limits: &Limits,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let answer = match request.uri().path() {
        "/health" => health(),
        _ => serve(endpoint, limits, request).await,
    };
    Ok(answer.map(Full::new))
}

async fn serve(endpoint: &Endpoint, limits: &Limits, request: Request<Incoming>) -> Response<Bytes> {
    let (head, incoming) = request.into_parts();
    match body::read(incoming, limits, head.headers.contains_key(EXPECT)).await {
        Ok(body) => endpoint.handle(Request::from_parts(head, body)).await,
        Err(error) => {
            let mut response = endpoint.refuse_body(&head, error, limits);
            // What is left of the body would be taken for the next request.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            response
        }
    }
}

fn health() -> Response<Bytes> {
    const BODY: &str = concat!("{\"status\":\"ok\",\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}\n");
    let mut response = Response::new(Bytes::from_static(BODY.as_bytes()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
