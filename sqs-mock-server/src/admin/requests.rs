//! Recorded requests over HTTP.

use serde::Serialize;
use serde_json::json;
use sqs_client::operation::Action;
use sqs_client::wire::protocol::Protocol;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use super::page::{LIMIT, Page, SKIP};
use crate::service::journal::RecordedRequest;

#[derive(Serialize)]
struct Request<'r> {
    number: u64,
    id: &'r str,
    time: String,
    protocol: &'static str,
    action: Option<&'static str>,
    queue: Option<String>,
    account: Option<&'r str>,
    region: Option<&'r str>,
    status: Option<u16>,
    error: Option<&'r str>,
    elapsed_us: u128,
    content: String,
}

/// `GET /_mock/requests`. A page is counted from the latest request back, and shows its oldest first.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    let parameters = ask.parameters(&["action", "queue", SKIP, LIMIT])?;
    let page = Page::read(&parameters)?;
    let mut requests = ask.services.sqs.journal().requests();
    if let Some(name) = parameters.get("action") {
        requests = requests.of(Action::from_name(name).ok_or_else(|| unknown_action(name))?);
    }
    if let Some(queue) = parameters.get("queue") {
        requests = requests.on(queue);
    }
    let all = requests.all();
    json(&page.of_latest(all, |request| show(request)))
}

/// `DELETE /_mock/requests`.
pub(super) fn clear(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    json(&json!({ "forgotten": ask.services.sqs.journal().clear() }))
}

fn show(request: &RecordedRequest) -> Request<'_> {
    Request {
        number: request.number(),
        id: request.request_id(),
        time: request.time().to_string(),
        protocol: match request.protocol() {
            Protocol::AwsJson => "json",
            Protocol::Query => "query",
        },
        action: request.action().map(Action::as_str),
        queue: request.queue().map(|queue| queue.name.into()),
        account: request.account(),
        region: request.region(),
        status: request.status(),
        error: request.error_code().map(sqs_client::wire::service_error::ErrorCode::shape),
        elapsed_us: request.elapsed().as_micros(),
        content: String::from_utf8_lossy(request.content()).into_owned(),
    }
}

fn unknown_action(name: &str) -> Refusal {
    let all: Vec<_> = Action::ALL.iter().map(|action| action.as_str()).collect();
    Refusal::bad(format!("unknown action {name:?}; there are {}", all.join(", ")))
}
