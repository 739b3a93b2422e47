//! The admin API: all paths outside of SQS, for health checks, metrics and tests.
//!
//! ```text
//! endpoint --owns(path)?--> guard --> route --method, path--> Ask (parameters, body) --> one function of about | .. --> JSON
//! ```
//! Sockets and the in-process transport use it alike. It requires no signature, even if SQS requests do: without an
//! admin token, everyone who can reach the server can inspect it and change its clock. Responses are JSON. Errors are
//! `{"error": "what is wrong, and what is allowed"}` with status 400, 401, 403, 404, 405, 409, 500 or 503.

mod answer;
mod ask;
mod backdoor;
mod clock;
mod faults;
mod findings;
mod messages;
mod page;
mod queues;
mod quotas;
mod requests;
mod routes;
mod server;
mod wait;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};

use crate::http::Guard;
use crate::services::Services;
use answer::{Answered, Refusal};
use ask::Ask;
use routes::{Handler, ROUTES};

/// Whether a path belongs to the admin API. Paths of SQS start with an account, a queue name or nothing, so that the
/// first byte decides for almost all of them.
pub(crate) fn owns(path: &str) -> bool {
    match path.as_bytes().get(1) {
        Some(b'h') => path == "/health",
        Some(b'm') => path == "/metrics",
        Some(b'_') => ["/_mock", "/_aws"].iter().any(|root| is_at_or_under(root, path)),
        _ => false,
    }
}

fn is_at_or_under(root: &str, path: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Handles a request whose path is [owned](owns).
///
/// # Cancel safety
/// Dropping the future loses nothing.
pub(crate) async fn answer(services: &Services, head: &Parts, body: &[u8]) -> Response<Bytes> {
    route(services, head, body).await.unwrap_or_else(Refusal::into_response)
}

/// Health is open to everyone: health checks use any host name, and it reveals nothing. Metrics need no token, since
/// scrapers rarely have one.
fn check(guard: &Guard, head: &Parts) -> Result<(), Refusal> {
    let path = head.uri.path();
    if path == "/health" {
        return Ok(());
    }
    guard.check_admin(head).map_err(Refusal::forbidden)?;
    if path == "/metrics" || guard.has_token(head) { Ok(()) } else { Err(Refusal::no_token()) }
}

async fn route(services: &Services, head: &Parts, body: &[u8]) -> Answered {
    check(services.guard(), head)?;
    let path = head.uri.path();
    let method = if head.method == Method::HEAD { &Method::GET } else { &head.method };
    let mut allowed = Vec::new();
    for route in ROUTES {
        let Some(name) = route.matches(path) else { continue };
        if route.method == method {
            let ask = Ask::new(services, head, body, name);
            let service = services.sqs.service();
            if method != Method::GET {
                service.check_store().map_err(|error| Refusal::not_stored(&error))?;
            }
            let answered = match route.handler {
                // These do not wait for a slow disk.
                Handler::Now(answer) if path == "/health" => return answer(&ask),
                Handler::Metrics => return Ok(answer::metrics(services.metrics().await)),
                Handler::Now(answer) => answer(&ask),
                Handler::Wait => wait::wait(&ask).await,
            };
            return service.settled().await.map_err(|error| Refusal::not_stored(&error)).and(answered);
        }
        allowed.push(route.method.as_str());
    }
    Err(if allowed.is_empty() { Refusal::unknown_path(path) } else { Refusal::method(method, &allowed) })
}
