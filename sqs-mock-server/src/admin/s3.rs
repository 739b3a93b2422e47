//! Requests to the S3 beside SQS, over HTTP.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use super::answer::{Answered, Refusal, json};
use super::ask::Ask;
use super::page::{LIMIT, Page, SKIP};
use crate::s3::{Content, S3Action, S3Request};

#[derive(Serialize)]
struct Request<'r> {
    number: u64,
    operation: Option<&'r str>,
    bucket: Option<&'r str>,
    key: Option<&'r str>,
    status: Option<u16>,
}

/// `GET /_mock/s3/requests`. A page is counted from the latest request back, and shows its oldest first.
pub(super) fn list(ask: &Ask<'_>) -> Answered {
    let parameters = ask.parameters(&["operation", "bucket", "status", SKIP, LIMIT])?;
    let page = Page::read(&parameters)?;
    let operation = parameters.get("operation").map(operation).transpose()?.map(S3Action::name);
    let status = parameters.get("status").map(status).transpose()?;
    let bucket = parameters.get("bucket");
    let mut all = beside(ask)?.requests();
    all.retain(|request| {
        operation.is_none_or(|operation| request.operation == operation)
            && bucket.is_none_or(|bucket| request.bucket.as_deref() == Some(bucket))
            && status.is_none_or(|status| request.status == status)
    });
    json(&page.of_latest(&all, show))
}

/// `DELETE /_mock/s3/requests`.
pub(super) fn clear(ask: &Ask<'_>) -> Answered {
    ask.parameters(&[])?;
    json(&json!({ "forgotten": beside(ask)?.forget() }))
}

fn beside(ask: &Ask<'_>) -> Result<Arc<Content>, Refusal> {
    let absent = || Refusal::not_found("there is no S3 beside this server: --with-s3 DIR starts one");
    ask.services.s3().ok_or_else(absent)
}

fn show(request: &S3Request) -> Request<'_> {
    Request {
        number: request.number,
        operation: Some(request.operation.as_str()).filter(|operation| !operation.is_empty()),
        bucket: request.bucket.as_deref(),
        key: request.key.as_deref(),
        status: request.status,
    }
}

fn operation(name: &str) -> Result<S3Action, Refusal> {
    S3Action::from_name(name).ok_or_else(|| {
        let all: Vec<_> = S3Action::ALL.iter().map(|action| action.name()).collect();
        Refusal::bad(format!("unknown operation {name:?}; there are {}", all.join(", ")))
    })
}

/// A status, or `none` for requests that got no answer.
fn status(text: &str) -> Result<Option<u16>, Refusal> {
    if text == "none" {
        return Ok(None);
    }
    let status = text.parse().ok().filter(|status| (100..=999).contains(status));
    let wrong = || Refusal::bad(format!("status must be a number from 100 to 999, or none, not {text:?}"));
    status.map(Some).ok_or_else(wrong)
}
