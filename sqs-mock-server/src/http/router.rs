//! Where a request of a socket goes: the health check, the metrics, or the service.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, EXPECT, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;

use super::endpoint::Endpoint;
use super::intake::{Admitted, Intake};

/// What connections answer with.
pub(super) type Answer = Response<Full<Bytes>>;

/// Answers one request.
///
/// # Cancel safety
/// Dropped before its end, the request is as if it had not been made, or as if its answer had been lost.
pub(super) async fn route(
    endpoint: &Endpoint,
    intake: &Intake,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let answer = match request.uri().path() {
        "/health" => health(),
        "/metrics" => endpoint.metrics().await,
        _ => serve(endpoint, intake, request).await,
    };
    Ok(answer.map(Full::new))
}

async fn serve(endpoint: &Endpoint, intake: &Intake, request: Request<Incoming>) -> Response<Bytes> {
    let (head, incoming) = request.into_parts();
    match intake.read(incoming, head.headers.contains_key(EXPECT)).await {
        Ok(Admitted { body, share }) => {
            let response = endpoint.handle(Request::from_parts(head, body)).await;
            drop(share);
            response
        }
        Err(error) => {
            let mut response = endpoint.refuse_body(&head, error, intake.limits());
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
