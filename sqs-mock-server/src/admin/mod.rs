//! The admin API: all paths outside of SQS, for health checks, metrics and tests.
//!
//! ```text
//! router --owns(path)?--> guard --> console: a file
//!                            route --method, path--> Ask (parameters, body) --> one function of messages | queues | .. --> JSON
//!                                                     events: a stream
//!                                                     aws: an action, which the router passes to its service
//! ```
//! Sockets and the in-process transport use it alike. It requires no signature, even if SQS requests do: without an
//! admin token, everyone who can reach the server can inspect it and change its clock. Responses are JSON. Errors are
//! `{"error": "what is wrong, and what is allowed"}` with status 400, 401, 403, 404, 405, 409, 500 or 503.

mod answer;
mod ask;
#[cfg(feature = "s3")]
mod buckets;
mod clock;
mod console;
mod events;
mod faults;
mod messages;
mod queues;
mod quotas;
mod requests;
mod routes;
mod server;
mod topics;

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response, StatusCode};

use crate::http::{Guard, Reply};
use crate::services::Services;
use answer::Refusal;
use ask::Ask;
use routes::{Handler, ROUTES};

pub(crate) use console::{is_of_address_bar, to_console};

/// Whether a path belongs to the admin API. Paths of SQS start with an account, a queue name or nothing, so that the
/// first byte decides for almost all of them.
pub(crate) fn owns(path: &str) -> bool {
    match path.as_bytes().get(1) {
        Some(b'h') => path == "/health",
        Some(b'm') => path == "/metrics",
        Some(b'_') => ["/_mock", "/_aws", "/_localstack"].iter().any(|root| is_at_or_under(root, path)),
        _ => false,
    }
}

fn is_at_or_under(root: &str, path: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// How a request is answered.
#[derive(Debug)]
pub(crate) enum Answer {
    Reply(Reply),
    /// By the service of the action in it.
    Action,
}

/// Handles a request whose path is [owned](owns).
///
/// # Cancel safety
/// Dropping the future loses nothing.
pub(crate) async fn answer(services: &Arc<Services>, head: &Parts, body: &[u8]) -> Answer {
    route(services, head, body).await.unwrap_or_else(|refusal| refusal.into_response().into())
}

impl From<Response<Bytes>> for Answer {
    fn from(response: Response<Bytes>) -> Self {
        Self::Reply(response.into())
    }
}

/// Whether a path tells if the server is healthy.
fn is_health(path: &str) -> bool {
    ["/health", "/_localstack/health"].contains(&path.trim_end_matches('/'))
}

/// Health is open to everyone: health checks use any host name, and it reveals nothing. Metrics and the files of the
/// console need no token: scrapers rarely have one, and browsers ask for files without it.
fn check(guard: &Guard, head: &Parts) -> Result<(), Refusal> {
    let path = head.uri.path();
    if is_health(path) {
        return Ok(());
    }
    guard.check_admin(head).map_err(|error| Refusal::new(StatusCode::FORBIDDEN, error))?;
    if is_at_or_under(console::ROOT, path) {
        return Ok(());
    }
    if path == "/metrics" || guard.has_token(head) { Ok(()) } else { Err(Refusal::no_token()) }
}

async fn route(services: &Arc<Services>, head: &Parts, body: &[u8]) -> Result<Answer, Refusal> {
    check(services.guard(), head)?;
    let path = head.uri.path();
    let method = if head.method == Method::HEAD { &Method::GET } else { &head.method };
    if method == Method::GET && is_at_or_under(console::ROOT, path) {
        return console::file(services, head).map(Answer::from);
    }
    let found: Vec<_> = ROUTES.iter().filter_map(|route| Some((route, route.matches(path)?))).collect();
    let Some((route, name)) = found.iter().find(|(route, _)| route.method == method) else {
        if found.is_empty() {
            let error = format!("unknown path {path}; GET /_mock lists all paths");
            return Err(Refusal::not_found(error));
        }
        let allowed: Vec<_> = found.iter().map(|(route, _)| route.method.as_str()).collect();
        return Err(Refusal::method(method, &allowed));
    };
    let parameters = route.parameters(head.uri.query().unwrap_or_default())?;
    let ask = Ask { services, head, body, name, parameters };
    let service = services.sqs.service();
    if method != Method::GET {
        service.check_store().map_err(Refusal::not_stored)?;
    }
    let answered = match route.handler {
        // These do not wait for a slow disk.
        Handler::Now(answer) if is_health(path) => return answer(&ask).map(Answer::from),
        Handler::Metrics => return Ok(answer::metrics(services.metrics().await).into()),
        Handler::Action => return Ok(Answer::Action),
        Handler::Events => return events::stream(services).map(|live| Answer::Reply(Reply::Live(live))),
        Handler::Now(answer) => answer(&ask),
        Handler::Wait => queues::wait(&ask).await,
        #[cfg(feature = "s3")]
        Handler::Content => buckets::content(&ask).await,
    };
    service.settled().await.map_err(Refusal::not_stored)?;
    answered.map(Answer::from)
}
